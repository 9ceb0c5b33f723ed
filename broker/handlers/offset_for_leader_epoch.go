package handlers

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// offsetForLeaderEpoch answers OffsetForLeaderEpoch (API 23), versions 0-4.
//
// Versions: 1 answers the epoch that was found, 2 brings the client's current
// leader epoch (KIP-320), 3 the replica id, 4 is flexible. Operation checked:
// none yet.
//
// Errors, by partition: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER,
// FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, KAFKA_STORAGE_ERROR. An epoch that
// the log cannot place is no error: epoch -1, offset -1.
//
// Where we differ: nowhere that we know of.
func (h *Handlers) offsetForLeaderEpoch(_ context.Context, _ *server.Call, req *kmsg.OffsetForLeaderEpochRequest) server.Reply {
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	resp.Version = req.Version
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = strings.Clone(t.Topic)
		rt.Partitions = make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			q, a := &t.Partitions[j], &rt.Partitions[j]
			*a = kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			a.Partition = q.Partition
			current := int32(-1)
			if req.Version >= 2 {
				current = q.CurrentLeaderEpoch
			}
			if err := h.epochEnd(rt.Topic, q.LeaderEpoch, current, a); err != nil {
				a.ErrorCode = h.partitionCode(err, "offset for leader epoch")
			}
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return server.Now(resp)
}

func (h *Handlers) epochEnd(topic string, epoch, current int32, a *kmsg.OffsetForLeaderEpochResponseTopicPartition) error {
	p := h.replicas.Partition(topic, a.Partition)
	if p == nil {
		return h.absent(topicKey{name: topic}, false, a.Partition)
	}
	found, end, err := p.EpochEnd(epoch, current)
	a.LeaderEpoch, a.EndOffset = found, end
	return err
}
