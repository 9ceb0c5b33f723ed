package handlers

import (
	"context"
	"errors"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/config"
	"barnabas/metadata"
)

// autoCreate creates topics that somebody asked for, with the broker's
// defaults, and notes for each what the client is told: LEADER_NOT_AVAILABLE if it
// is on its way. It does not wait until they are led.
func (h *Handlers) autoCreate(ctx context.Context, s *config.Broker, names []string, codes map[string]*kerr.Error) {
	if len(names) == 0 {
		return
	}
	topics := make([]metadata.NewTopic, len(names))
	for i, name := range names {
		topics[i] = autoTopic(s, name)
	}
	created, err := h.meta.CreateTopics(ctx, topics, 0, false)
	for i, name := range names {
		e := err
		if err == nil {
			e = created[i].Err
		}
		var ke *kerr.Error
		switch {
		case e == nil, errors.Is(e, kerr.RequestTimedOut), errors.Is(e, kerr.TopicAlreadyExists):
			codes[name] = kerr.LeaderNotAvailable
		case errors.As(e, &ke):
			codes[name] = ke
		default:
			codes[name] = kafkaError(e)
		}
	}
}

// autoTopic is a topic as it is created without anybody saying how.
func autoTopic(s *config.Broker, name string) metadata.NewTopic {
	t := metadata.NewTopic{Name: name, Partitions: -1, ReplicationFactor: -1}
	switch name {
	case "__consumer_offsets":
		t.Partitions, t.ReplicationFactor = s.OffsetsPartitions, int32(s.OffsetsReplicationFactor)
		t.Config = map[string]string{
			"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": strconv.Itoa(int(s.OffsetsSegmentBytes)),
		}
	case "__transaction_state":
		t.Partitions, t.ReplicationFactor = s.TransactionPartitions, int32(s.TransactionReplicationFactor)
		t.Config = map[string]string{
			"cleanup.policy": "compact", "compression.type": "uncompressed", "segment.bytes": strconv.Itoa(int(s.TransactionSegmentBytes)),
			"min.insync.replicas": strconv.Itoa(int(s.TransactionMinISR)), "unclean.leader.election.enable": "false",
		}
	}
	return t
}
