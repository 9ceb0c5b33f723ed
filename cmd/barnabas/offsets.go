package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What ListOffsets is asked for. A consumer's "latest" is the high watermark;
// the debugging replica's is the log end offset.
const (
	latest         = -1
	earliest       = -2
	asConsumer     = -1
	asDebugReplica = -2
)

// fillOffsets asks every leader for the low watermark, high watermark and log
// end offset of its partitions, one request for each of the three.
func fillOffsets(ctx context.Context, cl *kgo.Client, topics []describedTopic) {
	byLeader := map[int32]map[string][]*describedPartition{}
	for i := range topics {
		for j := range topics[i].Partitions {
			p := &topics[i].Partitions[j]
			if p.Leader < 0 {
				continue
			}
			if byLeader[p.Leader] == nil {
				byLeader[p.Leader] = map[string][]*describedPartition{}
			}
			byLeader[p.Leader][topics[i].Topic] = append(byLeader[p.Leader][topics[i].Topic], p)
		}
	}
	for leader, partitions := range byLeader {
		broker := cl.Broker(int(leader))
		listOffsets(ctx, broker, offsetQuestion{asConsumer, earliest, func(p *describedPartition) **int64 { return &p.LowWatermark }}, partitions)
		listOffsets(ctx, broker, offsetQuestion{asConsumer, latest, func(p *describedPartition) **int64 { return &p.HighWatermark }}, partitions)
		listOffsets(ctx, broker, offsetQuestion{asDebugReplica, latest, func(p *describedPartition) **int64 { return &p.LogEndOffset }}, partitions)
	}
}

// offsetQuestion is one ListOffsets request and where its answers go.
type offsetQuestion struct {
	replicaID int32
	timestamp int64
	field     func(*describedPartition) **int64
}

// listOffsets asks one broker one question about the partitions it leads. A
// partition that it has no answer for gets the reason.
func listOffsets(ctx context.Context, broker *kgo.Broker, q offsetQuestion, partitions map[string][]*describedPartition) {
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = q.replicaID
	waiting := map[string]map[int32]*describedPartition{}
	for _, topic := range sortedKeys(partitions) {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		waiting[topic] = map[int32]*describedPartition{}
		for _, p := range partitions[topic] {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p.Partition, q.timestamp
			t.Partitions = append(t.Partitions, rp)
			waiting[topic][p.Partition] = p
		}
		request.Topics = append(request.Topics, t)
	}
	answer, err := broker.RetriableRequest(ctx, request)
	if err != nil {
		for _, ps := range partitions {
			for _, p := range ps {
				p.Error = err.Error()
			}
		}
		return
	}
	for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
		for _, rp := range t.Partitions {
			p := waiting[t.Topic][rp.Partition]
			if p == nil {
				continue
			}
			if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
				p.Error = err.Error()
				continue
			}
			offset := rp.Offset
			*q.field(p) = &offset
		}
	}
}
