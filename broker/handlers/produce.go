package handlers

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/protocol/record"
	"barnabas/replication"
)

// produce answers Produce (API 0), versions 0-13.
//
// Versions: 3 carries record batches and a transactional id, 5 answers the log
// start, 7 allows zstd, 8 answers record errors and an error message (KIP-467),
// 9 is flexible, 10 answers the current leader (KIP-951), 13 names topics by id.
// Versions 0-2 are advertised, or librdkafka stops compressing, but carry
// message sets: UNSUPPORTED_VERSION for each partition until those exist.
//
// Everything is appended before produce returns; acks=all then waits for the
// high watermark. acks=0 has no reply, and closes the connection if anything
// failed. Operation checked: none yet.
//
// Errors of the whole request: TRANSACTIONAL_ID_AUTHORIZATION_FAILED (a
// transactional batch, but no transactional id), CORRUPT_MESSAGE and
// UNKNOWN_SERVER_ERROR (a batch header that makes no sense). By partition:
// UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, INVALID_REQUIRED_ACKS,
// INVALID_TOPIC_EXCEPTION (an internal topic), NOT_LEADER_OR_FOLLOWER,
// NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT,
// KAFKA_STORAGE_ERROR, the sequence errors 45 and 47, and what
// record.ValidateProduce says of the records.
//
// Where we differ: a request with null records is answered (INVALID_RECORD);
// Kafka forgets it. There is no transaction coordinator yet, so a
// transactional batch gets what Kafka says when it cannot reach its own.
func (h *Handlers) produce(_ context.Context, c *server.Call, req *kmsg.ProduceRequest) server.Reply {
	st := newProduceState(h, c, req)
	st.resolve(req)
	wait := h.replicas.Append(st.parts, &replication.AppendOptions{
		Version: req.Version, Acks: req.Acks, Timeout: time.Duration(req.TimeoutMillis) * time.Millisecond,
	})
	if req.Acks == 0 {
		failed := st.failed()
		st.release()
		if failed {
			return server.CloseConn()
		}
		return server.None()
	}
	if wait != nil {
		return server.Later(&produceWait{DelayedProduce: wait, st: st})
	}
	return st.reply()
}

// produceWait is an acks=all produce that waits for its high watermarks.
type produceWait struct {
	*replication.DelayedProduce
	st *produceState
}

// Reply is called once, after the wake.
func (w *produceWait) Reply() server.Reply {
	w.Settle()
	return w.st.reply()
}

// resolve finds the request's partitions and settles those that are not to be
// appended to. A partition that is named twice is one, and its last records
// count, as Kafka has it.
func (st *produceState) resolve(req *kmsg.ProduceRequest) {
	transactional := false
	var whole error
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			part := st.add(t, p.Partition)
			part.Records = p.Records
			if req.Version < 3 || whole != nil {
				continue
			}
			var txn bool
			txn, whole = record.Transactional(p.Records)
			transactional = transactional || txn
		}
	}
	if whole == nil && transactional && req.TransactionID == nil {
		whole = kerr.TransactionalIDAuthorizationFailed
	}
	for i := range st.parts {
		if whole != nil {
			break
		}
		whole = st.admit(i, req)
	}
	if whole != nil {
		for i := range st.parts {
			st.parts[i].Err = nil
			st.refuse(i, whole)
		}
	}
}

// admit decides whether a partition is appended to. What it returns is an error
// of the whole request.
func (st *produceState) admit(i int, req *kmsg.ProduceRequest) error {
	part, at := &st.parts[i], &st.at[i]
	if part.Partition == nil {
		absent := st.h.absent(at.key, st.version >= 13, at.partition)
		if absent != kerr.NotLeaderForPartition {
			st.refuse(i, absent)
			return nil
		}
		defer st.refuse(i, absent) // unless its records are worse
	}
	if req.Version < 3 {
		st.refuse(i, kerr.UnsupportedVersion)
		return nil
	}
	if err := record.CheckForm(part.Records, req.Version); err != nil {
		if wholeRequest(err) {
			return err
		}
		st.refuse(i, err)
		return nil
	}
	switch txn, _ := record.Transactional(part.Records); {
	case req.Acks < -1 || req.Acks > 1:
		st.refuse(i, kerr.InvalidRequiredAcks)
	case isInternalTopic(at.key.name) && st.clientID != adminClientID:
		st.refuse(i, kerr.InvalidTopicException)
	case txn:
		st.refuse(i, &record.Refusal{Err: kerr.NotEnoughReplicas, BeforeLog: true, Message: "Unable to verify the partition " +
			"has been added to the transaction. Underlying error: COORDINATOR_NOT_AVAILABLE"})
	}
	return nil
}
