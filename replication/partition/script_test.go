package partition_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"barnabas/replication/partition"
)

var rewrite = flag.Bool("rewrite", false, "write the output of the scripts into testdata")

// TestScripts runs testdata/*.txt: a line that begins with ">" is a command,
// the lines below it are what the machine answers. Commands:
//
//	new self=1 min=1 lag=30                          a fresh machine
//	update leader=1 e=0 pe=0 replicas=1,2 isr=1,2 leo=0 hw=0 now=1
//	append leo=5 now=2                               the local log ends at 5
//	fetch r=2 at=5 be=7 start=0 now=3                a follower asks for offset 5
//	replicated leo=5 hw=3                            a follower's own progress
//	tick now=40 | deadline | stop | min n=2 now=5
//	accept e=0 pe=1 isr=1 now=5 | refuse e=0 now=5
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("output differs; run with -rewrite and read the diff\n%s", got)
			}
		})
	}
}

func runScript(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	var p *partition.Partition
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
			continue
		}
		cmd, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue // old output
		}
		out.WriteString(line + "\n")
		verb, rest, _ := strings.Cut(cmd, " ")
		a := parseArgs(t, rest)
		if verb == "new" {
			p = partition.New(int32(a.num("self")), int(a.num("min")), a.num("lag"))
			continue
		}
		out.WriteString(command(t, p, verb, a))
		fmt.Fprintf(&out, "%s leader=%d e=%d pe=%d hw=%d isr=%v pending=%v under-min=%v\n", p.Role(), p.LeaderID(), p.LeaderEpoch(),
			p.PartitionEpoch(), p.HighWatermark(), p.ISR(), p.Pending(), p.UnderMinISR())
	}
	return out.String()
}

func command(t *testing.T, p *partition.Partition, verb string, a args) string {
	t.Helper()
	switch verb {
	case "update":
		c, err := p.Apply(&partition.Update{
			Leader: int32(a.num("leader")), LeaderEpoch: int32(a.num("e")), PartitionEpoch: int32(a.num("pe")),
			Replicas: a.ids("replicas"), ISR: a.ids("isr"), LEO: a.num("leo"), HW: a.num("hw"), Now: a.num("now"),
		})
		return result(err, "new-role=%v ", c.NewRole)
	case "append":
		adv, err := p.Appended(a.num("leo"), a.num("now"))
		return result(err, "advanced=%v ", adv)
	case "fetch":
		r, err := p.FollowerFetched(partition.Fetched{Replica: int32(a.num("r")), BrokerEpoch: a.num("be"), Offset: a.num("at"), LogStart: a.num("start"), Now: a.num("now")})
		return result(err, "advanced=%v %s", r.Advanced, proposal(r.Proposal))
	case "replicated":
		return fmt.Sprintf("advanced=%v ", p.Replicated(a.num("leo"), a.num("hw")))
	case "tick":
		return proposal(p.Tick(a.num("now")))
	case "deadline":
		at, ok := p.NextDeadline()
		return fmt.Sprintf("at=%d %v ", at, ok)
	case "stop":
		p.Stop()
		return ""
	case "min":
		return fmt.Sprintf("advanced=%v ", p.SetMinISR(int(a.num("n")), a.num("now")))
	case "accept":
		return fmt.Sprintf("advanced=%v ", p.Accepted(int32(a.num("e")), int32(a.num("pe")), a.ids("isr"), a.num("now")))
	case "refuse":
		return fmt.Sprintf("advanced=%v ", p.Refused(int32(a.num("e")), a.num("now")))
	case "low":
		return fmt.Sprintf("low=%d ", p.LowWatermark(a.num("start"), func(int32) bool { return true }))
	}
	t.Fatalf("unknown command %q", verb)
	return ""
}

func result(err error, format string, v ...any) string {
	if err != nil {
		return "error=" + strconv.Quote(err.Error()) + " "
	}
	return fmt.Sprintf(format, v...)
}

func proposal(p *partition.Proposal) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("propose=%v epochs=%v on e=%d pe=%d ", p.ISR, p.BrokerEpochs, p.LeaderEpoch, p.PartitionEpoch)
}

type args struct {
	t *testing.T
	m map[string]string
}

func parseArgs(t *testing.T, s string) args {
	t.Helper()
	a := args{t, map[string]string{}}
	for _, f := range strings.Fields(s) {
		k, v, _ := strings.Cut(f, "=")
		a.m[k] = v
	}
	return a
}

func (a args) num(key string) int64 {
	v, ok := a.m[key]
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		a.t.Fatalf("%s=%q: %v", key, v, err)
	}
	return n
}

func (a args) ids(key string) []int32 {
	var out []int32
	for f := range strings.SplitSeq(a.m[key], ",") {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, int32(n))
		}
	}
	return out
}
