package cases

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

// C24: an incremental fetch with nothing new waits; an append wakes it.
func TestC24(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("idle", 1)
	req := harness.FetchRequest("idle", 0, 0)
	req.SessionEpoch, req.MaxWaitMillis = 0, 500
	first := harness.Do[*kmsg.FetchResponse](c, req, 11)
	if first.SessionID == 0 {
		t.Fatal("no session")
	}
	next := func(epoch int32) *kmsg.FetchResponse {
		r := kmsg.NewPtrFetchRequest()
		r.MinBytes, r.MaxBytes, r.MaxWaitMillis = 1, 50<<20, 500
		r.SessionID, r.SessionEpoch = first.SessionID, epoch
		return harness.Do[*kmsg.FetchResponse](c, r, 11)
	}
	began := time.Now()
	for epoch := int32(1); epoch <= 4; epoch++ {
		if r := next(epoch); r.ErrorCode != 0 || len(r.Topics) != 0 {
			t.Fatalf("nothing new: %+v", r)
		}
	}
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("four fetches that wait 500 ms each took %v", took)
	}
	woken := make(chan *kmsg.FetchResponse, 1)
	go func() { woken <- next(5) }()
	b.Dial().Produce(9, "idle", 0, plain("a"))
	if r := <-woken; len(r.Topics) != 1 || len(r.Topics[0].Partitions[0].RecordBatches) == 0 {
		t.Errorf("after an append: %+v", r)
	}
}

// C25 (its fetches): data is answered at once, nothing is answered after max wait.
func TestC25(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("three", 3)
	c.Produce(9, "three", 1, plain("a"))
	for partition := range int32(3) {
		req := harness.FetchRequest("three", 0, partition)
		req.MaxWaitMillis = 1000
		began := time.Now()
		p := harness.Do[*kmsg.FetchResponse](c, req, 12).Topics[0].Partitions[0]
		took := time.Since(began)
		if has := len(p.RecordBatches) > 0; has != (partition == 1) || has != (took < 900*time.Millisecond) {
			t.Errorf("partition %d: %d bytes after %v", partition, len(p.RecordBatches), took)
		}
	}
}

// C26 (its raw part): the first batch comes whole, however small the limits.
func TestC26(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("big", 2)
	large := strings.Repeat("x", 100<<10)
	c.Produce(9, "big", 0, plain(large))
	c.Produce(9, "big", 0, plain("small"))
	c.Produce(9, "big", 1, plain(large))
	req := harness.FetchRequest("big", 0, 0, 1)
	req.MaxBytes = 1
	for i := range req.Topics[0].Partitions {
		req.Topics[0].Partitions[i].PartitionMaxBytes = 1
	}
	ps := harness.Do[*kmsg.FetchResponse](c, req, 11).Topics[0].Partitions
	if len(ps) != 2 || ps[0].ErrorCode != 0 || ps[1].ErrorCode != 0 || len(ps[1].RecordBatches) != 0 {
		t.Fatalf("%d partitions, %+v", len(ps), ps[1])
	}
	if b, rest, err := record.Next(ps[0].RecordBatches); err != nil || len(rest) != 0 || b.Size() < 100<<10 {
		t.Errorf("first partition: %d bytes, %v", len(ps[0].RecordBatches), err)
	}
}

// C27: a plain fetch answers every partition it asked for, empty ones too.
func TestC27(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("f3", 3)
	c.Produce(9, "f3", 0, plain("a"))
	for _, v := range []int16{4, 11} {
		ps := harness.Do[*kmsg.FetchResponse](c, harness.FetchRequest("f3", 0, 0, 1, 2), v).Topics[0].Partitions
		if len(ps) != 3 || ps[1].ErrorCode != 0 || ps[1].HighWatermark != 0 || ps[2].RecordBatches == nil || len(ps[2].RecordBatches) != 0 {
			t.Errorf("version %d: %+v", v, ps)
		}
	}
	cfg := sarama.NewConfig()
	cfg.Consumer.Return.Errors = true
	consumer, err := sarama.NewConsumer([]string{b.Addr}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = consumer.Close() }()
	got := make(chan string, 10)
	for n := range int32(3) {
		p, err := consumer.ConsumePartition("f3", n, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for m := range p.Messages() {
				got <- string(m.Value)
			}
		}()
		go func() {
			for e := range p.Errors() {
				got <- "error " + e.Error()
			}
		}()
	}
	for n := int32(1); n < 3; n++ {
		c.Produce(9, "f3", n, plain(fmt.Sprint("late ", n)))
	}
	for range 3 {
		if v := <-got; strings.HasPrefix(v, "error") {
			t.Error(v)
		}
	}
}

// C30: an offset inside a batch is answered with the whole batch.
func TestC30(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("in", 1)
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprint("v", i))
	}
	lz4 := harness.Batch(record.BuilderOptions{Codec: record.LZ4, DefaultLevel: true}, 1000, values...)
	crc := record.Batch(lz4).CRC()
	c.Produce(9, "in", 0, lz4)
	if p := c.Produce(9, "in", 0, harness.Batch(record.BuilderOptions{}, 2000, values[:10]...)); p.ErrorCode != 0 || p.BaseOffset != 100 {
		t.Fatalf("%+v", p)
	}
	b, rest, err := record.Next(c.Fetch(11, "in", 0, 50).RecordBatches)
	if err != nil || b.BaseOffset() != 0 || b.CRC() != crc || !b.ChecksumOK() || b.RecordCount() != 100 {
		t.Fatalf("first batch: base %d, %d records, %v", b.BaseOffset(), b.RecordCount(), err)
	}
	if b, _, err := record.Next(rest); err != nil || b.BaseOffset() != 100 {
		t.Errorf("second batch: %v", err)
	}
}

