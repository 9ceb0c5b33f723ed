package handlers

import (
	"context"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// deleteTopics answers DeleteTopics (key 20), versions 0-6.
//
// Version 3 knows TOPIC_DELETION_DISABLED (before it INVALID_REQUEST), 4 is
// flexible, 5 has messages, 6 takes ids (KIP-516).
//
// Errors: UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID; INVALID_REQUEST of the
// whole request if a topic has id and name; TOPIC_AUTHORIZATION_FAILED if it has
// neither, as Kafka has it; REQUEST_TIMED_OUT while the deletion goes on. A topic
// that is named twice is answered twice.
func (h *Handlers) deleteTopics(ctx context.Context, _ *server.Call, req *kmsg.DeleteTopicsRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	resp.Topics = make([]kmsg.DeleteTopicsResponseTopic, 0, max(len(req.Topics), len(req.TopicNames)))
	add := func(name *string, id [16]byte) {
		t := kmsg.NewDeleteTopicsResponseTopic()
		if name != nil {
			t.Topic = kmsg.StringPtr(strings.Clone(*name))
		}
		t.TopicID = id
		resp.Topics = append(resp.Topics, t)
	}
	both := false
	for i := range req.TopicNames {
		add(&req.TopicNames[i], [16]byte{})
	}
	for i := range req.Topics {
		add(req.Topics[i].Topic, req.Topics[i].TopicID)
		both = both || req.Topics[i].Topic != nil && req.Topics[i].TopicID != [16]byte{}
	}
	switch {
	case both:
		failDeletions(resp, kerr.InvalidRequest)
	case !h.static.Bool("delete.topic.enable") && req.Version < 3:
		failDeletions(resp, kerr.InvalidRequest)
	case !h.static.Bool("delete.topic.enable"):
		failDeletions(resp, kerr.TopicDeletionDisabled)
	default:
		h.deleteEach(ctx, resp, time.Duration(req.TimeoutMillis)*time.Millisecond)
	}
	return server.Now(resp)
}

func failDeletions(resp *kmsg.DeleteTopicsResponse, code *kerr.Error) {
	for i := range resp.Topics {
		resp.Topics[i].ErrorCode = code.Code
	}
}

func (h *Handlers) deleteEach(ctx context.Context, resp *kmsg.DeleteTopicsResponse, timeout time.Duration) {
	im := h.meta.Image()
	var names []string
	var slots []int
	for i := range resp.Topics {
		t := &resp.Topics[i]
		switch {
		case t.Topic != nil:
		case t.TopicID == [16]byte{}:
			t.ErrorCode = kerr.TopicAuthorizationFailed.Code
			continue
		default:
			topic := im.TopicByID(t.TopicID)
			if topic == nil {
				t.ErrorCode = kerr.UnknownTopicID.Code
				continue
			}
			t.Topic = &topic.Name
		}
		names, slots = append(names, *t.Topic), append(slots, i)
	}
	if len(names) == 0 {
		return
	}
	failed, err := h.meta.DeleteTopics(ctx, names, timeout)
	for i, slot := range slots {
		e := err
		if err == nil {
			e = failed[i]
		}
		resp.Topics[slot].ErrorCode, resp.Topics[slot].ErrorMessage = h.refusal(e, "deleting topics")
	}
}
