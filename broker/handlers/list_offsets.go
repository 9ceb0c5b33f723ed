package handlers

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/replication"
)

// listOffsets answers ListOffsets (API 2), versions 0-11.
//
// Versions: 0 answers a list of segment bases, 1 one offset by time (KIP-79), 2
// brings isolation levels, 4 leader epochs, 5 OFFSET_NOT_AVAILABLE, 6 is
// flexible, 7 asks for the highest timestamp (-3), 8 for the local log start
// (-4), 9 for what is tiered (-5), 10 brings a timeout, 11 asks for what is to
// be tiered (-6), which Kafka 4.4 does not answer either without tiers.
// Operation checked: none yet.
//
// Errors, by partition: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER,
// FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE (below
// version 5: LEADER_NOT_AVAILABLE), UNSUPPORTED_VERSION for a special timestamp
// that the version does not have, INVALID_REQUEST for a partition named twice,
// UNKNOWN_SERVER_ERROR for an isolation level that does not exist.
//
// Where we differ: lookups read the disk on the connection's goroutine and are
// never late, so the timeout has nothing to end.
func (h *Handlers) listOffsets(_ context.Context, _ *server.Call, req *kmsg.ListOffsetsRequest) server.Reply {
	resp := kmsg.NewPtrListOffsetsResponse()
	resp.Version = req.Version
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = strings.Clone(t.Topic)
		twice := repeated(t)
		rt.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			q, a := &t.Partitions[j], &rt.Partitions[j]
			*a = kmsg.NewListOffsetsResponseTopicPartition()
			a.Partition = q.Partition
			if req.Version > 0 && twice[q.Partition] {
				a.ErrorCode = kerr.InvalidRequest.Code
				continue
			}
			if err := h.listOffset(req, rt.Topic, q, a); err != nil {
				a.ErrorCode = h.partitionCode(err, "list offsets")
			}
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return server.Now(resp)
}

// repeated tells which partitions a topic names more than once.
func repeated(t *kmsg.ListOffsetsRequestTopic) map[int32]bool {
	if len(t.Partitions) < 2 {
		return nil
	}
	var seen places[int32]
	var twice map[int32]bool
	for j := range t.Partitions {
		p := t.Partitions[j].Partition
		if _, again := seen.of(p); again {
			if twice == nil {
				twice = make(map[int32]bool)
			}
			twice[p] = true
		}
	}
	return twice
}

// lowestVersion is the first version that knows a special timestamp.
func lowestVersion(timestamp int64) int16 {
	switch timestamp {
	case replication.Latest, replication.Earliest:
		return 0
	case replication.MaxTimestamp:
		return 7
	case replication.EarliestLocal:
		return 8
	case replication.LatestTiered:
		return 9
	}
	if timestamp >= 0 {
		return 0
	}
	return 1<<15 - 1
}

func (h *Handlers) listOffset(req *kmsg.ListOffsetsRequest, topic string, q *kmsg.ListOffsetsRequestTopicPartition, a *kmsg.ListOffsetsResponseTopicPartition) error {
	if req.Version >= 2 && (req.IsolationLevel < 0 || req.IsolationLevel > 1) {
		return kerr.UnknownServerError
	}
	p := h.replicas.Partition(topic, q.Partition)
	if p == nil {
		return h.absent(topicKey{name: topic}, false, q.Partition)
	}
	if req.Version < lowestVersion(q.Timestamp) {
		return kerr.UnsupportedVersion
	}
	query := replication.OffsetQuery{
		Timestamp: q.Timestamp, CurrentLeaderEpoch: -1, Committed: req.IsolationLevel == 1,
		ToLogEnd: req.ReplicaID != -1, AnyReplica: req.ReplicaID == -2,
	}
	if req.Version >= 4 {
		query.CurrentLeaderEpoch = q.CurrentLeaderEpoch
	}
	if req.Version == 0 {
		offsets, err := p.ListSegments(q.Timestamp, int(q.MaxNumOffsets), &query)
		a.OldStyleOffsets = offsets
		return err
	}
	answer, err := p.ListOffset(&query)
	if err == kerr.OffsetNotAvailable && req.Version < 5 {
		return kerr.LeaderNotAvailable
	}
	a.Offset, a.Timestamp = answer.Offset, answer.Timestamp
	if req.Version >= 4 {
		a.LeaderEpoch = answer.LeaderEpoch
	}
	return err
}
