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

// put produces a batch and expects success.
func (c *client) put(topic string, values ...string) {
	c.t.Helper()
	if p := ask[*kmsg.ProduceResponse](c, produceRequest(9, -1, topic, testBatch(values...))).Topics[0].Partitions[0]; p.ErrorCode != 0 {
		c.t.Fatalf("produce: %d", p.ErrorCode)
	}
}

func TestFetchAnswers(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 2)
	r.topic("z", 1, func(s *replication.TopicSettings) { s.Compression = record.Compression{Codec: record.Zstd} })
	r.topic("elsewhere", 1)
	r.lead("elsewhere", 1, 2)
	c := r.client()
	c.put("t", "a", "b", "c")
	c.put("t", "d", "e")
	c.put("z", "a")
	change := func(req *kmsg.FetchRequest, f func(*kmsg.FetchRequest)) *kmsg.FetchRequest {
		f(req)
		return req
	}
	first := func(req *kmsg.FetchRequest) *kmsg.FetchRequestTopicPartition { return &req.Topics[0].Partitions[0] }
	at := func(offset int64, f func(*kmsg.FetchRequest)) *kmsg.FetchRequest {
		return change(fetchRequest(12, "t", offset), f)
	}
	const outOfRange = "0:e1:hw-1:lso-1:start-1:abnull:[]"
	for _, tt := range []struct {
		name string
		req  *kmsg.FetchRequest
		want string
	}{
		{"from the start", fetchRequest(4, "t", 0), "0:e0:hw5:lso5:start-1:abnull:[0 3]"},
		{"within a batch", fetchRequest(11, "t", 4), "0:e0:hw5:lso5:start0:abnull:[3]"},
		{"by id", fetchRequest(13, "t", 3), "0:e0:hw5:lso5:start0:abnull:[3]"},
		{"newest version", fetchRequest(18, "t", 3), "0:e0:hw5:lso5:start0:abnull:[3]"},
		{"committed", at(0, func(r *kmsg.FetchRequest) { r.IsolationLevel = 1 }), "0:e0:hw5:lso5:start0:ab[]:[0 3]"},
		{"isolation 2", at(0, func(r *kmsg.FetchRequest) { r.IsolationLevel = 2 }), "error:-1 0:e-1:hw-1:lso-1:start-1:ab[]:[]"},
		{"beyond the end", fetchRequest(12, "t", 6), outOfRange},
		{"negative", fetchRequest(12, "t", -1), outOfRange},
		{"at the end, no wait", at(5, func(r *kmsg.FetchRequest) { r.MaxWaitMillis = 0 }), "0:e0:hw5:lso5:start0:abnull:[]"},
		{"one byte", at(0, func(r *kmsg.FetchRequest) { r.MaxBytes, first(r).PartitionMaxBytes = 1, 1 }), "0:e0:hw5:lso5:start0:abnull:[0]"},
		{"cut second", at(0, func(r *kmsg.FetchRequest) { first(r).PartitionMaxBytes = 100 }), "0:e0:hw5:lso5:start0:abnull:[0 cut]"},
		{"negative limit", at(0, func(r *kmsg.FetchRequest) { r.MaxBytes = -1 }), "0:e-1:hw-1:lso-1:start-1:abnull:[]"},
		{"epoch ahead", at(0, func(r *kmsg.FetchRequest) { first(r).CurrentLeaderEpoch = 7 }), "0:e75:hw-1:lso-1:start-1:abnull:[]"},
		{"epoch -2", at(0, func(r *kmsg.FetchRequest) { first(r).CurrentLeaderEpoch = -2 }), "0:e0:hw5:lso5:start0:abnull:[0 3]"},
		{"fetched epoch ahead", at(3, func(r *kmsg.FetchRequest) { first(r).LastFetchedEpoch = 5 }), outOfRange},
		{"unknown topic", fetchRequest(12, "none", 0), "0:e3:hw-1:lso-1:start-1:ab[]:[]"},
		{"unknown id", fetchRequest(13, "none", 0), "0:e100:hw-1:lso-1:start-1:ab[]:[]"},
		{"another broker's", fetchRequest(10, "elsewhere", 0), "0:e6:hw-1:lso-1:start-1:abnull:[]"},
		{"unknown partitions come last", fetchRequest(12, "t", 0, 7, 0, -1), "0:e0:hw5:lso5:start0:abnull:[0 3] 7:e3:hw-1:lso-1:start-1:ab[]:[] -1:e3:hw-1:lso-1:start-1:ab[]:[]"},
		{"an empty one beside", fetchRequest(12, "t", 0, 1, 0), "1:e1:hw-1:lso-1:start-1:abnull:[] 0:e0:hw5:lso5:start0:abnull:[0 3]"},
		{"named twice: the last counts", at(0, func(r *kmsg.FetchRequest) { addFetch(r, "t", 3, 0) }), "0:e0:hw5:lso5:start0:abnull:[3]"},
		{"zstd below version 10", fetchRequest(9, "z", 0), "0:e76:hw-1:lso-1:start-1:ab[]:[]"},
		{"zstd from version 10", fetchRequest(10, "z", 0), "0:e0:hw1:lso1:start0:abnull:[0]"},
		{"nothing", change(fetchRequest(12, "t", 0), func(r *kmsg.FetchRequest) { r.Topics = nil }), ""},
	} {
		if tt.name == "an empty one beside" {
			tt.req.Topics[0].Partitions[0].FetchOffset = 1
		}
		if got := told(ask[*kmsg.FetchResponse](c, tt.req)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestFetchWithATagOfALaterVersionCloses(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	req := fetchRequest(12, "t", 0)
	req.ReplicaState.ID = 3
	c := r.client()
	c.send(req)
	if _, open := c.receive(req); open {
		t.Error("answered; Kafka cannot read it and closes")
	}
}

func TestFetchWaits(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 2)
	producer, consumer := r.client(), r.client()
	req := fetchRequest(12, "t", 0, 0, 1)
	consumer.send(req)
	consumer.quiet()
	producer.put("t", "a")
	resp, ok := consumer.receive(req)
	if !ok {
		t.Fatal("closed")
	}
	if got, want := told(resp.(*kmsg.FetchResponse)), "0:e0:hw1:lso1:start0:abnull:[0] 1:e0:hw0:lso0:start0:abnull:[]"; got != want {
		t.Errorf("woken by a produce: %s, want %s", got, want)
	}
	req = fetchRequest(12, "t", 1)
	req.MaxWaitMillis = 60
	begin := time.Now()
	if got := told(ask[*kmsg.FetchResponse](consumer, req)); got != "0:e0:hw1:lso1:start0:abnull:[]" || time.Since(begin) < 60*time.Millisecond {
		t.Errorf("at its deadline: %s after %v", got, time.Since(begin))
	}
}

func TestFetchSession(t *testing.T) {
	t.Parallel()
	for _, version := range []int16{7, 12, 13, 18} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			r := newDataRig(t)
			r.topic("t", 2)
			c := r.client()
			c.put("t", "a")
			in := func(id, epoch int32, offset int64, parts ...int32) *kmsg.FetchRequest {
				req := fetchRequest(version, "t", offset, 0)
				if req.Topics = nil; len(parts) > 0 {
					addFetch(req, "t", offset, parts...)
				}
				req.SessionID, req.SessionEpoch, req.MaxWaitMillis = id, epoch, 20
				return req
			}
			open := ask[*kmsg.FetchResponse](c, in(0, 0, 0, 0, 1))
			id := open.SessionID
			for i, tt := range []struct {
				req  *kmsg.FetchRequest
				want string
			}{
				{in(id, 1, 1, 0), ""},
				{in(id, 2, 0), ""},
				{in(id, 3, 0, 0), "0:e0:hw1:lso1:start0:abnull:[0]"},
				{in(id, 3, 0), "error:71"},
				{in(id+1, 3, 0), "error:70"},
				{in(id, 4, 1, 0), ""},
			} {
				resp := ask[*kmsg.FetchResponse](c, tt.req)
				if got := told(resp); got != tt.want || resp.ErrorCode == 0 && resp.SessionID != id {
					t.Errorf("step %d: %q in session %d, want %q in %d", i, got, resp.SessionID, tt.want, id)
				}
			}
			c.put("t", strings.Repeat("b", 10))
			if got := told(ask[*kmsg.FetchResponse](c, in(id, 5, 0))); got != "0:e0:hw2:lso2:start0:abnull:[1]" {
				t.Errorf("a new record: %s", got)
			}
		})
	}
}

