package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// coordinatorTypes is how many kinds of coordinator a version knows: groups,
// from version 1 transactions, from version 6 share groups.
func coordinatorTypes(version int16) int8 {
	switch {
	case version >= 6:
		return 3
	case version >= 1:
		return 2
	}
	return 1
}

// findCoordinator answers FindCoordinator (10), versions 0 to 6: 1 adds the kind
// of key, 3 is flexible, 4 asks for many keys (KIP-699), 6 knows share groups.
//
// INVALID_REQUEST for a kind that the version does not know (version 0 has none
// to be wrong). Everything else is COORDINATOR_NOT_AVAILABLE, which clients
// repeat: there are no coordinators yet. As in Kafka, asking creates the topic
// that the coordinators will keep their state in.
func (h *Handlers) findCoordinator(ctx context.Context, c *server.Call, req *kmsg.FindCoordinatorRequest) server.Reply {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	failure := kerr.CoordinatorNotAvailable
	if kind := req.CoordinatorType; c.Version > 0 && (kind < 0 || kind >= coordinatorTypes(c.Version)) {
		failure = kerr.InvalidRequest
	} else {
		h.createInternal(ctx, kind)
	}
	if c.Version >= 4 {
		for _, key := range req.CoordinatorKeys {
			one := kmsg.NewFindCoordinatorResponseCoordinator()
			one.Key, one.NodeID, one.Port = key, -1, -1
			one.ErrorCode, one.ErrorMessage = failure.Code, kmsg.StringPtr(failure.Description)
			resp.Coordinators = append(resp.Coordinators, one)
		}
		return server.Now(resp)
	}
	resp.NodeID, resp.Port = -1, -1
	resp.ErrorCode, resp.ErrorMessage = failure.Code, kmsg.StringPtr(failure.Description)
	return server.Now(resp)
}

// createInternal creates the topic of a kind of coordinator if it is missing.
// What goes wrong is the next request's to find out.
func (h *Handlers) createInternal(ctx context.Context, kind int8) {
	name := "__consumer_offsets"
	switch kind {
	case 0:
	case 1:
		name = "__transaction_state"
	default:
		return
	}
	if h.meta.Image().Topic(name) != nil {
		return
	}
	settings := h.static.BrokerAt(h.configs().dynamic())
	h.autoCreate(ctx, &settings, []string{name}, make(map[string]*kerr.Error, 1))
}
