package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

// kcat runs kcat and gives what it printed and what it complained of.
func kcat(t *testing.T, b *harness.Broker, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "kcat", append([]string{"-b", b.Addr}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("kcat %v: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// franz is a client of franz-go.
func franz(t *testing.T, b *harness.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Addr)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// soon bounds a wait for what should come at once.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// C01, C07 and C02, as librdkafka and franz-go see them: no parse errors, no
// codec that the broker is said to lack.
func TestC07Clients(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	if err := franz(t, b).Ping(soon(t)); err != nil {
		t.Error(err)
	}
	if _, log := kcat(t, b, "", "-L", "-d", "protocol,broker,feature"); strings.Contains(log, "PROTOERR") || !strings.Contains(log, "ApiVersion") {
		t.Errorf("librdkafka:\n%s", log)
	}
	lacks := regexp.MustCompile(`(?i)does not support|not supported by broker|disabling compression`)
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		_, log := kcat(t, b, strings.Repeat("a", 1000)+"\n", "-P", "-t", "feature-"+codec, "-z", codec, "-d", "msg")
		if lacks.MatchString(log) {
			t.Errorf("%s:\n%s", codec, log)
		}
	}
}

// C04 (without a group): a consumer that fetches by topic id gets everything.
func TestC04Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	b.Dial().CreateTopic("ids", 1)
	cl := franz(t, b, kgo.DefaultProduceTopic("ids"), kgo.ConsumeTopics("ids"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for i := range 10 {
		if err := cl.ProduceSync(soon(t), kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; n < 10; {
		fs := cl.PollFetches(soon(t))
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		n += fs.NumRecords()
	}
}

// C05, as an idempotent client does it: the stored batch names its producer, two
// producers have two ids.
func TestC05Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("p", 1)
	ids := map[int64]bool{}
	for i := range int64(2) {
		if err := franz(t, b, kgo.DefaultProduceTopic("p")).ProduceSync(soon(t), kgo.StringRecord("a")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		batch, _, err := record.Next(c.Fetch(11, "p", 0, i).RecordBatches)
		if err != nil || batch.ProducerID() < 0 || batch.ProducerEpoch() != 0 || batch.BaseSequence() != 0 {
			t.Fatalf("producer %d, epoch %d, sequence %d, %v", batch.ProducerID(), batch.ProducerEpoch(), batch.BaseSequence(), err)
		}
		ids[batch.ProducerID()] = true
	}
	if len(ids) != 2 {
		t.Errorf("producer ids %v", ids)
	}
}

// C20, as librdkafka does it.
func TestC20Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("mi", 1, "min.insync.replicas", "2")
	for i, acks := range []string{"all", "1"} {
		kcat(t, b, "a\n", "-P", "-t", "mi", "-X", "acks="+acks, "-X", "message.timeout.ms=3000")
		if end := c.ListOffset("mi", -1).Offset; end != int64(i+1) {
			t.Errorf("acks=%s: the log ends at %d", acks, end)
		}
	}
}

// C21, as sarama does it.
func TestC21Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	b.Dial().CreateTopic("idem", 1)
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V2_8_0_0
	cfg.Producer.Idempotent, cfg.Producer.RequiredAcks, cfg.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	cfg.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer([]string{b.Addr}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for i := range int64(20) {
		if _, offset, err := p.SendMessage(&sarama.ProducerMessage{Topic: "idem", Value: sarama.StringEncoder("v")}); err != nil || offset != i {
			t.Fatalf("message %d: offset %d, %v", i, offset, err)
		}
	}
}

// fetches counts the fetch responses that a franz-go client reads.
type fetches struct{ n atomic.Int64 }

// OnBrokerE2E is called by the client after each response.
func (f *fetches) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, _ kgo.BrokerE2E) {
	if key == int16(kmsg.Fetch) {
		f.n.Add(1)
	}
}

// C24, as a client sees it: an idle consumer's fetches wait, and an append ends
// the wait.
func TestC24Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("idle", 1)
	count := &fetches{}
	cl := franz(t, b, kgo.WithHooks(count), kgo.FetchMaxWait(500*time.Millisecond), kgo.FetchMinBytes(1),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"idle": {0: kgo.NewOffset().At(0)}}))
	harness.Eventually(t, "the consumer fetches", func() bool { return count.n.Load() > 0 })
	before := count.n.Load()
	idle, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if fs := cl.PollFetches(idle); fs.NumRecords() != 0 {
		t.Fatal("records in an empty topic")
	}
	if n := count.n.Load() - before; n < 7 || n > 12 {
		t.Errorf("%d fetches in 5 s of waiting 500 ms", n)
	}
	c.Produce(9, "idle", 0, plain("a"))
	acked := time.Now()
	if fs := cl.PollFetches(soon(t)); fs.Err() != nil || fs.NumRecords() != 1 {
		t.Fatalf("%d records, %v", fs.NumRecords(), fs.Err())
	}
	if took := time.Since(acked); took > 300*time.Millisecond { // 100 on a machine that does nothing else
		t.Errorf("the record came %v after its acknowledgement", took)
	}
}

