package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

// C88: with tiny retention, the first offset never goes back and can always be
// read; after all has expired the log is empty.
func TestC88(t *testing.T) {
	t.Parallel()
	c := harness.Start(t, "log.retention.check.interval.ms=100").Dial()
	c.CreateTopic("q", 1, "retention.ms", "300", "segment.ms", "100", "file.delete.delay.ms", "0")
	for i := range 300 {
		if p := c.Produce(9, "q", 0, plain(fmt.Sprint(i))); p.ErrorCode != 0 {
			t.Fatal(p.ErrorCode)
		}
	}
	start := int64(0)
	harness.Eventually(t, "everything expires", func() bool {
		first, end := c.ListOffset("q", -2).Offset, c.ListOffset("q", -1).Offset
		if first < start || end != 300 {
			t.Fatalf("offsets %d to %d, the first was %d", first, end, start)
		}
		start = first
		if p := c.Fetch(11, "q", 0, first); p.ErrorCode != 0 && c.ListOffset("q", -2).Offset == first {
			t.Fatalf("the first offset %d cannot be read: error %d", first, p.ErrorCode)
		}
		return first == end
	})
	if p := c.Fetch(11, "q", 0, 0); p.ErrorCode != 1 {
		t.Errorf("an expired offset: error %d", p.ErrorCode)
	}
	if p := c.Produce(9, "q", 0, plain("on")); p.BaseOffset != 300 {
		t.Errorf("%+v", p)
	}
}

// C90: records too far from now are refused, whole batches, with the record named.
func TestC90(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("ts", 1, "message.timestamp.after.max.ms", "60000", "message.timestamp.before.max.ms", "3600000")
	c.CreateTopic("lts", 1, "message.timestamp.after.max.ms", "60000", "message.timestamp.before.max.ms", "3600000", "message.timestamp.type", "LogAppendTime")
	now := time.Now().UnixMilli()
	two := func(first, second int64) []byte {
		b := record.NewBuilder(record.BuilderOptions{})
		b.Append(first, nil, []byte("a"))
		b.Append(second, nil, []byte("b"))
		return b.Build()
	}
	const hour = 3600 * 1000
	ahead := c.Produce(9, "ts", 0, two(now, now+hour))
	if ahead.ErrorCode != 32 || len(ahead.ErrorRecords) != 1 || ahead.ErrorRecords[0].RelativeOffset != 1 {
		t.Errorf("an hour ahead: %+v", ahead)
	}
	if p := c.Produce(9, "ts", 0, two(now-2*hour, now-2*hour)); p.ErrorCode != 32 {
		t.Errorf("two hours ago: error %d", p.ErrorCode)
	}
	if p := c.Produce(9, "ts", 0, two(now, now)); p.ErrorCode != 0 {
		t.Errorf("now: error %d", p.ErrorCode)
	}
	if p := c.Produce(9, "lts", 0, two(now, now+hour)); p.ErrorCode != 0 {
		t.Errorf("LogAppendTime: error %d", p.ErrorCode)
	}
}

// C91: a kill with zeros or half a batch at the end of the log, and damaged
// indexes.
func TestC91(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]func(b []byte) []byte{
		"zeros":        func([]byte) []byte { return make([]byte, 4096) },
		"half a batch": func(b []byte) []byte { return b[:len(b)/2] },
		"garbage":      func(b []byte) []byte { return []byte(strings.Repeat("garbage", 100)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := harness.Start(t)
			c := b.Dial()
			c.CreateTopic("k", 1, "segment.bytes", "20000", "index.interval.bytes", "100")
			const n = 400
			for i := range n {
				if p := c.Produce(9, "k", 0, harness.Batch(record.BuilderOptions{}, 1000+int64(i), fmt.Sprintf("%0100d", i))); p.ErrorCode != 0 {
					t.Fatal(p.ErrorCode)
				}
			}
			b.Kill()
			segments, err := filepath.Glob(filepath.Join(b.Dir, "k-0", "*.log"))
			if err != nil || len(segments) < 3 {
				t.Fatalf("segments %v, %v", segments, err)
			}
			slices.Sort(segments)
			f, err := os.OpenFile(segments[len(segments)-1], os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(tail(plain("never acknowledged"))); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			indexes, _ := filepath.Glob(filepath.Join(b.Dir, "k-0", "*index"))
			for _, index := range indexes {
				if err := os.Truncate(index, 5); err != nil {
					t.Fatal(err)
				}
			}
			b.Restart()
			c = b.Dial()
			if end := c.ListOffset("k", -1).Offset; end != n {
				t.Fatalf("the log ends at %d, want %d", end, n)
			}
			for i := int64(0); i < n; i += 7 {
				batch, _, err := record.Next(c.Fetch(11, "k", 0, i).RecordBatches)
				if err != nil || batch.BaseOffset() != i || !batch.ChecksumOK() {
					t.Fatalf("offset %d: %v", i, err)
				}
				if p := c.ListOffset("k", 1000+i); p.Offset != i {
					t.Fatalf("time %d: offset %d", 1000+i, p.Offset)
				}
			}
			if p := c.Produce(9, "k", 0, plain("next")); p.BaseOffset != n {
				t.Errorf("%+v", p)
			}
		})
	}
}

// C43 (with raw requests): the first Metadata that creates a topic may say that
// there is no leader yet, the next ones give one, and a produce works.
func TestC43(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	for i := range 5 {
		name := fmt.Sprint("auto-", i)
		ask := func() kmsg.MetadataResponseTopic {
			req := kmsg.NewPtrMetadataRequest()
			topic := kmsg.NewMetadataRequestTopic()
			topic.Topic = &name
			req.Topics, req.AllowAutoTopicCreation = append(req.Topics, topic), true
			return harness.Do[*kmsg.MetadataResponse](c, req, 9).Topics[0]
		}
		if m := ask(); m.ErrorCode != 0 && m.ErrorCode != 3 && m.ErrorCode != 5 {
			t.Errorf("%+v", m)
		}
		harness.Eventually(t, "the topic has a leader", func() bool {
			m := ask()
			return m.ErrorCode == 0 && len(m.Partitions) == 1 && m.Partitions[0].Leader == 1
		})
		if p := c.Produce(9, name, 0, plain("a")); p.ErrorCode != 0 || p.BaseOffset != 0 {
			t.Errorf("%+v", p)
		}
	}
}
