package handlers

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/metadata"
	"barnabas/metadata/controller"
)

// createTopics answers CreateTopics (key 19), versions 0-7.
//
// Version 1 adds messages and validate_only, 4 the broker's defaults as -1
// (which we take in every version, as Kafka does), 5 answers how the topic was
// made, with its settings (KIP-525), and is flexible, 7 its id.
//
// Errors, in this order: INVALID_REQUEST (KRaft's own topic; named more than
// once, and answered as often), TOPIC_ALREADY_EXISTS,
// INVALID_CONFIG (null value), INVALID_REQUEST (counts and assignment),
// INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_TOPIC_EXCEPTION,
// INVALID_REPLICA_ASSIGNMENT, INVALID_CONFIG. REQUEST_TIMED_OUT says that the
// topic was created, but its partitions have no leaders yet.
func (h *Handlers) createTopics(ctx context.Context, _ *server.Call, req *kmsg.CreateTopicsRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Topics = make([]kmsg.CreateTopicsResponseTopic, 0, len(req.Topics))
	times := make(map[string]int, len(req.Topics))
	for i := range req.Topics {
		times[req.Topics[i].Topic]++
	}
	var topics []metadata.NewTopic
	var slots []int // in the answer
	for i := range req.Topics {
		asked := &req.Topics[i]
		out := kmsg.NewCreateTopicsResponseTopic()
		out.Topic = strings.Clone(asked.Topic)
		out.NumPartitions, out.ReplicationFactor = -1, -1
		out.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		switch {
		case asked.Topic == clusterMetadataTopic:
			out.ErrorCode, out.ErrorMessage = kerr.InvalidRequest.Code, kmsg.StringPtr("Creation of internal topic "+clusterMetadataTopic+" is prohibited.")
		case times[asked.Topic] > 1:
			out.ErrorCode, out.ErrorMessage = kerr.InvalidRequest.Code, kmsg.StringPtr("Found multiple entries for this topic.")
		default:
			topics = append(topics, newTopicOf(asked, out.Topic))
			slots = append(slots, len(resp.Topics))
		}
		resp.Topics = append(resp.Topics, out)
	}
	if len(topics) == 0 {
		return server.Now(resp)
	}
	created, err := h.meta.CreateTopics(ctx, topics, time.Duration(req.TimeoutMillis)*time.Millisecond, req.ValidateOnly && req.Version > 0)
	for i, slot := range slots {
		out := &resp.Topics[slot]
		if err != nil {
			out.ErrorCode, out.ErrorMessage = h.refusal(err, "creating topics")
			continue
		}
		h.fillCreated(out, &topics[i], &created[i])
	}
	return server.Now(resp)
}

// clusterMetadataTopic is the log of KRaft's controllers, which nobody creates.
const clusterMetadataTopic = "__cluster_metadata"

func newTopicOf(asked *kmsg.CreateTopicsRequestTopic, name string) metadata.NewTopic {
	t := metadata.NewTopic{Name: name, Partitions: asked.NumPartitions, ReplicationFactor: int32(asked.ReplicationFactor)}
	if len(asked.ReplicaAssignment) > 0 {
		t.Assignment = make(map[int32][]int32, len(asked.ReplicaAssignment))
		for i := range asked.ReplicaAssignment {
			a := &asked.ReplicaAssignment[i]
			t.Assignment[a.Partition] = append([]int32{}, a.Replicas...)
		}
	}
	if len(asked.Configs) > 0 {
		t.Config = make(map[string]string, len(asked.Configs))
	}
	for i := range asked.Configs {
		key := strings.Clone(asked.Configs[i].Name)
		if v := asked.Configs[i].Value; v != nil {
			t.Config[key] = strings.Clone(*v)
		} else {
			t.NullConfigs = append(t.NullConfigs, key)
		}
	}
	return t
}

func (h *Handlers) fillCreated(out *kmsg.CreateTopicsResponseTopic, t *metadata.NewTopic, c *metadata.CreatedTopic) {
	out.TopicID = c.ID
	out.ErrorCode, out.ErrorMessage = h.refusal(c.Err, "creating topics")
	if c.Err != nil {
		return
	}
	out.NumPartitions, out.ReplicationFactor = c.Partitions, int16(c.ReplicationFactor)
	for _, e := range h.static.DescribeTopic(h.configs().dynamic(), t.Config) {
		cfg := kmsg.NewCreateTopicsResponseTopicConfig()
		cfg.Name, cfg.Value, cfg.ReadOnly = e.Name, e.Value, e.ReadOnly
		cfg.Source, cfg.IsSensitive = int8(e.Source), e.Sensitive
		out.Configs = append(out.Configs, cfg)
	}
}

// refusal is the code and message of what metadata did not do.
func (h *Handlers) refusal(err error, doing string) (int16, *string) {
	var r *controller.Refusal
	if errors.As(err, &r) && r.Message != "" {
		return r.Code.Code, &r.Message
	}
	return h.errorCode(err, doing), nil
}