// C25, as clients do it (without groups).
func TestC25Clients(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("three", 3)
	c.Produce(9, "three", 1, plain("a"))
	cl := franz(t, b, kgo.ConsumeTopics("three"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if fs := cl.PollFetches(soon(t)); fs.Err() != nil || fs.NumRecords() != 1 {
		t.Errorf("franz-go: %d records, %v", fs.NumRecords(), fs.Err())
	}
	if out, _ := kcat(t, b, "", "-C", "-t", "three", "-o", "beginning", "-e", "-q"); out != "a\n" {
		t.Errorf("kcat prints %q", out)
	}
}

// C26, as clients with tiny limits do it: franz-go and librdkafka in KafkaJS's
// stead.
func TestC26Clients(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("big", 2)
	large := strings.Repeat("x", 100<<10)
	for _, p := range []struct {
		partition int32
		value     string
	}{{0, large}, {0, "0123456789"}, {1, large}} {
		c.Produce(9, "big", p.partition, plain(p.value))
	}
	cl := franz(t, b, kgo.ConsumeTopics("big"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(1), kgo.FetchMaxPartitionBytes(1))
	for n := 0; n < 3; {
		fs := cl.PollFetches(soon(t))
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		n += fs.NumRecords()
	}
	out, _ := kcat(t, b, "", "-C", "-t", "big", "-o", "beginning", "-e", "-q", "-X", "fetch.message.max.bytes=1")
	if n := strings.Count(out, "\n"); n != 3 {
		t.Errorf("kcat prints %d records", n)
	}
}

// C30, as clients do it: they are sent the whole batch and begin within it.
func TestC30Clients(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("in", 1)
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprint("v", i))
	}
	c.Produce(9, "in", 0, harness.Batch(record.BuilderOptions{Codec: record.LZ4, DefaultLevel: true}, 1000, values...))
	c.Produce(9, "in", 0, harness.Batch(record.BuilderOptions{}, 2000, values[:10]...))
	if out, _ := kcat(t, b, "", "-C", "-t", "in", "-o", "50", "-c", "1", "-q"); out != "v50\n" {
		t.Errorf("kcat prints %q", out)
	}
	cl := franz(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"in": {0: kgo.NewOffset().At(50)}}))
	for n := int64(50); n < 110; {
		fs := cl.PollFetches(soon(t))
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fs.Records() {
			if r.Offset != n {
				t.Fatalf("offset %d, want %d", r.Offset, n)
			}
			n++
		}
	}
}

// C43, as a client does it: five new topics, a record each, in one flush.
func TestC43Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	cl := franz(t, b, kgo.AllowAutoTopicCreation())
	var rs []*kgo.Record
	for i := range 5 {
		rs = append(rs, &kgo.Record{Topic: fmt.Sprint("new-", i), Value: []byte("v")})
	}
	for _, r := range cl.ProduceSync(soon(t), rs...) {
		if r.Err != nil || r.Record.Offset != 0 {
			t.Errorf("%s: offset %d, %v", r.Record.Topic, r.Record.Offset, r.Err)
		}
	}
	c := b.Dial()
	for i := range 5 {
		if end := c.ListOffset(fmt.Sprint("new-", i), -1).Offset; end != 1 {
			t.Errorf("topic %d ends at %d", i, end)
		}
	}
}

// C81, with a consumer: it finds the partitions that its topic grows by.
func TestC81Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("p", 2)
	cl := franz(t, b, kgo.ConsumeTopics("p"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMaxAge(time.Second), kgo.MetadataMinAge(100*time.Millisecond))
	c.Produce(9, "p", 0, plain("before"))
	if fs := cl.PollFetches(soon(t)); fs.NumRecords() != 1 {
		t.Fatalf("%d records, %v", fs.NumRecords(), fs.Err())
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 5000
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = "p", 5
	req.Topics = append(req.Topics, rt)
	harness.Do[*kmsg.CreatePartitionsResponse](c, req, 1)
	for p := range int32(5) {
		c.Produce(9, "p", p, plain("after"))
	}
	seen := map[int32]bool{}
	for len(seen) < 5 {
		fs := cl.PollFetches(soon(t))
		if err := fs.Err(); err != nil {
			t.Fatalf("partitions %v: %v", seen, err)
		}
		for _, r := range fs.Records() {
			seen[r.Partition] = true
		}
	}
}

// C88, with consumers that start while records expire: none hangs or fails.
func TestC88Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t, "log.retention.check.interval.ms=100")
	c := b.Dial()
	c.CreateTopic("q", 1, "retention.ms", "1000", "segment.ms", "300", "file.delete.delay.ms", "0")
	for round := range 5 {
		for i := range 50 {
			c.Produce(9, "q", 0, plain(fmt.Sprint(i)))
		}
		first := c.ListOffset("q", -2).Offset
		cl := franz(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"q": {0: kgo.NewOffset().AtStart()}}))
		fs := cl.PollFetches(soon(t))
		if fs.Err() != nil || fs.NumRecords() == 0 || fs.Records()[0].Offset < first {
			t.Fatalf("round %d, from %d on: %d records, %v", round, first, fs.NumRecords(), fs.Err())
		}
		cl.Close()
		harness.Eventually(t, "some expire", func() bool { return c.ListOffset("q", -2).Offset > first })
	}
}

