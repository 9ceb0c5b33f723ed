package handlers

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/metadata/controller"
	"barnabas/metadata/image"
)

// describeTopicPartitions answers DescribeTopicPartitions (key 75), version 0
// (KIP-966), which Kafka 3.9 has in KRaft mode only.
//
// Topics come by name, each once; none asks for all. A page ends after the
// partitions that the client or max.request.partition.size.limit allows, at least
// one; the next one begins at the cursor.
//
// Errors: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION; INVALID_REQUEST of
// all topics for a cursor at a negative partition or at a topic not asked for. Of
// partitions LEADER_NOT_AVAILABLE and LISTENER_NOT_FOUND.
func (h *Handlers) describeTopicPartitions(_ context.Context, c *server.Call, req *kmsg.DescribeTopicPartitionsRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	im := h.meta.Image()
	names, ok := describedNames(im, req)
	if !ok {
		for i := range req.Topics {
			t := describedTopic(strings.Clone(req.Topics[i].Topic))
			t.ErrorCode, t.AuthorizedOperations = kerr.InvalidRequest.Code, math.MinInt32
			resp.Topics = append(resp.Topics, t)
		}
		return server.Now(resp)
	}
	limit := h.static.BrokerAt(h.configs().dynamic()).DescribePartitions
	left := int(max(min(req.ResponsePartitionLimit, limit), 1))
	for name := range names {
		if left == 0 {
			resp.NextCursor = describeCursor(name, 0)
			break
		}
		first := 0
		if req.Cursor != nil && req.Cursor.Topic == name {
			first = int(req.Cursor.Partition)
		}
		t, next := describePage(im, name, c.Listener, first, left)
		resp.Topics = append(resp.Topics, t)
		if next >= 0 {
			resp.NextCursor = describeCursor(name, int32(next))
			break
		}
		left -= len(t.Partitions)
	}
	return server.Now(resp)
}

// describedNames are the topics asked for from the cursor on, by name; ok is
// false for a cursor that is none.
func describedNames(im *image.Image, req *kmsg.DescribeTopicPartitionsRequest) (names iter.Seq[string], ok bool) {
	from := ""
	if req.Cursor != nil {
		from = req.Cursor.Topic
		if req.Cursor.Partition < 0 {
			return nil, false
		}
	}
	if len(req.Topics) == 0 {
		return func(yield func(string) bool) {
			for t := range im.TopicsFrom(from) {
				if !yield(t.Name) {
					return
				}
			}
		}, true
	}
	var asked []string
	for i := range req.Topics {
		if req.Topics[i].Topic >= from {
			asked = append(asked, strings.Clone(req.Topics[i].Topic))
		}
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if _, found := slices.BinarySearch(asked, from); req.Cursor != nil && !found {
		return nil, false
	}
	return slices.Values(asked), true
}

func describedTopic(name string) kmsg.DescribeTopicPartitionsResponseTopic {
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.IsInternal = &name, isInternalTopic(name)
	t.AuthorizedOperations = topicOperations
	t.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	return t
}

func describeCursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	return &c
}

// describePage describes at most limit partitions of a topic; next is where to
// go on, -1 if that was all.
func describePage(im *image.Image, name, listener string, first, limit int) (out kmsg.DescribeTopicPartitionsResponseTopic, next int) {
	out = describedTopic(name)
	t := im.Topic(name)
	switch {
	case controller.CheckName(name) != nil:
		out.ErrorCode = kerr.InvalidTopicException.Code
		return out, -1
	case t == nil:
		out.ErrorCode = kerr.UnknownTopicOrPartition.Code
		return out, -1
	}
	out.TopicID = t.ID
	end := min(first+limit, len(t.Partitions))
	for n := first; n < end; n++ {
		p := &t.Partitions[n]
		if !p.Known() {
			continue
		}
		o := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		o.Partition, o.LeaderID, o.LeaderEpoch = int32(n), p.Leader, p.LeaderEpoch
		o.Replicas, o.ISR, o.OfflineReplicas = p.Replicas, p.ISR, p.Offline
		o.EligibleLeaderReplicas, o.LastKnownELR = []int32{}, []int32{}
		if code := leaderProblem(im, p.Leader, listener); code != nil {
			o.ErrorCode, o.LeaderID = code.Code, -1
		}
		out.Partitions = append(out.Partitions, o)
	}
	if end < len(t.Partitions) {
		return out, end
	}
	return out, -1
}
