package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kfake"
)

// result is what one command line did.
type result struct {
	out, err string
	code     int
}

// execute runs one command line in this process, as the binary would.
func execute(stdin string, args ...string) result {
	root := &cobra.Command{Use: "barnabas", SilenceUsage: true, SilenceErrors: true}
	addVerbs(root)
	var out, errs bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	code := exitCode(root, root.Execute())
	return result{out.String(), errs.String(), code}
}

// shell runs command lines against one cluster.
type shell struct {
	t         *testing.T
	bootstrap string
}

// ok runs a command line that must succeed and gives its output.
func (s shell) ok(stdin string, args ...string) string {
	s.t.Helper()
	r := s.run(stdin, args...)
	if r.code != exitOK {
		s.t.Fatalf("barnabas %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// fails runs a command line that must end with code and say each of words.
func (s shell) fails(code int, args []string, words ...string) {
	s.t.Helper()
	r := s.run("", args...)
	if r.code != code {
		s.t.Fatalf("barnabas %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.err)
	}
	for _, word := range words {
		if !strings.Contains(r.err, word) {
			s.t.Errorf("barnabas %s: standard error %q does not say %q", strings.Join(args, " "), r.err, word)
		}
	}
}

func (s shell) run(stdin string, args ...string) result {
	return execute(stdin, append(args, "--bootstrap", s.bootstrap)...)
}

// fake starts a fake cluster of one broker.
func fake(t *testing.T, options ...kfake.Opt) shell {
	t.Helper()
	options = append([]kfake.Opt{kfake.NumBrokers(1)}, options...)
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return shell{t, cluster.ListenAddrs()[0]}
}

// fromJSON decodes s.
func fromJSON[T any](t *testing.T, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %q", err, s)
	}
	return v
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"topics", nil}, // an alias: help, exit code 0
		{"topic frobnicate", []string{`"frobnicate"`, "describe"}},
		{"frobnicate", []string{"frobnicate"}},
		{"topic create", []string{"TOPIC is missing", "barnabas topic create --help"}},
		{"topic create a --partitions 0", []string{"--partitions 0", "at least 1"}},
		{"topic create a --partitions x", []string{`"x"`}},
		{"topic create a --replication-factor 0", []string{"--replication-factor 0"}},
		{"topic create a -c retention.ms", []string{`"retention.ms"`, "key=value"}},
		{"topic create a --assignment 1:x", []string{`"x" is no broker id`}},
		{"topic create a --assignment 1 -p 2", []string{"leave out --partitions"}},
		{"topic alter a", []string{"nothing to change"}},
		{"topic alter a -p 0", []string{"--partitions 0"}},
		{"topic alter a -c k=v --unset k", []string{`"k" is both`}},
		{"topic list extra", []string{`unexpected argument "extra"`}},
		{"topic list -o yaml", []string{`"yaml"`, "table or json"}},
		{"topic list --timeout 0", []string{"--timeout"}},
		{"topic list --bootstrap host:", []string{`"host:"`, "host:port"}},
		{"config get topic a", []string{"KEY is missing"}},
		{"config list group g", []string{`unknown entity "group"`}},
		{"config list broker one", []string{`broker "one"`}},
		{"config unset topic a k=v", []string{`"k=v"`, "key alone"}},
		{"produce", []string{"TOPIC is missing"}},
		{"produce t -z brotli", []string{`"brotli"`, "zstd"}},
		{"produce t --acks 2", []string{`"2"`}},
		{"produce t -p -2", []string{"--partition -2"}},
		{"produce t -H =v", []string{`"=v"`}},
		{"produce t -l a b", []string{"either -l or FILE"}},
		{"produce t --max-message-bytes 1", []string{"--max-message-bytes 1"}},
		{"consume t -o yesterday", []string{`"yesterday"`, "beginning"}},
		{"consume t -c -1", []string{"--count -1"}},
		{"consume t -f %q", []string{"unknown token %q"}},
		{"consume t -f %", []string{"single %"}},
		{"consume t --json -K :", []string{"leave out"}},
		{"consume t --nonsense", []string{"--nonsense"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			r := execute("", strings.Fields(c.args)...)
			if want := exitUsage; c.words != nil && r.code != want {
				t.Errorf("exit code %d, want %d: %s", r.code, want, r.err)
			}
			for _, word := range c.words {
				if !strings.Contains(r.err, word) {
					t.Errorf("standard error %q does not say %q", r.err, word)
				}
			}
		})
	}
}

func TestEveryVerbHasHelpAndExample(t *testing.T) {
	t.Parallel()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s: no short help", cmd.CommandPath())
		}
		if !cmd.HasSubCommands() && !strings.Contains(cmd.Example, "barnabas "+strings.TrimPrefix(cmd.CommandPath(), "barnabas ")) {
			t.Errorf("%s: no example of its own", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	for _, verb := range verbs() {
		walk(verb)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := shell{t, "127.0.0.1:1"}
	for _, args := range []string{"topic list", "health", "consume t", "config list broker 1"} {
		s.fails(exitFailed, strings.Fields(args), "127.0.0.1:1", "connection refused", "--bootstrap")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := execute("", "version", "-o", "json")
	b := fromJSON[build](t, r.out)
	if r.code != exitOK || b.Version == "" || !strings.HasPrefix(b.Go, "go1.") || !strings.Contains(b.Platform, "/") {
		t.Errorf("version: %+v", b)
	}
	if r := execute("", "version"); !strings.HasPrefix(r.out, "barnabas "+b.Version+"\n") {
		t.Errorf("version prints %q", r.out)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.ClusterID("a-cluster"))
	report := fromJSON[healthReport](t, s.ok("", "health", "-o", "json"))
	if !report.Healthy || report.ClusterID != "a-cluster" || report.Brokers != 1 || report.APIs == 0 || report.Address != s.bootstrap {
		t.Errorf("health: %+v", report)
	}
	if out := s.ok("", "health"); !strings.HasPrefix(out, "healthy: "+s.bootstrap) {
		t.Errorf("health prints %q", out)
	}
}

func TestBootstrapFromEnvironment(t *testing.T) {
	s := fake(t)
	t.Setenv(bootstrapEnv, s.bootstrap)
	if r := execute("", "topic", "list"); r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	t.Setenv(bootstrapEnv, "nonsense:")
	if r := execute("", "topic", "list"); r.code != exitUsage || !strings.Contains(r.err, bootstrapEnv) {
		t.Errorf("exit code %d: %q does not name %s", r.code, r.err, bootstrapEnv)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "orders", "payments"))
	r := s.run("", "__complete", "topic", "describe", "or")
	if !strings.HasPrefix(r.out, "orders\n") || strings.Contains(r.out, "payments") {
		// cobra takes what stands last as the word to complete.
		r = execute("", "__complete", "topic", "describe", "--bootstrap", s.bootstrap, "or")
	}
	if !strings.HasPrefix(r.out, "orders\n") || strings.Contains(r.out, "payments") {
		t.Errorf("completions: %q", r.out)
	}
}

func TestErrorsOfSeveralThingsAreAllSaid(t *testing.T) {
	t.Parallel()
	var f failures
	if f.err() != nil {
		t.Error("no failure is an error")
	}
	f.add(fmt.Errorf("one"))
	f.add(fmt.Errorf("two"))
	if got := f.err().Error(); got != "one\ntwo" {
		t.Errorf("%q", got)
	}
}
