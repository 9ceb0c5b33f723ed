package cases

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

func plain(values ...string) []byte {
	return harness.Batch(record.BuilderOptions{}, time.Now().UnixMilli(), values...)
}

// C09: aborted transactions are null for read_uncommitted.
func TestC09(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("a1", 1)
	c.Produce(9, "a1", 0, plain("a", "b", "c"))
	for _, v := range []int16{4, 11, 12} {
		for isolation := range int8(2) {
			req := harness.FetchRequest("a1", 0, 0)
			req.IsolationLevel = isolation
			p := harness.Do[*kmsg.FetchResponse](c, req, v).Topics[0].Partitions[0]
			if (p.AbortedTransactions == nil) != (isolation == 0) || len(p.AbortedTransactions) != 0 || len(p.RecordBatches) == 0 {
				t.Errorf("version %d, isolation %d: aborted %v, %d bytes", v, isolation, p.AbortedTransactions, len(p.RecordBatches))
			}
		}
	}
}

// C14: a topic with LogAppendTime answers the time it gave.
func TestC14(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("lat", 1, "message.timestamp.type", "LogAppendTime")
	c.CreateTopic("ct", 1)
	before := time.Now().UnixMilli()
	p := c.Produce(9, "lat", 0, harness.Batch(record.BuilderOptions{}, 1000, "a"))
	if p.LogAppendTime < before || p.LogAppendTime > time.Now().UnixMilli() {
		t.Errorf("log append time %d", p.LogAppendTime)
	}
	b, _, err := record.Next(c.Fetch(11, "lat", 0, 0).RecordBatches)
	if err != nil || b.TimestampType() != record.LogAppendTime || b.MaxTimestamp() != p.LogAppendTime || !b.ChecksumOK() {
		t.Errorf("stored: %v, max timestamp %d, %v", b.TimestampType(), b.MaxTimestamp(), err)
	}
	if p := c.Produce(9, "ct", 0, plain("a")); p.LogAppendTime != -1 {
		t.Errorf("log append time of a CreateTime topic: %d", p.LogAppendTime)
	}
}

// broken is a good batch with a change that its checksum does not know.
func broken(change func(b []byte)) []byte {
	b := plain("one", "two")
	change(b)
	return b
}

// C15: malformed batches that Kafka refuses.
func TestC15(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("v1", 1)
	for _, x := range []struct {
		name string
		data []byte
		code int16
	}{
		{"a payload byte flipped", broken(func(b []byte) { b[len(b)-2] ^= 1 }), 2},
		{"base offset 5", broken(func(b []byte) { b[7] = 5 }), 87},
		{"two batches", append(plain("a"), plain("b")...), 87},
		{"last offset delta 3", recrc(func(b []byte) { b[26] = 3 }), 87},
		{"record count 0", recrc(func(b []byte) { b[60] = 0 }), 87},
		{"magic 1", broken(func(b []byte) { b[16] = 1 }), 87},
		{"nothing", []byte{}, 87},
	} {
		p := c.Produce(9, "v1", 0, x.data)
		if p.ErrorCode != x.code || p.BaseOffset != -1 {
			t.Errorf("%s: error %d, base offset %d; want error %d", x.name, p.ErrorCode, p.BaseOffset, x.code)
		}
	}
	if end := c.ListOffset("v1", -1).Offset; end != 0 {
		t.Errorf("the log ends at %d", end)
	}
	if p := c.Produce(9, "v1", 0, plain("one", "two")); p.ErrorCode != 0 || p.BaseOffset != 0 {
		t.Errorf("the good one: %+v", p)
	}
}

// C17: zstd for clients that cannot know it.
func TestC17(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("z", 1)
	zstd := func() []byte {
		return harness.Batch(record.BuilderOptions{Codec: record.Zstd, DefaultLevel: true}, 1000, strings.Repeat("a", 1000))
	}
	if p := c.Produce(6, "z", 0, zstd()); p.ErrorCode != 76 {
		t.Errorf("Produce 6: error %d", p.ErrorCode)
	}
	if end := c.ListOffset("z", -1).Offset; end != 0 {
		t.Errorf("the log ends at %d", end)
	}
	if p := c.Produce(7, "z", 0, zstd()); p.ErrorCode != 0 {
		t.Errorf("Produce 7: error %d", p.ErrorCode)
	}
	if p := c.Fetch(10, "z", 0, 0); p.ErrorCode != 0 || len(p.RecordBatches) == 0 {
		t.Errorf("Fetch 10: error %d", p.ErrorCode)
	}
	// Kafka looks at the topic's compression.type, not into the batches.
	c.CreateTopic("zt", 1, "compression.type", "zstd")
	c.Produce(9, "zt", 0, plain("a"))
	if p := c.Fetch(9, "zt", 0, 0); p.ErrorCode != 76 || p.HighWatermark != -1 || len(p.RecordBatches) != 0 {
		t.Errorf("Fetch 9: %+v", p)
	}
}

