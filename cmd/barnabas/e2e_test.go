package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asBinary makes this test binary behave as barnabas itself, so that the tests
// below start real processes without building anything.
const asBinary = "BARNABAS_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command is barnabas with args, as a process of its own.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asBinary+"=1")
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// process is a broker that a test started.
type process struct {
	cmd   *exec.Cmd
	logs  *bytes.Buffer // to be read once ended is closed
	ended chan struct{}
	shell
}

// startBroker runs a broker on a free port over dir and waits until it answers.
func startBroker(t *testing.T, dir string) *process {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p := &process{logs: &bytes.Buffer{}, ended: make(chan struct{}), shell: shell{t, address}}
	p.cmd = command(context.Background(), "serve",
		"--override", "listeners=PLAINTEXT://"+address,
		"--override", "log.dirs="+filepath.Join(dir, "data"),
		"--override", "barnabas.metrics.listener=")
	p.cmd.Stdout, p.cmd.Stderr = p.logs, p.logs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the broker said:\n%s", p.logs)
		}
	})
	deadline := time.After(20 * time.Second)
	for {
		if p.run("", "health", "--timeout", "1s").code == exitOK {
			return p
		}
		select {
		case <-p.ended:
			t.Fatalf("the broker ended: %v\n%s", p.cmd.ProcessState, p.logs)
		case <-deadline:
			t.Fatal("the broker is not ready after 20 s")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the broker as an operator does and waits for it.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.ended:
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			p.t.Fatalf("exit code %d after SIGTERM", code)
		}
	case <-time.After(20 * time.Second):
		p.t.Fatal("the broker does not stop")
	}
}

// kill ends the broker without a chance to tidy up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func TestVerbsAgainstTheBroker(t *testing.T) {
	t.Parallel()
	b := startBroker(t, t.TempDir())
	b.ok("", "topic", "create", "orders", "-p", "2", "-c", "retention.ms=3600000")
	b.fails(exitFailed, []string{"topic", "create", "orders"}, "TOPIC_ALREADY_EXISTS")
	b.ok("k1=v1\nk2=v2\nk3=\n", "produce", "orders", "-p", "1", "-K", "=", "-Z", "-H", "a=b")
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		b.ok(codec+"\n", "produce", "orders", "-p", "1", "-z", codec, "--acks", "1")
	}
	want := "0:k1=v1\n1:k2=v2\n2:k3=NULL\n3:NULL=gzip\n4:NULL=snappy\n5:NULL=lz4\n6:NULL=zstd\n"
	if got := b.ok("", "consume", "orders", "-e", "-Z", "-f", `%o:%k=%s\n`); got != want {
		t.Errorf("consume: %q, want %q", got, want)
	}
	p := fromJSON[[]describedTopic](t, b.ok("", "topic", "describe", "orders", "-o", "json"))[0].Partitions[1]
	if p.LogEndOffset == nil || *p.LogEndOffset != 7 || *p.HighWatermark != 7 || *p.LowWatermark != 0 || len(p.OSR) != 0 || len(p.ISR) != 1 {
		t.Errorf("describe: %+v", p)
	}
	b.ok("", "topic", "alter", "orders", "-p", "3")
	b.ok("", "config", "set", "topic", "orders", "max.message.bytes=2000")
	b.fails(exitFailed, []string{"config", "set", "topic", "orders", "retention.ms=-5"}, "retention.ms")
	if got := b.ok("", "config", "get", "topic", "orders", "max.message.bytes"); got != "2000\n" {
		t.Errorf("config get: %q", got)
	}
	if got := b.ok("", "config", "list", "broker", "1", "--changed"); !strings.Contains(got, "listeners") || !strings.Contains(got, "static") {
		t.Errorf("config list broker: %s", got)
	}
	b.ok("", "topic", "delete", "orders")
	if got := b.ok("", "topic", "list", "-o", "json"); got != "[]\n" {
		t.Errorf("list after delete: %s", got)
	}
}

func TestRecordsOutliveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var in strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&in, "record %d\n", i)
	}
	b := startBroker(t, dir)
	b.ok(in.String(), "produce", "t", "-p", "0")
	b.stop()
	b = startBroker(t, dir)
	if got := b.ok("", "consume", "t", "-e"); got != in.String() {
		t.Errorf("after a restart %d of %d bytes are there", len(got), in.Len())
	}
	b.kill()
	b = startBroker(t, dir)
	if got := b.ok("", "consume", "t", "-e"); got != in.String() {
		t.Errorf("after a kill %d of %d bytes are there", len(got), in.Len())
	}
}

// consumer starts a consumer as a process and reads the first bytes it prints.
func (p *process) consumer(ctx context.Context, topic string, first int) (cmd *exec.Cmd, out io.ReadCloser, read string, errs *bytes.Buffer) {
	p.t.Helper()
	cmd = command(ctx, "consume", topic, "--bootstrap", p.bootstrap)
	errs = &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	b := make([]byte, first)
	if _, err := io.ReadFull(out, b); err != nil {
		p.t.Fatal(err)
	}
	return cmd, out, string(b), errs
}

// A consumer that is interrupted ends well, with all that it read; one whose
// reader goes away ends without a word.
func TestConsumeEnds(t *testing.T) {
	t.Parallel()
	b := startBroker(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	b.ok("one\ntwo\n", "produce", "t", "-p", "0")
	cmd, _, read, errs := b.consumer(ctx, "t", 8)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || errs.Len() > 0 || read != "one\ntwo\n" {
		t.Errorf("interrupted: %v %q, read %q", err, errs.String(), read)
	}

	b.ok(strings.Repeat(strings.Repeat("x", 999)+"\n", 2000), "produce", "long", "-p", "0")
	cmd, out, _, errs := b.consumer(ctx, "long", 8)
	out.Close()
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGPIPE || errs.Len() > 0 {
		t.Errorf("reader gone: %v %q", err, errs.String())
	}
}