// C31: a fetch at the log end waits, also just after a roll; one behind it is out
// of range.
func TestC31(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("roll", 1, "segment.ms", "100")
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"roll": {0: kgo.NewOffset().At(0)}}), kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range 40 {
		if p := c.Produce(9, "roll", 0, harness.Batch(record.BuilderOptions{}, int64(1000+i*150), fmt.Sprint(i))); p.ErrorCode != 0 {
			t.Fatal(p.ErrorCode)
		}
		fs := cl.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		if rs := fs.Records(); len(rs) != 1 || rs[0].Offset != int64(i) {
			t.Fatalf("record %d: got %v", i, rs)
		}
	}
	end := c.ListOffset("roll", -1).Offset
	if p := c.Fetch(11, "roll", 0, end); p.ErrorCode != 0 || len(p.RecordBatches) != 0 {
		t.Errorf("at the end: %+v", p)
	}
	if p := c.Fetch(11, "roll", 0, end+1); p.ErrorCode != 1 || p.HighWatermark != -1 {
		t.Errorf("behind the end: %+v", p)
	}
}

// C34: times are looked up record by record, in one batch and in many.
func TestC34(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	values := strings.Split(strings.Repeat("v ", 49)+"v", " ")
	c.CreateTopic("one", 1)
	c.Produce(9, "one", 0, harness.Batch(record.BuilderOptions{}, 1, values...))
	c.CreateTopic("lz", 1)
	c.Produce(9, "lz", 0, harness.Batch(record.BuilderOptions{Codec: record.LZ4, DefaultLevel: true}, 1, values...))
	c.CreateTopic("many", 1)
	for ms := int64(1); ms <= 50; ms++ {
		c.Produce(9, "many", 0, harness.Batch(record.BuilderOptions{}, ms, "v"))
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, topic := range []string{"one", "lz", "many"} {
		for ms := int64(1); ms <= 50; ms++ {
			if p := c.ListOffset(topic, ms); p.Offset != ms-1 || p.Timestamp != ms {
				t.Errorf("%s at %d: offset %d, timestamp %d", topic, ms, p.Offset, p.Timestamp)
			}
		}
		if p := c.ListOffset(topic, 51); p.Offset != -1 || p.Timestamp != -1 || p.LeaderEpoch != -1 {
			t.Errorf("%s at 51: %+v", topic, p)
		}
		// franz-go's admin gives the end where there is no later record.
		os, err := kadm.NewClient(cl).ListOffsetsAfterMilli(t.Context(), 51, topic)
		if o, _ := os.Lookup(topic, 0); err != nil || o.Offset != 50 {
			t.Errorf("%s, kadm: %+v %v", topic, o, err)
		}
	}
}

// C35: a time between two records gives the later one.
func TestC35(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("even", 1)
	for _, ms := range []int64{2, 4, 6, 8} {
		c.Produce(9, "even", 0, harness.Batch(record.BuilderOptions{}, ms, "v"))
	}
	for ask, want := range map[int64][2]int64{1: {0, 2}, 2: {0, 2}, 3: {1, 4}, 5: {2, 6}, 7: {3, 8}, 8: {3, 8}, 9: {-1, -1}, -2: {0, -1}, -1: {4, -1}} {
		if p := c.ListOffset("even", ask); p.ErrorCode != 0 || p.Offset != want[0] || p.Timestamp != want[1] {
			t.Errorf("%d: error %d, %d at %d; want %v", ask, p.ErrorCode, p.Offset, p.Timestamp, want)
		}
	}
}

// C36: no record at or after the time is offset -1, timestamp -1, epoch -1.
func TestC36(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	later := time.Now().Add(time.Hour).UnixMilli()
	for _, topic := range []string{"empty", "old", "emptied"} {
		c.CreateTopic(topic, 1)
		if topic != "empty" {
			c.Produce(9, topic, 0, plain("a", "b", "c"))
		}
		if topic == "emptied" {
			deleteRecords(t, c, topic, -1)
		}
		if p := c.ListOffset(topic, later); p.ErrorCode != 0 || p.Offset != -1 || p.Timestamp != -1 || p.LeaderEpoch != -1 {
			t.Errorf("%s: %+v", topic, p)
		}
	}
}

// C39: user records begin at offset 0, and nothing else takes offsets.
func TestC39(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("off0", 1)
	check := func(start, end int64) {
		t.Helper()
		c := b.Dial()
		if s, e := c.ListOffset("off0", -2).Offset, c.ListOffset("off0", -1).Offset; s != start || e != end {
			t.Errorf("offsets %d to %d, want %d to %d", s, e, start, end)
		}
	}
	check(0, 0)
	if p := c.Produce(9, "off0", 0, plain("a")); p.BaseOffset != 0 {
		t.Errorf("base offset %d", p.BaseOffset)
	}
	check(0, 1)
	b.Stop()
	b.Restart()
	check(0, 1)
	b.Kill()
	b.Restart()
	check(0, 1)
}
