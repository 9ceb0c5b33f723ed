package handlers

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/broker/server"
	"barnabas/replication"
)

// The Fetch response is encoded by hand, because its records stay in their
// files: the server is given what comes before a region, the region, and goes
// on. Everything else is as kmsg.FetchResponse encodes it, which the tests hold
// it against at every version.
//
//	throttle_time_ms int32
//	error_code int16, session_id int32                       from 7
//	topics: array of
//	  topic string                                           to 12
//	  topic_id uuid                                          from 13
//	  partitions: array of
//	    partition_index int32, error_code int16
//	    high_watermark int64, last_stable_offset int64
//	    log_start_offset int64                               from 5
//	    aborted_transactions: nullable array
//	    preferred_read_replica int32                         from 11
//	    records: nullable bytes
//	    tags: 0 diverging_epoch, 1 current_leader            from 12
//	  tags                                                   from 12
//	tags: 0 node_endpoints                                   from 12
//
// From version 12 on lengths are unsigned varints of the length plus one.

// encode writes the body. It hands every region to o, which releases it.
func (st *fetchState) encode(o *server.Out) {
	o.Buf = binary.BigEndian.AppendUint32(o.Buf, 0) // throttle time
	if st.version >= 7 {
		o.Error(st.code)
		o.Buf = binary.BigEndian.AppendUint16(o.Buf, uint16(st.code))
		o.Buf = binary.BigEndian.AppendUint32(o.Buf, uint32(st.sessionID))
	}
	o.Buf = st.length(o.Buf, st.runs())
	for i := 0; i < len(st.order); {
		n := st.run(i)
		t := &st.fetch.Targets[st.order[i]]
		if st.version >= 13 {
			o.Buf = append(o.Buf, t.TopicID[:]...)
		} else {
			o.Buf = st.text(o.Buf, t.Topic)
		}
		o.Buf = st.length(o.Buf, n)
		for _, part := range st.order[i : i+n] {
			st.encodePart(o, int(part))
		}
		if st.flexible() {
			o.Buf = append(o.Buf, 0)
		}
		i += n
	}
	if st.flexible() {
		o.Buf = st.encodeBrokers(o.Buf)
	}
}

func (st *fetchState) flexible() bool { return st.version >= 12 }

// run is how many parts from i on are of the same topic.
func (st *fetchState) run(i int) int {
	first := &st.fetch.Targets[st.order[i]]
	n := 1
	for i+n < len(st.order) {
		t := &st.fetch.Targets[st.order[i+n]]
		if t.TopicID != first.TopicID || st.version < 13 && t.Topic != first.Topic {
			break
		}
		n++
	}
	return n
}

func (st *fetchState) runs() (n int) {
	for i := 0; i < len(st.order); i += st.run(i) {
		n++
	}
	return n
}

func (st *fetchState) encodePart(o *server.Out, i int) {
	p := &st.parts[i]
	var code int16
	if p.Err != nil {
		code = st.h.partitionCode(p.Err, "fetch")
		o.Error(code)
	}
	b := o.Buf
	b = binary.BigEndian.AppendUint32(b, uint32(st.fetch.Targets[i].Partition))
	b = binary.BigEndian.AppendUint16(b, uint16(code))
	b = binary.BigEndian.AppendUint64(b, uint64(p.HighWatermark))
	b = binary.BigEndian.AppendUint64(b, uint64(p.StableOffset))
	if st.version >= 5 {
		b = binary.BigEndian.AppendUint64(b, uint64(p.LogStartOffset))
	}
	// Nothing is aborted while there are no transactions. Kafka answers null
	// to a reader of uncommitted records, but for errors found early.
	if st.early[i] || st.opts.Committed && p.Err == nil {
		b = st.length(b, 0)
	} else {
		b = st.length(b, -1)
	}
	if st.version >= 11 {
		b = binary.BigEndian.AppendUint32(b, ^uint32(0)) // preferred read replica: stay here
	}
	switch {
	case p.Region != nil:
		o.Buf = st.length(b, p.Region.Len())
		o.Region(p.Region)
		p.Region = nil
		b = o.Buf
	case st.null:
		b = st.length(b, -1)
	default:
		b = st.length(b, 0)
	}
	if st.flexible() {
		b = st.encodePartTags(b, i, p, code)
	}
	o.Buf = b
}

func (st *fetchState) encodePartTags(b []byte, i int, p *replication.FetchPart, code int16) []byte {
	hint, hinted := leaderHint{}, false
	if st.version >= 16 && (code == kerr.NotLeaderForPartition.Code || code == kerr.FencedLeaderEpoch.Code) {
		t := &st.fetch.Targets[i]
		if hint, hinted = st.h.leaderHint(st.listener, t.Topic, t.Partition); hinted && hint.known {
			st.addBroker(hint)
		}
	}
	tags := byte(0)
	if p.DivergingEnd >= 0 {
		tags++
	}
	if hinted {
		tags++
	}
	b = append(b, tags)
	if p.DivergingEnd >= 0 {
		b = append(b, 0, 4+8+1) // tag, size
		b = binary.BigEndian.AppendUint32(b, uint32(p.DivergingEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(p.DivergingEnd))
		b = append(b, 0)
	}
	if hinted {
		b = append(b, 1, 4+4+1)
		b = binary.BigEndian.AppendUint32(b, uint32(hint.leader))
		b = binary.BigEndian.AppendUint32(b, uint32(hint.epoch))
		b = append(b, 0)
	}
	return b
}

func (st *fetchState) addBroker(hint leaderHint) {
	for i := range st.brokers {
		if st.brokers[i].leader == hint.leader {
			return
		}
	}
	st.brokers = append(st.brokers, hint)
}

// encodeBrokers writes the response's tags.
func (st *fetchState) encodeBrokers(b []byte) []byte {
	if len(st.brokers) == 0 {
		return append(b, 0)
	}
	var body []byte
	body = st.length(body, len(st.brokers))
	for i := range st.brokers {
		h := &st.brokers[i]
		body = binary.BigEndian.AppendUint32(body, uint32(h.leader))
		body = st.text(body, h.host)
		body = binary.BigEndian.AppendUint32(body, uint32(h.port))
		if h.rack == nil {
			body = append(body, 0)
		} else {
			body = st.text(body, *h.rack)
		}
		body = append(body, 0)
	}
	b = append(b, 1, 0)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

// length writes the length of an array or of bytes; -1 is null.
func (st *fetchState) length(b []byte, n int) []byte {
	if st.flexible() {
		return binary.AppendUvarint(b, uint64(n+1))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func (st *fetchState) text(b []byte, s string) []byte {
	if st.flexible() {
		b = binary.AppendUvarint(b, uint64(len(s)+1))
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	}
	return append(b, s...)
}