// C91, with a kill amid writing to rolling segments: every acknowledged record is
// there once and in order, times are found exactly.
func TestC91Writing(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("w", 1, "segment.ms", "200", "index.interval.bytes", "200")
	cl := franz(t, b, kgo.DefaultProduceTopic("w"), kgo.ProducerLinger(0), kgo.RecordDeliveryTimeout(2*time.Second), kgo.MaxProduceRequestsInflightPerBroker(1))
	var acked atomic.Int64
	base := time.Now().UnixMilli()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for began := time.Now(); time.Since(began) < 2*time.Second || acked.Load() < 3000; {
			time.Sleep(time.Millisecond)
		}
		b.Kill()
	}()
	const total = 200000
	for i := int64(0); i < total; i++ {
		select {
		case <-killed:
			i = total
			continue
		default:
		}
		r := &kgo.Record{Value: fmt.Appendf(nil, "%d", i), Timestamp: time.UnixMilli(base + i)}
		cl.Produce(t.Context(), r, func(r *kgo.Record, err error) {
			if err == nil {
				acked.Store(r.Offset + 1)
			}
		})
		if i%100 == 99 {
			time.Sleep(5 * time.Millisecond) // writes over several rolls
		}
	}
	<-killed
	cl.Close()
	if files, _ := filepath.Glob(filepath.Join(b.Dir, "w-0", "*.log")); len(files) < 3 {
		t.Errorf("%d segments: nothing rolled", len(files))
	}
	began := time.Now()
	b.Restart()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the start took %v", took)
	}
	c = b.Dial()
	end := c.ListOffset("w", -1).Offset
	if end < acked.Load() {
		t.Fatalf("the log ends at %d, %d were acknowledged", end, acked.Load())
	}
	rd := franz(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"w": {0: kgo.NewOffset().At(0)}}))
	for next := int64(0); next < end; {
		fs := rd.PollFetches(soon(t))
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fs.Records() {
			if r.Offset != next || string(r.Value) != fmt.Sprint(next) {
				t.Fatalf("offset %d has %q, want %d", r.Offset, r.Value, next)
			}
			next++
		}
	}
	for i := int64(0); i < 20; i++ {
		if o := i * (end - 1) / 20; c.ListOffset("w", base+o).Offset != o {
			t.Errorf("time of record %d: offset %d", o, c.ListOffset("w", base+o).Offset)
		}
	}
	if p := c.Produce(9, "w", 0, plain("on")); p.ErrorCode != 0 || p.BaseOffset != end {
		t.Errorf("%+v, the log ended at %d", p, end)
	}
}

// C109, with a consumer beside: curl and openssl, or what they would send.
func TestC109Client(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("t", 1)
	cl := franz(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"t": {0: kgo.NewOffset().At(0)}}))
	for i := range 20 {
		nc, err := net.Dial("tcp", b.Addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = nc.Write([]byte([]string{"GET / HTTP/1.1\r\nHost: b\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"}[i%2]))
		if n, err := nc.Read(make([]byte, 100)); n != 0 || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d bytes, %v", n, err)
		}
		_ = nc.Close()
		c.Produce(9, "t", 0, plain(fmt.Sprint(i)))
		if fs := cl.PollFetches(soon(t)); fs.Err() != nil || fs.NumRecords() != 1 {
			t.Fatalf("record %d: %d records, %v", i, fs.NumRecords(), fs.Err())
		}
	}
}

// C111, as clients do it: a message, a pause beyond the idle time, another. (kcat
// ends by itself when its only broker hangs up.)
func TestC111Clients(t *testing.T) {
	t.Parallel()
	b := harness.Start(t, "connections.max.idle.ms=1000")
	b.Dial().CreateTopic("t", 1)
	cl := franz(t, b, kgo.DefaultProduceTopic("t"))
	cfg := sarama.NewConfig()
	cfg.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer([]string{b.Addr}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for round := range 2 {
		began := time.Now()
		if err := cl.ProduceSync(soon(t), kgo.StringRecord("v")).FirstErr(); err != nil {
			t.Errorf("franz-go, round %d: %v", round, err)
		}
		if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: "t", Value: sarama.StringEncoder("v")}); err != nil {
			t.Errorf("sarama, round %d: %v", round, err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("round %d took %v", round, took)
		}
		if round == 0 {
			time.Sleep(3 * time.Second) // the pause that this is about
		}
	}
	if end := b.Dial().ListOffset("t", -1).Offset; end != 4 {
		t.Errorf("the log ends at %d", end)
	}
}
