package handlers

import (
	"errors"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/protocol/record"
	"barnabas/replication"
)

// produceState is what one Produce request needs: its partitions, and a
// response with a slot for each. It is pooled; whoever made the reply from it
// must not touch it any more.
type produceState struct {
	h        *Handlers
	listener string
	clientID string // of the request's frame: gone when the handler returns
	version  int16

	parts  []replication.ProducePart
	at     []producePlace // of each part
	topics places[topicKey]
	known  places[partitionKey]
	resp   kmsg.ProduceResponse
}

// producePlace says which slot of the response is a part's.
type producePlace struct {
	key       topicKey
	topic     int32 // index into the response
	slot      int32 // index into its partitions
	partition int32
}

var produceStates = sync.Pool{New: func() any { return new(produceState) }}

func newProduceState(h *Handlers, c *server.Call, req *kmsg.ProduceRequest) *produceState {
	st := produceStates.Get().(*produceState)
	st.h, st.listener, st.clientID, st.version = h, c.Listener, c.ClientID, req.Version
	st.resp.Version = req.Version
	for i := range req.Topics {
		st.topic(&req.Topics[i]) // also one without partitions
	}
	return st
}

// topic gives a topic's place in the response.
func (st *produceState) topic(t *kmsg.ProduceRequestTopic) int {
	key := topicKey{name: t.Topic}
	if st.version >= 13 {
		key = topicKey{id: t.TopicID}
	}
	n, again := st.topics.of(key)
	if !again {
		st.resp.Topics = extend(st.resp.Topics)
		r := &st.resp.Topics[n]
		r.Topic, r.TopicID, r.Partitions = "", key.id, r.Partitions[:0]
	}
	return n
}

// add gives a partition's part, a new one unless the request named it before.
func (st *produceState) add(t *kmsg.ProduceRequestTopic, partition int32) *replication.ProducePart {
	n := st.topic(t)
	i, again := st.known.of(partitionKey{int32(n), partition})
	if again {
		return &st.parts[i]
	}
	r := &st.resp.Topics[n]
	r.Partitions = append(r.Partitions, kmsg.NewProduceResponseTopicPartition())
	place := producePlace{key: st.topics.keys[n], topic: int32(n), slot: int32(len(r.Partitions) - 1), partition: partition}
	part := replication.ProducePart{}
	if st.version >= 13 {
		part.Partition = st.h.replicas.PartitionByID(t.TopicID, partition)
	} else {
		part.Partition = st.h.replicas.Partition(t.Topic, partition)
	}
	if p := part.Partition; p != nil {
		place.key.name = p.Topic()
		r.Topic = p.Topic()
	} else if r.Topic == "" {
		r.Topic = strings.Clone(t.Topic)
		place.key.name = r.Topic
	}
	st.parts, st.at = append(st.parts, part), append(st.at, place)
	return &st.parts[i]
}

// refuse settles a part with an error; nothing is appended to it.
func (st *produceState) refuse(i int, err error) {
	part := &st.parts[i]
	if part.Partition == nil && part.Err != nil {
		return // settled before
	}
	var r *record.Refusal
	part.Fail(err)
	if errors.As(err, &r) {
		part.Err, part.Message = r.Err, r.Message
	}
	part.Partition = nil
}

func wholeRequest(err error) bool {
	var r *record.Refusal
	return errors.As(err, &r) && r.WholeRequest
}

func (st *produceState) failed() bool {
	for i := range st.parts {
		if st.parts[i].Err != nil {
			return true
		}
	}
	return false
}

// reply fills the response in.
func (st *produceState) reply() server.Reply {
	for i := range st.parts {
		part, at := &st.parts[i], &st.at[i]
		p := &st.resp.Topics[at.topic].Partitions[at.slot]
		p.Partition = at.partition
		p.BaseOffset, p.LogAppendTime, p.LogStartOffset = part.BaseOffset, part.LogAppendTime, part.LogStart
		if part.Err != nil {
			st.explain(p, part, at)
		}
	}
	return server.NowEncoded(st)
}

// explain fills in an error and what Kafka says with it.
func (st *produceState) explain(p *kmsg.ProduceResponseTopicPartition, part *replication.ProducePart, at *producePlace) {
	p.ErrorCode = st.h.partitionCode(part.Err, "produce")
	if part.Message != "" {
		p.ErrorMessage = kmsg.StringPtr(part.Message)
	}
	for _, r := range part.RecordErrors {
		e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		e.RelativeOffset, e.ErrorMessage = r.BatchIndex, kmsg.StringPtr(r.Message)
		p.ErrorRecords = append(p.ErrorRecords, e)
	}
	if st.version < 10 || p.ErrorCode != kerr.NotLeaderForPartition.Code {
		return
	}
	hint, ok := st.h.leaderHint(st.listener, at.key.name, at.partition)
	if !ok {
		return
	}
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = hint.leader, hint.epoch
	if hint.known && !hasBroker(st.resp.Brokers, hint.leader) {
		b := kmsg.NewProduceResponseBroker()
		b.NodeID, b.Host, b.Port, b.Rack = hint.leader, hint.host, hint.port, hint.rack
		st.resp.Brokers = append(st.resp.Brokers, b)
	}
}

func hasBroker(bs []kmsg.ProduceResponseBroker, id int32) bool {
	for i := range bs {
		if bs[i].NodeID == id {
			return true
		}
	}
	return false
}

// Encode writes the response and gives the state back.
func (st *produceState) Encode(o *server.Out) {
	o.Buf = st.resp.AppendTo(o.Buf)
	for i := range st.resp.Topics {
		for j := range st.resp.Topics[i].Partitions {
			o.Error(st.resp.Topics[i].Partitions[j].ErrorCode)
		}
	}
	st.release()
}

func (st *produceState) release() {
	clear(st.parts)
	clear(st.at)
	st.parts, st.at = st.parts[:0], st.at[:0]
	st.topics.reset()
	st.known.reset()
	for i := range st.resp.Topics {
		t := &st.resp.Topics[i]
		clear(t.Partitions)
		t.Topic, t.Partitions = "", t.Partitions[:0]
	}
	st.resp.Topics, st.resp.Brokers = st.resp.Topics[:0], nil
	st.h, st.clientID, st.listener = nil, "", ""
	if cap(st.parts) > 1024 || cap(st.resp.Topics) > 256 {
		return // a giant's state is not worth keeping
	}
	produceStates.Put(st)
}
