package handlers

import (
	"context"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/metadata"
)

// createPartitions answers CreatePartitions (key 37), versions 0-3 (KIP-195).
//
// Version 2 is flexible; 1 and 3 change nothing here.
//
// Errors: INVALID_REQUEST (named twice; answered once), INVALID_TOPIC_EXCEPTION
// (queued for deletion), UNKNOWN_TOPIC_OR_PARTITION, REASSIGNMENT_IN_PROGRESS,
// INVALID_PARTITIONS, INVALID_REPLICA_ASSIGNMENT; REQUEST_TIMED_OUT if the new
// partitions are there but not led yet; an empty name is UNKNOWN_SERVER_ERROR, as
// Kafka has it.
func (h *Handlers) createPartitions(ctx context.Context, _ *server.Call, req *kmsg.CreatePartitionsRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	resp.Topics = make([]kmsg.CreatePartitionsResponseTopic, 0, len(req.Topics))
	times := make(map[string]int, len(req.Topics))
	for i := range req.Topics {
		times[req.Topics[i].Topic]++
	}
	var growths []metadata.Growth
	var slots []int
	for i := range req.Topics {
		asked := &req.Topics[i]
		n := times[asked.Topic]
		if n == 0 {
			continue
		}
		times[asked.Topic] = 0
		out := kmsg.NewCreatePartitionsResponseTopic()
		out.Topic = strings.Clone(asked.Topic)
		switch {
		case n > 1:
			out.ErrorCode, out.ErrorMessage = kerr.InvalidRequest.Code, kmsg.StringPtr("Duplicate topic in request.")
		case out.Topic == "":
			out.ErrorCode = kerr.UnknownServerError.Code
		default:
			growths, slots = append(growths, growthOf(asked, out.Topic)), append(slots, len(resp.Topics))
		}
		resp.Topics = append(resp.Topics, out)
	}
	if len(growths) == 0 {
		return server.Now(resp)
	}
	failed, err := h.meta.CreatePartitions(ctx, growths, time.Duration(req.TimeoutMillis)*time.Millisecond, req.ValidateOnly)
	for i, slot := range slots {
		e := err
		if err == nil {
			e = failed[i]
		}
		resp.Topics[slot].ErrorCode, resp.Topics[slot].ErrorMessage = h.refusal(e, "creating partitions")
	}
	return server.Now(resp)
}

func growthOf(asked *kmsg.CreatePartitionsRequestTopic, name string) metadata.Growth {
	g := metadata.Growth{Topic: name, Count: asked.Count}
	if asked.Assignment != nil { // an empty list is one with nothing in it, not a wish to have them chosen
		g.Assignment = make([][]int32, 0, len(asked.Assignment))
	}
	for i := range asked.Assignment {
		g.Assignment = append(g.Assignment, append([]int32{}, asked.Assignment[i].Replicas...))
	}
	return g
}
