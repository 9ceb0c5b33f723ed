package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// built makes the binary once a process, into a folder that is left to the system's
// temporary directory.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("BARNABAS"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "barnabas-compat")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "barnabas")
	build := exec.Command("go", "build", "-o", path, "barnabas/cmd/barnabas")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// Binary is the path of the binary under test: that of BARNABAS in the
// environment, or one built from the tree.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Broker is a broker process.
type Broker struct {
	// Addr is host:port of its first listener, Dir its log directory.
	Addr, Dir string

	t         testing.TB
	overrides []string
	cmd       *exec.Cmd
	log       *syncBuffer
	exited    chan error
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// FreePort is a port that nobody listens on at the moment.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// Start starts a broker on a free port with a directory of its own; overrides
// are key=value. It is stopped, and its log shown if the test failed, when the
// test ends.
func Start(t testing.TB, overrides ...string) *Broker {
	t.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", FreePort(t))
	return StartAt(t, addr, append([]string{"listeners=PLAINTEXT://" + addr}, overrides...)...)
}

// StartAt is Start for a broker whose overrides say where it listens; addr is one
// of the addresses.
func StartAt(t testing.TB, addr string, overrides ...string) *Broker {
	t.Helper()
	b := &Broker{t: t, Dir: t.TempDir(), overrides: overrides, Addr: addr, log: &syncBuffer{}}
	t.Cleanup(func() {
		if b.cmd != nil {
			b.Kill()
		}
		if t.Failed() {
			t.Logf("log of the broker:\n%s", b.log)
		}
	})
	b.Restart()
	return b
}

// Restart starts the process again on the same data.
func (b *Broker) Restart() {
	b.t.Helper()
	args := []string{"serve", "--override", "log.dirs=" + b.Dir, "--override", "barnabas.metrics.listener="}
	for _, o := range b.overrides {
		args = append(args, "--override", o)
	}
	b.cmd = exec.Command(Binary(b.t), args...)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.exited = make(chan error, 1)
	cmd, exited := b.cmd, b.exited
	go func() { exited <- cmd.Wait() }()
	b.awaitPort()
}

func (b *Broker) awaitPort() {
	b.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-b.exited:
			b.cmd = nil
			b.t.Fatalf("the broker ended: %v\n%s", err, b.log)
		default:
		}
		if nc, err := net.Dial("tcp", b.Addr); err == nil {
			_ = nc.Close()
			return
		}
	}
	b.t.Fatalf("nobody listens on %s after 30 s\n%s", b.Addr, b.log)
}

// Stop ends the broker with SIGTERM and wants exit code 0.
func (b *Broker) Stop() {
	b.t.Helper()
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-b.exited:
		b.cmd = nil
		if err != nil {
			b.t.Fatalf("stop: %v\n%s", err, b.log)
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("the broker does not stop\n%s", b.log)
	}
}

// Kill ends the broker with SIGKILL.
func (b *Broker) Kill() {
	_ = b.cmd.Process.Kill()
	<-b.exited
	b.cmd = nil
}

// Pid is the process's id.
func (b *Broker) Pid() int { return b.cmd.Process.Pid }

// Log is what the broker has logged.
func (b *Broker) Log() string { return b.log.String() }

// RSS is the process's resident memory in bytes.
func (b *Broker) RSS() int64 {
	b.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", b.Pid()))
	if err != nil {
		b.t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		b.t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}
