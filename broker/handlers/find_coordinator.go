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
// repeat: there are no coordinators yet.
func (h *Handlers) findCoordinator(_ context.Context, c *server.Call, req *kmsg.FindCoordinatorRequest) server.Reply {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	failure := kerr.CoordinatorNotAvailable
	if kind := req.CoordinatorType; c.Version > 0 && (kind < 0 || kind >= coordinatorTypes(c.Version)) {
		failure = kerr.InvalidRequest
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
