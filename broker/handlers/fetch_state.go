package handlers

import (
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/fetchsession"
	"barnabas/broker/server"
	"barnabas/replication"
)

// fetchState is what one Fetch request needs until its response is encoded. It
// is pooled; whoever made the reply from it must not touch it any more.
type fetchState struct {
	h        *Handlers
	listener string
	version  int16
	opts     replication.ReadOptions

	fetch fetchsession.Fetch
	parts []replication.FetchPart // one a target
	early []bool                  // of each part: its error was found before the replica was asked
	out   []fetchsession.Outcome

	code      int16 // of the whole response
	sessionID int32
	order     []int32 // parts in the response, in its order
	brokers   []leaderHint
	null      bool // records are null, not empty
}

var fetchStates = sync.Pool{New: func() any { return new(fetchState) }}

func newFetchState(h *Handlers, c *server.Call, req *kmsg.FetchRequest) *fetchState {
	st := fetchStates.Get().(*fetchState)
	st.h, st.listener, st.version, st.opts = h, c.Listener, req.Version, fetchOptions(req)
	return st
}

// ownName gives a target's topic as a string that outlives the request. Runs of
// one topic share it.
func (st *fetchState) ownName(i int) string {
	t := &st.fetch.Targets[i]
	if i > 0 && st.fetch.Targets[i-1].Topic == t.Topic {
		return st.fetch.Targets[i-1].Topic
	}
	return strings.Clone(t.Topic)
}

// refuseRequest answers every partition with UNKNOWN_SERVER_ERROR, as Kafka
// does when it cannot read a request's options.
func (st *fetchState) refuseRequest(req *kmsg.FetchRequest) server.Reply {
	st.code, st.null = kerr.UnknownServerError.Code, true
	if req.Version >= 13 {
		return server.NowEncoded(st)
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			n := len(st.parts)
			st.fetch.Targets = append(st.fetch.Targets, fetchsession.Target{Topic: t.Topic, Partition: t.Partitions[j].Partition})
			st.fetch.Targets[n].Topic = st.ownName(n)
			st.parts, st.early = append(st.parts, replication.FetchPart{}), append(st.early, true)
			st.parts[n].Fail(kerr.UnknownServerError)
			st.order = append(st.order, int32(n))
		}
	}
	return server.NowEncoded(st)
}

// reply ends the fetch: what is told, in which order. Partitions whose error
// was found before the replica was asked come last.
func (st *fetchState) reply() server.Reply {
	failed := 0
	for i := range st.parts {
		p := &st.parts[i]
		st.out = append(st.out, fetchsession.Outcome{
			Failed: p.Err != nil, Diverging: p.DivergingEnd >= 0,
			HW: p.HighWatermark, LogStart: p.LogStartOffset, Bytes: p.Bytes(),
		})
		if st.early[i] {
			failed++
		}
		if st.opts.ReplicaID < 0 && p.Region != nil {
			p.Partition.Sent(p.Region.Len())
		}
	}
	st.sessionID = st.fetch.Finish(st.out)
	for pass := range 2 {
		for i := range st.out {
			if st.out[i].Include && st.early[i] == (pass == 1) {
				st.order = append(st.order, int32(i))
			}
		}
		if failed == 0 {
			break
		}
	}
	return server.NowEncoded(st)
}

// Encode writes the response and gives the state back.
func (st *fetchState) Encode(o *server.Out) {
	st.encode(o)
	st.release()
}

func (st *fetchState) release() {
	giant := cap(st.parts) > 4096
	st.fetch.Reset()
	clear(st.parts)
	clear(st.brokers)
	*st = fetchState{
		fetch: st.fetch, parts: st.parts[:0], early: st.early[:0], out: st.out[:0],
		order: st.order[:0], brokers: st.brokers[:0],
	}
	if !giant {
		fetchStates.Put(st)
	}
}
