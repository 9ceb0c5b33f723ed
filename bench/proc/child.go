package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is a running process that serves on Address.
type Child struct {
	Address string
	Started time.Time // just before exec

	cmd   *exec.Cmd
	said  *tail
	ended chan struct{}
}

// Role starts this very program again to serve as a floor, with args after the
// word role, and waits until it says where it listens.
func Role(ctx context.Context, args ...string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c, err := start(exec.Command(self, append([]string{"role"}, args...)...), in)
	in.Close()
	if err != nil {
		return nil, err
	}
	_ = out.SetReadDeadline(time.Now().Add(30 * time.Second))
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		c.Kill()
		return nil, fmt.Errorf("role %s said %q, not where it listens: %w\n%s", args[0], line, err, c.Said())
	}
	c.Address = address
	return c, ctx.Err()
}

// Broker says how to start one.
type Broker struct {
	Binary    string
	Dir       string   // its log directory is Dir/data
	Overrides []string // beside those that its isolation needs
}

// Start runs the broker on free ports of 127.0.0.1. It does not wait.
func (b Broker) Start() (*Child, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{
		"serve", "--log-level", "warn",
		"--override", "listeners=PLAINTEXT://" + address,
		"--override", "log.dirs=" + filepath.Join(b.Dir, "data"),
		"--override", "barnabas.metrics.listener=" + metrics,
	}
	for _, o := range b.Overrides {
		args = append(args, "--override", o)
	}
	c, err := start(exec.Command(b.Binary, args...), nil)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w (build it, or say where it is with -barnabas)", b.Binary, err)
	}
	c.Address = address
	return c, nil
}

// freeAddress is an address nobody listens on, as far as can be known.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func start(cmd *exec.Cmd, stdout *os.File) (*Child, error) {
	c := &Child{cmd: cmd, said: &tail{}, ended: make(chan struct{})}
	cmd.Stderr = c.said
	if stdout != nil {
		cmd.Stdout = stdout
	} else {
		cmd.Stdout = c.said
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	c.Started = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// Until calls try every millisecond until it succeeds, and gives the time since
// exec. It fails when the process ends or ctx does.
func (c *Child) Until(ctx context.Context, try func() error) (time.Duration, error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return time.Since(c.Started), nil
		}
		select {
		case <-c.ended:
			return 0, fmt.Errorf("%s ended: %v\n%s", filepath.Base(c.cmd.Path), c.cmd.ProcessState, c.Said())
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// Stop asks the process to end and gives the time until it did.
func (c *Child) Stop(patience time.Duration) (time.Duration, error) {
	start := time.Now()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.Kill()
		return 0, fmt.Errorf("it did not stop within %v of SIGTERM", patience)
	}
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		return 0, fmt.Errorf("exit code %d after SIGTERM\n%s", code, c.Said())
	}
	return time.Since(start), nil
}

// Kill ends the process and waits for it.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// Said is the end of what the process printed.
func (c *Child) Said() string { return c.said.String() }

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 16 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if extra := t.buf.Len() - most; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