// C18: max.message.bytes bounds the batch as it was sent.
func TestC18(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("sz", 1, "max.message.bytes", "2000")
	gzip := record.BuilderOptions{Codec: record.Gzip, DefaultLevel: true}
	for i, x := range []struct {
		data []byte
		code int16
	}{
		{plain(strings.Repeat("x", 5000)), 10},
		{harness.Batch(gzip, 1000, strings.Repeat("0", 5000)), 0},
		{plain(strings.Repeat("x", 900), strings.Repeat("y", 900), strings.Repeat("z", 900)), 10},
	} {
		if p := c.Produce(9, "sz", 0, x.data); p.ErrorCode != x.code {
			t.Errorf("batch %d: error %d, want %d", i, p.ErrorCode, x.code)
		}
	}
	if end := c.ListOffset("sz", -1).Offset; end != 1 {
		t.Errorf("the log ends at %d", end)
	}
}

// C20: min.insync.replicas counts no more than there are replicas; other acks than
// -1, 0 and 1 are refused.
func TestC20(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("mi", 1, "min.insync.replicas", "2")
	if p := c.Produce(9, "mi", 0, plain("a")); p.ErrorCode != 0 || p.BaseOffset != 0 {
		t.Errorf("acks=all: %+v", p)
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks = 2
	topic, part := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	topic.Topic, part.Records = "mi", plain("b")
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	if p := harness.Do[*kmsg.ProduceResponse](c, req, 9).Topics[0].Partitions[0]; p.ErrorCode != 21 {
		t.Errorf("acks=2: error %d", p.ErrorCode)
	}
	if end := c.ListOffset("mi", -1).Offset; end != 1 {
		t.Errorf("the log ends at %d", end)
	}
}

func sequenced(id int64, sequence int32) []byte {
	return harness.Batch(record.BuilderOptions{Producer: &record.Producer{ID: id, BaseSequence: sequence}}, 1000, "v")
}

// C21: a retry of one of the last five batches is answered like the first time.
func TestC21(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("idem", 1)
	id := producerID(c)
	for i := range int32(6) {
		if p := c.Produce(9, "idem", 0, sequenced(id, i)); p.ErrorCode != 0 || p.BaseOffset != int64(i) {
			t.Fatalf("sequence %d: %+v", i, p)
		}
	}
	check := func(when string, c *harness.Conn) {
		t.Helper()
		for _, x := range []struct {
			sequence int32
			code     int16
			offset   int64
		}{{3, 0, 3}, {1, 0, 1}, {0, 45, -1}, {9, 45, -1}} {
			if p := c.Produce(9, "idem", 0, sequenced(id, x.sequence)); p.ErrorCode != x.code || p.BaseOffset != x.offset {
				t.Errorf("%s, sequence %d again: error %d, offset %d; want %d, %d", when, x.sequence, p.ErrorCode, p.BaseOffset, x.code, x.offset)
			}
		}
		if end := c.ListOffset("idem", -1).Offset; end != 6 {
			t.Errorf("%s: the log ends at %d", when, end)
		}
	}
	check("at once", c)
	b.Stop()
	b.Restart()
	check("after a restart", b.Dial())
	b.Kill()
	b.Restart()
	check("after a kill", b.Dial())
}

// C23: deleting a producer's records does not make the broker forget it.
func TestC23(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("dr", 1)
	id := producerID(c)
	for i := range int32(5) {
		c.Produce(9, "dr", 0, sequenced(id, i))
	}
	deleteRecords(t, c, "dr", -1)
	if p := c.Produce(9, "dr", 0, sequenced(id, 5)); p.ErrorCode != 0 || p.BaseOffset != 5 {
		t.Errorf("sequence 5: %+v", p)
	}
	b.Stop()
	b.Restart()
	if p := b.Dial().Produce(9, "dr", 0, sequenced(id, 6)); p.ErrorCode != 0 || p.BaseOffset != 6 {
		t.Errorf("sequence 6: %+v", p)
	}
}

func deleteRecords(t *testing.T, c *harness.Conn, topic string, offset int64) kmsg.DeleteRecordsResponseTopicPartition {
	t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 5000
	rt, p := kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	rt.Topic, p.Offset = topic, offset
	rt.Partitions = append(rt.Partitions, p)
	req.Topics = append(req.Topics, rt)
	return harness.Do[*kmsg.DeleteRecordsResponse](c, req, 2).Topics[0].Partitions[0]
}
