package handlers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"barnabas/broker/fetchsession"
	"barnabas/broker/server"
	"barnabas/replication"
)

// bytesRegion is a region in memory that notes where it is put into a response.
type bytesRegion struct {
	data []byte
	out  *server.Out
	at   int
}

// Len is what the server asks last when it takes a region.
func (r *bytesRegion) Len() int {
	r.at = len(r.out.Buf)
	return len(r.data)
}

func (r *bytesRegion) ReadAt(p []byte, off int64) (int, error) { return copy(p, r.data[off:]), nil }

func (r *bytesRegion) File() (uintptr, int64, bool) { return 0, 0, false }

func (r *bytesRegion) Release() {}

// drawFetch makes a response state and the kmsg response that says the same.
func drawFetch(t *rapid.T, version int16, out *server.Out) (*fetchState, *kmsg.FetchResponse) {
	st := &fetchState{version: version, h: &Handlers{}}
	want := kmsg.NewPtrFetchResponse()
	want.Version = version
	st.opts.Committed = rapid.Bool().Draw(t, "committed")
	if version >= 7 {
		st.sessionID = rapid.Int32().Draw(t, "session")
		st.code = rapid.SampledFrom([]int16{0, 70, 71}).Draw(t, "code")
		want.SessionID, want.ErrorCode = st.sessionID, st.code
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "topics") {
		topic := kmsg.NewFetchResponseTopic()
		target := fetchsession.Target{}
		if version >= 13 {
			target.TopicID = [16]byte{byte(n + 1), 9}
		} else {
			target.Topic = fmt.Sprint("topic-", n)
		}
		topic.Topic, topic.TopicID = target.Topic, target.TopicID
		for range rapid.IntRange(1, 3).Draw(t, "partitions") {
			target.Partition = rapid.Int32().Draw(t, "partition")
			st.fetch.Targets = append(st.fetch.Targets, target)
			topic.Partitions = append(topic.Partitions, drawPart(t, st, target.Partition, out))
			st.order = append(st.order, int32(len(st.parts)-1))
		}
		want.Topics = append(want.Topics, topic)
	}
	return st, want
}

func drawPart(t *rapid.T, st *fetchState, partition int32, out *server.Out) kmsg.FetchResponseTopicPartition {
	w := kmsg.NewFetchResponseTopicPartition()
	w.Partition, w.PreferredReadReplica, w.RecordBatches = partition, -1, []byte{}
	var p replication.FetchPart
	p.DivergingEnd = -1
	early := false
	switch rapid.SampledFrom([]string{"data", "empty", "error", "early", "diverging"}).Draw(t, "kind") {
	case "data":
		data := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "records")
		p.Region, w.RecordBatches = &bytesRegion{data: data, out: out}, data
	case "error":
		p.Fail(kerr.OffsetOutOfRange)
	case "early":
		p.Fail(kerr.UnknownTopicOrPartition)
		early = true
	case "diverging":
		p.DivergingEpoch, p.DivergingEnd = 3, 14
		if st.version >= 12 {
			w.DivergingEpoch.Epoch, w.DivergingEpoch.EndOffset = 3, 14
		}
	}
	if p.Err == nil {
		p.HighWatermark, p.StableOffset, p.LogStartOffset = rapid.Int64().Draw(t, "hw"), rapid.Int64().Draw(t, "lso"), rapid.Int64().Draw(t, "start")
	} else {
		w.ErrorCode = p.Err.(*kerr.Error).Code
	}
	w.HighWatermark, w.LastStableOffset, w.LogStartOffset = p.HighWatermark, p.StableOffset, p.LogStartOffset
	if early || st.opts.Committed && p.Err == nil {
		w.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	}
	st.parts, st.early = append(st.parts, p), append(st.early, early)
	return w
}

func TestFetchResponseIsEncodedAsKmsgDoes(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 18; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				var out server.Out
				st, want := drawFetch(rt, version, &out)
				if got := encoded(st, &out); !bytes.Equal(got, want.AppendTo(nil)) {
					rt.Fatalf("encoded\n%x\nwant\n%x", got, want.AppendTo(nil))
				}
			})
		})
	}
}

func TestFetchResponseNamesEndpoints(t *testing.T) {
	t.Parallel()
	rack := "r1"
	st := &fetchState{version: 16}
	st.brokers = []leaderHint{{leader: 1, host: "a", port: 9092, rack: &rack}, {leader: 2, host: "bb", port: 1}}
	want := kmsg.NewPtrFetchResponse()
	want.Version = 16
	want.Brokers = []kmsg.FetchResponseBroker{{NodeID: 1, Host: "a", Port: 9092, Rack: &rack}, {NodeID: 2, Host: "bb", Port: 1}}
	if got := encoded(st, new(server.Out)); !bytes.Equal(got, want.AppendTo(nil)) {
		t.Errorf("encoded %x, want %x", got, want.AppendTo(nil))
	}
}

// encoded is the body as it goes over the wire.
func encoded(st *fetchState, out *server.Out) []byte {
	var regions []*bytesRegion
	for _, i := range st.order {
		if r, ok := st.parts[i].Region.(*bytesRegion); ok {
			regions = append(regions, r)
		}
	}
	st.encode(out)
	var body []byte
	from := 0
	for _, r := range regions {
		body = append(append(body, out.Buf[from:r.at]...), r.data...)
		from = r.at
	}
	return append(body, out.Buf[from:]...)
}

func BenchmarkFetchEncode100(b *testing.B) {
	st := &fetchState{version: 12, h: &Handlers{}}
	for i := range int32(100) {
		st.fetch.Targets = append(st.fetch.Targets, fetchsession.Target{Topic: "topic", Partition: i})
		st.parts = append(st.parts, replication.FetchPart{DivergingEnd: -1})
		st.early = append(st.early, false)
		st.order = append(st.order, i)
	}
	var o server.Out
	b.ReportAllocs()
	for b.Loop() {
		o.Buf = o.Buf[:0]
		st.encode(&o)
	}
}
