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

// fetch answers Fetch (API 1), versions 4-18.
//
// Versions: 4 brings isolation levels, 5 the log start, 7 sessions (KIP-227),
// 9 the current leader epoch, 10 zstd, 11 fetching from followers, 12 is
// flexible and brings diverging epochs, 13 topic ids, 15 the replica's state,
// 16 the current leader's address (KIP-951), 17 and 18 fields between brokers.
//
// Records are not copied: the response is encoded around regions of segment
// files. A fetch that finds too little waits in the purgatory. Operation
// checked: none yet.
//
// Errors of the whole request: FETCH_SESSION_ID_NOT_FOUND,
// INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR, and
// UNKNOWN_SERVER_ERROR for an isolation level that does not exist. By
// partition: UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
// NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
// OFFSET_OUT_OF_RANGE, UNSUPPORTED_COMPRESSION_TYPE (a topic whose
// compression.type is zstd, below version 10), KAFKA_STORAGE_ERROR,
// UNKNOWN_SERVER_ERROR for negative limits.
//
// Where we differ: nowhere that we know of.
func (h *Handlers) fetch(_ context.Context, c *server.Call, req *kmsg.FetchRequest) server.Reply {
	if req.Version < 15 && (req.ReplicaState.ID != -1 || req.ReplicaState.Epoch != -1) {
		return server.CloseConn() // Kafka cannot read a tag that its version does not have
	}
	st := newFetchState(h, c, req)
	if req.IsolationLevel < 0 || req.IsolationLevel > 1 {
		return st.refuseRequest(req)
	}
	if err := h.sessions.Open(req, st.opts.ReplicaID >= 0, &st.fetch); err != nil {
		st.code = err.Code
		return server.NowEncoded(st)
	}
	urgent := st.resolve()
	if wait := h.replicas.Read(st.parts, &st.opts, urgent); wait != nil {
		return server.Later(&fetchWait{DelayedFetch: wait, st: st})
	}
	return st.reply()
}

// fetchWait is a fetch that waits for bytes.
type fetchWait struct {
	*replication.DelayedFetch
	st *fetchState
}

// Reply is called once, after the wake.
func (w *fetchWait) Reply() server.Reply {
	w.Finish()
	return w.st.reply()
}

// options reads what goes for all partitions.
func fetchOptions(req *kmsg.FetchRequest) replication.ReadOptions {
	o := replication.ReadOptions{
		ReplicaID: req.ReplicaID, BrokerEpoch: -1,
		Committed:  req.IsolationLevel == 1,
		AnyReplica: req.Version >= 11,
		MinBytes:   int(req.MinBytes), MaxBytes: int(req.MaxBytes),
		MaxWait: time.Duration(req.MaxWaitMillis) * time.Millisecond,
	}
	if req.Version >= 15 {
		o.ReplicaID, o.BrokerEpoch = req.ReplicaState.ID, req.ReplicaState.Epoch
	}
	return o
}

// resolve finds the partitions to read. urgent tells that one of them has an
// error that Kafka does not let wait.
func (st *fetchState) resolve() (urgent bool) {
	for i := range st.fetch.Targets {
		t := &st.fetch.Targets[i]
		p := st.partition(i)
		st.parts = append(st.parts, replication.FetchPart{
			Partition: p, Offset: t.Offset, MaxBytes: t.MaxBytes, LogStart: t.LogStart,
			CurrentLeaderEpoch: t.CurrentLeaderEpoch, LastFetchedEpoch: t.LastFetchedEpoch,
		})
		st.early = append(st.early, false)
		switch part := &st.parts[i]; {
		case p == nil:
			err := st.h.absent(topicKey{t.Topic, t.TopicID}, st.version >= 13, t.Partition)
			part.Fail(err)
			urgent = urgent || err == kerr.NotLeaderForPartition
			st.early[i] = err != kerr.NotLeaderForPartition
		case st.version < 10 && storesZstd(p):
			part.Partition = nil
			part.Fail(kerr.UnsupportedCompressionType)
			st.early[i], urgent = true, true
		}
	}
	return urgent
}

// partition finds a target's partition, and makes its name our own.
func (st *fetchState) partition(i int) *replication.Partition {
	t := &st.fetch.Targets[i]
	p, ok := t.Handle.(*replication.Partition)
	if !ok || p.Deleted() {
		if st.version >= 13 {
			p = st.h.replicas.PartitionByID(t.TopicID, t.Partition)
		} else {
			p = st.h.replicas.Partition(t.Topic, t.Partition)
		}
	}
	if p == nil {
		t.Handle = nil
		t.Topic = st.ownName(i)
		return nil
	}
	t.Handle, t.Topic = p, p.Topic()
	return p
}

// storesZstd reports whether the topic compresses with zstd, which clients
// below version 10 cannot read.
func storesZstd(p *replication.Partition) bool {
	c := p.Settings().Compression
	return !c.FromProducer && c.Codec == record.Zstd
}
