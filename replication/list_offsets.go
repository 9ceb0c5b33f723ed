package replication

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/internal/clock"
	"barnabas/replication/partition"
)

// The timestamps of ListOffsets that are none.
const (
	// Latest asks for the end of what the caller may see.
	Latest int64 = -1 - iota
	// Earliest asks for the log start.
	Earliest
	// MaxTimestamp asks for the record with the highest timestamp.
	MaxTimestamp
	// EarliestLocal asks for the start of what is on local disks: without
	// tiered storage the log start.
	EarliestLocal
	// LatestTiered asks for the end of what is in tiered storage: there is none.
	LatestTiered
)

// OffsetQuery is one partition of a ListOffsets request.
type OffsetQuery struct {
	// Timestamp in milliseconds, or one of the constants.
	Timestamp int64
	// CurrentLeaderEpoch is checked unless it is -1.
	CurrentLeaderEpoch int32
	// Committed is isolation level read_committed; ToLogEnd is set for
	// brokers, which see everything.
	Committed, ToLogEnd bool
	// AnyReplica lets a follower answer (replica id -2, a debugging consumer).
	AnyReplica bool
}

// OffsetAnswer is its answer; -1 in every field where there is none.
type OffsetAnswer struct {
	Offset, Timestamp int64
	LeaderEpoch       int32
}

// NoOffset is the answer that there is no such record.
func NoOffset() OffsetAnswer { return OffsetAnswer{Offset: -1, Timestamp: -1, LeaderEpoch: -1} }

func (q *OffsetQuery) visibility() visibility {
	switch {
	case q.ToLogEnd:
		return toLogEnd
	case q.Committed:
		return toStableOffset
	default:
		return toHighWatermark
	}
}

// ListOffset answers a query. Right after an election, while the high watermark
// is not known to be the new leader's, an answer that depends on it is
// OFFSET_NOT_AVAILABLE.
func (p *Partition) ListOffset(q *OffsetQuery) (OffsetAnswer, error) {
	p.role.RLock()
	defer p.role.RUnlock()
	if err := p.answersLocked(q.CurrentLeaderEpoch, q.AnyReplica); err != nil {
		return NoOffset(), err
	}
	end := p.endLocked(q.visibility())
	unsettled := !q.ToLogEnd && p.state.Role() == partition.Leader && p.log.HighWatermark() < p.state.EpochStart()
	switch q.Timestamp {
	case Latest:
		if unsettled {
			return NoOffset(), kerr.OffsetNotAvailable
		}
		return OffsetAnswer{Offset: end, Timestamp: -1, LeaderEpoch: p.state.LeaderEpoch()}, nil
	case Earliest, EarliestLocal:
		start := p.log.LogStartOffset()
		return OffsetAnswer{Offset: start, Timestamp: -1, LeaderEpoch: p.log.EpochAt(start)}, nil
	case LatestTiered:
		return NoOffset(), nil
	case MaxTimestamp:
		return p.byTimeLocked(unsettled, end, func() (int64, int64, int32, bool, error) { return p.log.OffsetForMaxTimestamp() })
	default:
		return p.byTimeLocked(unsettled, end, func() (int64, int64, int32, bool, error) { return p.log.OffsetForTimestamp(q.Timestamp, end) })
	}
}

// answersLocked is the error of a replica that must not answer a lookup.
func (p *Partition) answersLocked(epoch int32, anyReplica bool) error {
	if err := p.presentLocked(); err != nil {
		return err
	}
	if epoch != -1 {
		if err := p.fencedLocked(epoch); err != nil {
			return err
		}
	}
	if p.state.Role() != partition.Leader && !anyReplica {
		return kerr.NotLeaderForPartition
	}
	return nil
}

// byTimeLocked is a lookup that only records below end may answer.
func (p *Partition) byTimeLocked(unsettled bool, end int64, find func() (int64, int64, int32, bool, error)) (OffsetAnswer, error) {
	offset, ts, epoch, found, err := find()
	switch {
	case err != nil:
		return NoOffset(), err
	case found && offset < end:
		return OffsetAnswer{Offset: offset, Timestamp: ts, LeaderEpoch: epoch}, nil
	case unsettled:
		return NoOffset(), kerr.OffsetNotAvailable
	}
	return NoOffset(), nil
}

// EpochEnd tells where a leader epoch ended in this log: the epoch, or the
// largest below it that the log knows, and its end; -1 and -1 if the log cannot
// tell. currentLeaderEpoch is checked unless it is -1.
func (p *Partition) EpochEnd(epoch, currentLeaderEpoch int32) (foundEpoch int32, end int64, err error) {
	p.role.RLock()
	defer p.role.RUnlock()
	if err := p.answersLocked(currentLeaderEpoch, false); err != nil {
		return -1, -1, err
	}
	foundEpoch, end = p.log.EndOffsetForEpoch(epoch)
	return foundEpoch, end, nil
}

// ListSegments answers ListOffsets version 0: offsets at which segments begin,
// and the end, newest first, at most limit of them. By time only a time that is
// not in the past finds any: when a segment was last written is not kept.
func (p *Partition) ListSegments(timestamp int64, limit int, q *OffsetQuery) ([]int64, error) {
	p.role.RLock()
	defer p.role.RUnlock()
	if err := p.answersLocked(-1, q.AnyReplica); err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, kerr.UnknownServerError // what Kafka makes of it
	}
	start, end := p.log.LogStartOffset(), p.endLocked(q.visibility())
	var offsets []int64
	switch {
	case timestamp == Earliest:
		offsets = []int64{start}
	case timestamp == Latest || timestamp >= clock.Millis(p.m.clock):
		offsets = []int64{end}
		for _, o := range []int64{p.log.ActiveSegmentBase(), start} {
			if o >= start && o < offsets[len(offsets)-1] {
				offsets = append(offsets, o)
			}
		}
	}
	return offsets[:min(limit, len(offsets))], nil
}
