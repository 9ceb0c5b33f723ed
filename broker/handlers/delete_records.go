package handlers

import (
	"context"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/replication"
)

// deleteRecords answers DeleteRecords (API 21), versions 0-2.
//
// Version 1 changes throttling only, 2 is flexible. The offset is the first one
// to keep, -1 the high watermark; one below the log start deletes nothing and
// succeeds. It waits until every replica has followed. Operation checked: none
// yet.
//
// Errors, by partition: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION (an
// internal topic), POLICY_VIOLATION (cleanup.policy without delete),
// OFFSET_OUT_OF_RANGE, NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT.
//
// Where we differ: nowhere that we know of.
func (h *Handlers) deleteRecords(_ context.Context, _ *server.Call, req *kmsg.DeleteRecordsRequest) server.Reply {
	d := newDeletion(h, req)
	if wait := h.replicas.DeleteRecords(d.parts, time.Duration(req.TimeoutMillis)*time.Millisecond); wait != nil {
		return server.Later(&deletionWait{DelayedDelete: wait, d: d})
	}
	return d.reply()
}

// deletion is a DeleteRecords request under way. A partition that is named
// twice is one; its last offset counts.
type deletion struct {
	h     *Handlers
	resp  *kmsg.DeleteRecordsResponse
	parts []replication.DeletePart
	at    []partitionKey // the slot of each part in the response
}

// deletionWait is a deletion that waits for followers.
type deletionWait struct {
	*replication.DelayedDelete
	d *deletion
}

// Reply is called once, after the wake.
func (w *deletionWait) Reply() server.Reply {
	w.Settle()
	return w.d.reply()
}

func newDeletion(h *Handlers, req *kmsg.DeleteRecordsRequest) *deletion {
	d := &deletion{h: h, resp: kmsg.NewPtrDeleteRecordsResponse()}
	d.resp.Version = req.Version
	var topics places[string]
	var known places[partitionKey]
	for i := range req.Topics {
		t := &req.Topics[i]
		n, again := topics.of(t.Topic)
		if !again {
			rt := kmsg.NewDeleteRecordsResponseTopic()
			rt.Topic = strings.Clone(t.Topic)
			d.resp.Topics = append(d.resp.Topics, rt)
		}
		rt := &d.resp.Topics[n]
		for _, p := range t.Partitions {
			at, again := known.of(partitionKey{int32(n), p.Partition})
			if !again {
				rp := kmsg.NewDeleteRecordsResponseTopicPartition()
				rp.Partition = p.Partition
				rt.Partitions = append(rt.Partitions, rp)
				d.parts = append(d.parts, d.part(rt.Topic, p.Partition))
				d.at = append(d.at, partitionKey{int32(n), int32(len(rt.Partitions) - 1)})
			}
			d.parts[at].Offset = p.Offset
		}
	}
	return d
}

func (d *deletion) part(topic string, partition int32) (part replication.DeletePart) {
	switch p := d.h.replicas.Partition(topic, partition); {
	case p == nil:
		part.Fail(d.h.absent(topicKey{name: topic}, false, partition))
	case isInternalTopic(topic):
		part.Fail(kerr.InvalidTopicException)
	default:
		part.Partition = p
	}
	return part
}

func (d *deletion) reply() server.Reply {
	for i := range d.parts {
		part, at := &d.parts[i], d.at[i]
		rp := &d.resp.Topics[at.topic].Partitions[at.partition]
		rp.LowWatermark = part.LowWatermark
		if part.Err != nil {
			rp.ErrorCode = d.h.partitionCode(part.Err, "delete records")
		}
	}
	return server.Now(d.resp)
}
