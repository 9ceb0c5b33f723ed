package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

// initProducerID answers InitProducerId (key 22), versions 0-5 (KIP-98).
//
// Version 2 is flexible, 3 takes the producer's id and epoch so far (KIP-360), 4
// and 5 know more errors.
//
// Errors: INVALID_REQUEST (an empty transactional id; an id without an epoch or
// the other way round), INVALID_TRANSACTION_TIMEOUT.
//
// Where we differ: a transactional id is COORDINATOR_NOT_AVAILABLE until there
// are transactions.
func (h *Handlers) initProducerID(ctx context.Context, _ *server.Call, req *kmsg.InitProducerIDRequest) server.Reply {
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if code := h.initProblem(req); code != nil {
		resp.ErrorCode = code.Code
		return server.Now(resp)
	}
	id, err := h.meta.NextProducerID(ctx)
	if err != nil {
		resp.ErrorCode = h.errorCode(err, "claiming producer ids")
		return server.Now(resp)
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return server.Now(resp)
}

func (h *Handlers) initProblem(req *kmsg.InitProducerIDRequest) *kerr.Error {
	switch {
	case req.Version >= 3 && (req.ProducerID == -1) != (req.ProducerEpoch == -1):
		return kerr.InvalidRequest
	case req.TransactionalID == nil:
		return nil
	case *req.TransactionalID == "":
		return kerr.InvalidRequest
	case req.TransactionTimeoutMillis <= 0 || int64(req.TransactionTimeoutMillis) > h.static.Int("transaction.max.timeout.ms"):
		return kerr.InvalidTransactionTimeout
	}
	return kerr.CoordinatorNotAvailable
}
