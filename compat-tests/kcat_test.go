package compat

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/compat-tests/harness"
)

func kcat(t *testing.T, b *harness.Broker, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("kcat", append([]string{"-b", b.Addr}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("kcat %v: %v\n%s", args, err, errs.String())
	}
	return out.Bytes()
}

func needKcat(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed")
	}
}

// lines are n lines of about size bytes each.
func lines(n, size int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, uint64(size)))
	for i := range n {
		line := fmt.Sprintf("%08d ", i)
		for len(line) < size {
			line += fmt.Sprintf("%016x", r.Uint64())
		}
		b.WriteString(line[:size])
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func consumeAll(t *testing.T, b *harness.Broker, topic string) []byte {
	t.Helper()
	return kcat(t, b, nil, "-C", "-t", topic, "-o", "beginning", "-e", "-q")
}

// TestKcat is the smoke test: what goes in comes out byte-equal, by every codec,
// after a restart, and after a kill.
func TestKcat(t *testing.T) {
	t.Parallel()
	needKcat(t)
	b := harness.Start(t)
	want := map[string][]byte{}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		topic := "codec-" + codec
		want[topic] = lines(500, 300)
		kcat(t, b, want[topic], "-P", "-t", topic, "-z", codec)
	}
	want["many"] = lines(10000, 1000)
	kcat(t, b, want["many"], "-P", "-t", "many")
	big := filepath.Join(t.TempDir(), "big")
	want["big"] = append(lines(1, 900<<10), []byte(nil)...)
	if err := os.WriteFile(big, bytes.TrimSuffix(want["big"], []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	kcat(t, b, nil, "-P", "-t", "big", big)
	check := func(when string) {
		t.Helper()
		for topic, data := range want {
			if got := consumeAll(t, b, topic); sha256.Sum256(got) != sha256.Sum256(data) {
				t.Errorf("%s: %s gives %d bytes, %d were produced, or they differ", when, topic, len(got), len(data))
			}
		}
	}
	check("at once")
	b.Stop()
	b.Restart()
	check("after a restart")
	b.Kill()
	b.Restart()
	check("after a kill")
}

func TestKcatKeysHeadersTombstones(t *testing.T) {
	t.Parallel()
	needKcat(t)
	b := harness.Start(t)
	kcat(t, b, []byte("k1:v1\nk2:\nk3:v3\n"), "-P", "-t", "kv", "-K:", "-Z", "-H", "a=b", "-H", "c=d")
	got := string(kcat(t, b, nil, "-C", "-t", "kv", "-o", "beginning", "-e", "-q", "-f", "%p %o %k %s %S %h\n"))
	if want := "0 0 k1 v1 2 a=b,c=d\n0 1 k2  -1 a=b,c=d\n0 2 k3 v3 2 a=b,c=d\n"; got != want {
		t.Errorf("consumed %q, want %q", got, want)
	}
	if got := string(kcat(t, b, nil, "-Q", "-t", "kv:0:-1")); !strings.Contains(got, "offset 3") {
		t.Errorf("-Q says %q", got)
	}
	listing := string(kcat(t, b, nil, "-L"))
	for _, want := range []string{"broker 1 at " + b.Addr, `topic "kv" with 1 partitions`, "leader 1, replicas: 1, isrs: 1"} {
		if !strings.Contains(listing, want) {
			t.Errorf("-L does not say %q:\n%s", want, listing)
		}
	}
}

// TestAKillInTheMiddleOfWriting kills the broker while kcat produces: what was
// acknowledged is there, once, in order.
func TestAKillInTheMiddleOfWriting(t *testing.T) {
	t.Parallel()
	needKcat(t)
	b := harness.Start(t)
	data := lines(200000, 100)
	c := b.Dial()
	c.CreateTopic("cut", 1)
	cmd := exec.Command("kcat", "-b", b.Addr, "-P", "-t", "cut", "-X", "max.in.flight=1", "-X", "batch.num.messages=100")
	cmd.Stdin = bytes.NewReader(data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "something is written", func() bool { return c.ListOffset("cut", -1).Offset > 1000 })
	acknowledged := c.ListOffset("cut", -1).Offset
	b.Kill()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	b.Restart()
	got := bytes.Split(bytes.TrimSuffix(consumeAll(t, b, "cut"), []byte("\n")), []byte("\n"))
	if int64(len(got)) < acknowledged {
		t.Fatalf("%d records are there, %d were visible before the kill", len(got), acknowledged)
	}
	for i, line := range bytes.Split(data, []byte("\n"))[:len(got)] {
		if !bytes.Equal(line, got[i]) {
			t.Fatalf("record %d is %q, want %q", i, got[i], line)
		}
	}
	kcat(t, b, []byte("on it goes\n"), "-P", "-t", "cut")
	if end := b.Dial().ListOffset("cut", -1).Offset; end != int64(len(got))+1 {
		t.Errorf("the log ends at %d, want %d", end, len(got)+1)
	}
}