func TestListOffsetsAnswers(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 2)
	c := r.client()
	c.put("t", "a", "b")
	query := func(version int16, ts int64, parts ...int32) *kmsg.ListOffsetsRequest {
		req := kmsg.NewPtrListOffsetsRequest()
		req.Version, req.ReplicaID = version, -1
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = "t"
		for _, p := range parts {
			q := kmsg.NewListOffsetsRequestTopicPartition()
			q.Partition, q.Timestamp, q.MaxNumOffsets = p, ts, 5
			t.Partitions = append(t.Partitions, q)
		}
		req.Topics = append(req.Topics, t)
		return req
	}
	isolation := query(4, -1, 0)
	isolation.IsolationLevel = 2
	ahead := query(4, -1, 0)
	ahead.Topics[0].Partitions[0].CurrentLeaderEpoch = 1
	for _, tt := range []struct {
		name string
		req  *kmsg.ListOffsetsRequest
		want string
	}{
		{"latest", query(1, -1, 0), "0:e0:2@-1:le-1"},
		{"latest with epoch", query(4, -1, 0, 1), "0:e0:2@-1:le0 1:e0:0@-1:le0"},
		{"earliest", query(11, -2, 0), "0:e0:0@-1:le0"},
		{"highest timestamp", query(7, -3, 0), "0:e0:0@1600000000000:le0"},
		{"highest timestamp too early", query(6, -3, 0), "0:e35:-1@-1:le-1"},
		{"local", query(8, -4, 0), "0:e0:0@-1:le0"},
		{"tiered", query(9, -5, 0), "0:e0:-1@-1:le-1"},
		{"pending upload", query(11, -6, 0), "0:e35:-1@-1:le-1"},
		{"by time", query(5, 1_600_000_000_000, 0), "0:e0:0@1600000000000:le0"},
		{"by time, none", query(5, 1_600_000_000_001, 0), "0:e0:-1@-1:le-1"},
		{"unknown partition", query(5, -1, 0, 5), "0:e0:2@-1:le0 5:e3:-1@-1:le-1"},
		{"twice", query(5, -1, 0, 1, 0), "0:e42:-1@-1:le-1 1:e0:0@-1:le0 0:e42:-1@-1:le-1"},
		{"isolation 2", isolation, "0:e-1:-1@-1:le-1"},
		{"epoch ahead", ahead, "0:e75:-1@-1:le-1"},
		{"version 0", query(0, -1, 0), "0:e0:[2 0]"},
		{"version 0, earliest", query(0, -2, 0), "0:e0:[0]"},
	} {
		var got []string
		for _, p := range ask[*kmsg.ListOffsetsResponse](c, tt.req).Topics[0].Partitions {
			if tt.req.Version == 0 {
				got = append(got, fmt.Sprintf("%d:e%d:%v", p.Partition, p.ErrorCode, p.OldStyleOffsets))
			} else {
				got = append(got, fmt.Sprintf("%d:e%d:%d@%d:le%d", p.Partition, p.ErrorCode, p.Offset, p.Timestamp, p.LeaderEpoch))
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestOffsetForLeaderEpochAnswers(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	c := r.client()
	c.put("t", "a", "b")
	for _, tt := range []struct {
		version        int16
		current, epoch int32
		want           string
	}{
		{0, -1, 0, "e0:-1:2"},
		{1, -1, 0, "e0:0:2"},
		{4, -1, 1, "e0:-1:-1"},
		{4, -1, -1, "e0:-1:-1"},
		{4, 0, 0, "e0:0:2"},
		{2, 1, 0, "e75:-1:-1"},
		{2, -2, 0, "e74:-1:-1"},
	} {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		req.Version = tt.version
		topic := kmsg.NewOffsetForLeaderEpochRequestTopic()
		topic.Topic = "t"
		q := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		q.CurrentLeaderEpoch, q.LeaderEpoch = tt.current, tt.epoch
		topic.Partitions = append(topic.Partitions, q)
		req.Topics = append(req.Topics, topic)
		p := ask[*kmsg.OffsetForLeaderEpochResponse](c, req).Topics[0].Partitions[0]
		if got := fmt.Sprintf("e%d:%d:%d", p.ErrorCode, p.LeaderEpoch, p.EndOffset); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestDeleteRecordsAnswers(t *testing.T) {
	t.Parallel()
	r := newDataRig(t)
	r.topic("t", 1)
	r.topic("compacted", 1, func(s *replication.TopicSettings) { s.Compact, s.Delete = true, false })
	r.topic("__consumer_offsets", 1)
	c := r.client()
	c.put("t", "a", "b", "c")
	for _, tt := range []struct {
		topic     string
		partition int32
		offset    int64
		want      string
	}{
		{"t", 0, 2, "e0:2"},
		{"t", 0, 1, "e0:2"},
		{"t", 0, 4, "e1:-1"},
		{"t", 0, -2, "e1:-1"},
		{"t", 0, -1, "e0:3"},
		{"t", 1, 0, "e3:-1"},
		{"none", 0, 0, "e3:-1"},
		{"compacted", 0, 0, "e44:-1"},
		{"__consumer_offsets", 0, 0, "e17:-1"},
	} {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Version, req.TimeoutMillis = 2, 1000
		topic := kmsg.NewDeleteRecordsRequestTopic()
		topic.Topic = tt.topic
		q := kmsg.NewDeleteRecordsRequestTopicPartition()
		q.Partition, q.Offset = tt.partition, tt.offset
		topic.Partitions = append(topic.Partitions, q)
		req.Topics = append(req.Topics, topic)
		p := ask[*kmsg.DeleteRecordsResponse](c, req).Topics[0].Partitions[0]
		if got := fmt.Sprintf("e%d:%d", p.ErrorCode, p.LowWatermark); got != tt.want {
			t.Errorf("%s-%d to %d: %s, want %s", tt.topic, tt.partition, tt.offset, got, tt.want)
		}
	}
}
