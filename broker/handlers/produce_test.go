package handlers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/record"
	"barnabas/replication"
)

func TestProduceAnswers(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 2)
	r.topic("small", 1, func(s *replication.TopicSettings) { s.MaxMessageBytes = 2000 })
	r.topic("keys", 1, func(s *replication.TopicSettings) { s.Compact = true })
	r.topic("stamped", 1, func(s *replication.TopicSettings) { s.TimestampType = record.LogAppendTime })
	r.topic("__consumer_offsets", 1)
	r.topic("elsewhere", 1)
	r.lead("elsewhere", 1, 2)
	c := r.client()
	spoilt := testBatch("a")
	spoilt[17] ^= 1
	zstd := record.NewBuilder(record.BuilderOptions{Codec: record.Zstd, DefaultLevel: true})
	zstd.Append(0, nil, []byte("z"))
	control := record.NewBuilder(record.BuilderOptions{Control: true, Producer: &record.Producer{ID: 1}})
	control.Append(0, nil, nil)
	txn := record.NewBuilder(record.BuilderOptions{Transactional: true, Producer: &record.Producer{ID: 1}})
	txn.Append(0, nil, []byte("a"))
	nullKey := "Compacted topic cannot accept message without key in topic partition keys-0"
	for _, tt := range []struct {
		name string
		req  *kmsg.ProduceRequest
		want string
	}{
		{"two partitions", produceRequest(9, -1, "t", testBatch("a", "b"), 1, 0), "1:e0:base0:time-1:start0 0:e0:base0:time-1:start0"},
		{"acks one", produceRequest(3, 1, "t", testBatch("c")), "0:e0:base2:time-1:start-1"},
		{"by id", produceRequest(13, -1, "t", testBatch("d")), "0:e0:base3:time-1:start0"},
		{"twice: the last counts", produceRequest(9, -1, "t", testBatch("e"), 0, 0), "0:e0:base4:time-1:start0"},
		{"acks two", produceRequest(9, 2, "t", testBatch("x")), "0:e21:base-1:time-1:start-1"},
		{"no such topic", produceRequest(9, -1, "none", testBatch("x")), "0:e3:base-1:time-1:start-1"},
		{"no such id", produceRequest(13, -1, "none", testBatch("x")), "0:e100:base-1:time-1:start-1"},
		{"no such partition", produceRequest(9, -1, "t", testBatch("x"), 0, 2, -1), "0:e0:base5:time-1:start0 2:e3:base-1:time-1:start-1 -1:e3:base-1:time-1:start-1"},
		{"another broker's", produceRequest(9, -1, "elsewhere", testBatch("x")), "0:e6:base-1:time-1:start-1"},
		{"internal", produceRequest(9, -1, "__consumer_offsets", testBatch("x")), "0:e17:base-1:time-1:start-1"},
		{"null records", produceRequest(9, -1, "t", nil), "0:e87:base-1:time-1:start-1"},
		{"two batches", produceRequest(9, -1, "t", append(testBatch("x"), testBatch("y")...)), "0:e87:base-1:time-1:start-1"},
		{"checksum", produceRequest(9, -1, "t", spoilt), "0:e2:base-1:time-1:start-1"},
		{"control batch", produceRequest(9, -1, "t", control.Build()), "0:e87:base-1:time-1:start0"},
		{"too large", produceRequest(9, -1, "small", testBatch(strings.Repeat("x", 3000))), "0:e10:base-1:time-1:start-1"},
		{"zstd in version 6", produceRequest(6, -1, "t", zstd.Build()), "0:e76:base-1:time-1:start-1"},
		{"zstd in version 7", produceRequest(7, -1, "t", zstd.Build()), "0:e0:base6:time-1:start0"},
		{"null key", produceRequest(9, -1, "keys", testBatch("a")), "0:e87:base-1:time-1:start0:One or more records have been rejected due to 1 record errors in total, " +
			"and only showing the first three errors at most: [RecordError(batchIndex=0, message='" + nullKey + "')]:record0:" + nullKey},
		{"transactional without an id", produceRequest(9, -1, "t", txn.Build(), 0, 7), "0:e53:base-1:time-1:start-1 7:e53:base-1:time-1:start-1"},
		{"version 2", produceRequest(2, -1, "t", testBatch("a")), "0:e35:base-1:time-1:start-1"},
	} {
		if got := toldProduce(ask[*kmsg.ProduceResponse](c, tt.req)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	before := time.Now().UnixMilli()
	p := ask[*kmsg.ProduceResponse](c, produceRequest(9, -1, "stamped", testBatch("a"))).Topics[0].Partitions[0]
	if now := time.Now().UnixMilli(); p.LogAppendTime < before || p.LogAppendTime > now {
		t.Errorf("LogAppendTime %d, want between %d and %d", p.LogAppendTime, before, now)
	}
}

func TestProduceOfATransactionWithoutCoordinator(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	txn := record.NewBuilder(record.BuilderOptions{Transactional: true, Producer: &record.Producer{ID: 1}})
	txn.Append(0, nil, []byte("a"))
	req := produceRequest(9, -1, "t", txn.Build())
	req.TransactionID = kmsg.StringPtr("tx")
	want := "0:e19:base-1:time-1:start-1:Unable to verify the partition has been added to the transaction. Underlying error: COORDINATOR_NOT_AVAILABLE"
	if got := toldProduce(ask[*kmsg.ProduceResponse](r.client(), req)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	plain := produceRequest(9, -1, "t", testBatch("a"))
	plain.TransactionID = kmsg.StringPtr("tx")
	if got := toldProduce(ask[*kmsg.ProduceResponse](r.client(), plain)); got != "0:e0:base0:time-1:start0" {
		t.Errorf("a plain batch with a transactional id: %s", got)
	}
}

func TestProduceSequences(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	c := r.client()
	send := func(epoch int16, seq int32) string {
		b := record.NewBuilder(record.BuilderOptions{Producer: &record.Producer{ID: 9, Epoch: epoch, BaseSequence: seq}})
		b.Append(1_600_000_000_000, nil, []byte("a"))
		p := ask[*kmsg.ProduceResponse](c, produceRequest(9, -1, "t", b.Build())).Topics[0].Partitions[0]
		return fmt.Sprintf("e%d:base%d:time%d", p.ErrorCode, p.BaseOffset, p.LogAppendTime)
	}
	for i, tt := range []struct {
		epoch int16
		seq   int32
		want  string
	}{
		{0, 0, "e0:base0:time-1"},
		{0, 1, "e0:base1:time-1"},
		{0, 0, "e0:base0:time1600000000000"},
		{0, 3, "e45:base-1:time-1"},
		{1, 1, "e45:base-1:time-1"},
		{1, 0, "e0:base2:time-1"},
		{0, 2, "e47:base-1:time-1"},
		{1, -1, "e87:base-1:time-1"},
	} {
		if got := send(tt.epoch, tt.seq); got != tt.want {
			t.Errorf("step %d (epoch %d, sequence %d): %s, want %s", i, tt.epoch, tt.seq, got, tt.want)
		}
	}
}

func TestProduceWithoutAcks(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	c := r.client()
	for range 3 {
		c.send(produceRequest(9, 0, "t", testBatch("a")))
	}
	if got := toldProduce(ask[*kmsg.ProduceResponse](c, produceRequest(9, 1, "t", testBatch("b")))); got != "0:e0:base3:time-1:start0" {
		t.Errorf("after three without acks: %s", got)
	}
	bad := produceRequest(9, 0, "none", testBatch("a"))
	c.send(bad)
	if _, open := c.receive(bad); open {
		t.Error("a failure without acks was answered; want the connection closed")
	}
}

func TestProducesArePipelinedWhileTheHighWatermarkStandsStill(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	release := r.h.replicas.HoldHighWatermark()
	c := r.client()
	reqs := make([]*kmsg.ProduceRequest, 5)
	for i := range reqs {
		reqs[i] = produceRequest(9, -1, "t", testBatch("a"))
		c.send(reqs[i])
	}
	log := r.h.replicas.Partition("t", 0).Log()
	for end := time.Now().Add(10 * time.Second); log.LogEndOffset() < 5 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := log.LogEndOffset(); got != 5 {
		t.Fatalf("log ends at %d before the first acknowledgement, want 5", got)
	}
	c.quiet()
	release()
	for i, req := range reqs {
		resp, ok := c.receive(req)
		if !ok {
			t.Fatal("closed")
		}
		if got, want := toldProduce(resp.(*kmsg.ProduceResponse)), fmt.Sprintf("0:e0:base%d:time-1:start0", i); got != want {
			t.Errorf("answer %d: %s, want %s", i, got, want)
		}
	}
}

func TestProduceThatIsNotReplicatedInTime(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	defer r.h.replicas.HoldHighWatermark()()
	req := produceRequest(9, -1, "t", testBatch("a"))
	req.TimeoutMillis = 20
	if got := toldProduce(ask[*kmsg.ProduceResponse](r.client(), req)); got != "0:e7:base-1:time-1:start0" {
		t.Errorf("got %s, want REQUEST_TIMED_OUT", got)
	}
}
