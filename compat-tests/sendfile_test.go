package compat

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

// fill produces n batches of 64 KB to a topic of one partition.
func fill(t *testing.T, c *harness.Conn, topic string, n int) {
	t.Helper()
	c.CreateTopic(topic, 1)
	values := make([]string, 64)
	for i := range values {
		values[i] = strings.Repeat(fmt.Sprint(i%10), 1000)
	}
	for range n {
		if p := c.Produce(9, topic, 0, harness.Batch(record.BuilderOptions{}, 1000, values...)); p.ErrorCode != 0 {
			t.Fatal(p.ErrorCode)
		}
	}
}

// drain fetches a topic from its start and gives the bytes of records.
func drain(t *testing.T, c *harness.Conn, topic string) (total int64) {
	t.Helper()
	end := c.ListOffset(topic, -1).Offset
	for offset := int64(0); offset < end; {
		req := harness.FetchRequest(topic, offset, 0)
		req.Topics[0].Partitions[0].PartitionMaxBytes = 1 << 20
		p := harness.Do[*kmsg.FetchResponse](c, req, 11).Topics[0].Partitions[0]
		total += int64(len(p.RecordBatches))
		next := offset
		for rest := p.RecordBatches; len(rest) > 0; {
			b, r, err := record.Next(rest)
			if err != nil {
				break
			}
			next, rest = b.LastOffset()+1, r
		}
		if next == offset {
			t.Fatalf("stuck at offset %d: error %d", offset, p.ErrorCode)
		}
		offset = next
	}
	return total
}

// TestCatchUpLeavesBySendfile traces the broker while a consumer reads old data:
// the records leave by sendfile.
func TestCatchUpLeavesBySendfile(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	b := harness.Start(t)
	c := b.Dial()
	fill(t, c, "old", 300)
	trace := filepath.Join(t.TempDir(), "trace")
	strace := exec.Command("strace", "-f", "-q", "-o", trace, "-e", "trace=sendfile,sendmsg,sendto,write", "-p", fmt.Sprint(b.Pid()))
	var errs bytes.Buffer
	strace.Stderr = &errs
	if err := strace.Start(); err != nil {
		t.Fatal(err)
	}
	probe := func() bool { // traced once a request of ours shows
		c.ListOffset("old", -1)
		data, _ := os.ReadFile(trace)
		return len(data) > 0
	}
	for deadline := time.Now().Add(5 * time.Second); !probe(); {
		if time.Now().After(deadline) {
			_ = strace.Process.Kill()
			_ = strace.Wait()
			t.Skipf("strace cannot trace the broker here: %s", errs.String())
		}
	}
	total := drain(t, c, "old")
	_ = strace.Process.Signal(os.Interrupt)
	_ = strace.Wait() // it ends by the signal
	sent, copied := traced(t, trace)
	t.Logf("%d bytes of records: %d by sendfile, %d by other calls", total, sent, copied)
	if float64(sent) < 0.99*float64(total) {
		t.Errorf("%d of %d bytes left by sendfile", sent, total)
	}
}

var result = regexp.MustCompile(`= (\d+)$`)

// traced sums the bytes of sendfile and of other calls.
func traced(t *testing.T, file string) (sent, copied int64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		m := result.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		if strings.Contains(s.Text(), "sendfile") {
			sent += n
		} else {
			copied += n
		}
	}
	return sent, copied
}

// TestAConsumerThatNeverReadsDelaysNobody has one consumer ask for everything and
// read nothing, and another, and a producer, go on.
func TestAConsumerThatNeverReadsDelaysNobody(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	fill(t, c, "old", 300)
	stuck := b.Dial()
	req := harness.FetchRequest("old", 0, 0)
	req.SetVersion(11)
	for id := range int32(3) {
		if _, err := stuck.NC.Write(harness.Frame(req, id)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan int64, 1)
	go func() { done <- drain(t, c, "old") }()
	select {
	case total := <-done:
		if total < 300*64000 {
			t.Errorf("%d bytes were read", total)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the other consumer is held up")
	}
	if p := b.Dial().Produce(9, "old", 0, harness.Batch(record.BuilderOptions{}, 1000, "a")); p.ErrorCode != 0 {
		t.Errorf("a produce beside it: error %d", p.ErrorCode)
	}
}
