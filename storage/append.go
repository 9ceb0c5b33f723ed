package storage

import (
	"errors"
	"math"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
)

// Appended is what became of an append.
type Appended struct {
	// BaseOffset and LastOffset are those of the batch in the log.
	BaseOffset, LastOffset int64
	// LogStartOffset is the log's start at that moment.
	LogStartOffset int64
	// Duplicate: nothing was written, since the log holds the batch already (a
	// retry of an idempotent producer). The offsets are those of the original.
	Duplicate bool
	// DuplicateMaxTimestamp is the original's highest timestamp.
	DuplicateMaxTimestamp int64
}

// AppendLeader appends one validated batch: it gives it the next offsets and the
// leader epoch, in place, and writes it to the page cache with one write. It
// does not wait for the disk, unless flush.messages says so. The bytes are the
// caller's again on return.
//
// A sequence that does not fit is ErrOutOfOrderSequence or
// ErrInvalidProducerEpoch; on ErrNoSpace nothing was appended; ErrOffline means
// that the log directory failed, perhaps just now.
func (l *Log) AppendLeader(b record.Batch, leaderEpoch int32) (Appended, error) {
	l.mu.Lock()
	if err := l.usable(); err != nil {
		l.mu.Unlock()
		return Appended{}, err
	}
	if int64(len(b)) > int64(l.Config().SegmentBytes) {
		l.mu.Unlock()
		return Appended{}, l.errorf(ErrRecordListTooLarge, "batch of %d bytes, segment.bytes is %d", len(b), l.Config().SegmentBytes)
	}
	if b.HasProducerID() {
		if v := l.checkSequence(b); v.err != nil || v.duplicate != nil {
			defer l.mu.Unlock() // the duplicate lies in the producer's window
			if v.err != nil {
				return Appended{}, v.err
			}
			return Appended{
				BaseOffset: v.duplicate.baseOffset(), LastOffset: v.duplicate.lastOffset, LogStartOffset: l.LogStartOffset(),
				Duplicate: true, DuplicateMaxTimestamp: v.duplicate.timestamp,
			}, nil
		}
	}
	base := l.LogEndOffset()
	b.SetBaseOffset(base)
	b.SetPartitionLeaderEpoch(leaderEpoch)
	err := l.writeLocked(b)
	if err == nil {
		l.tookLocked(b)
	}
	flush := err == nil && l.unflushed >= l.Config().FlushMessages
	l.mu.Unlock()
	if flush {
		err = l.Flush()
	}
	return Appended{BaseOffset: base, LastOffset: b.LastOffset(), LogStartOffset: l.LogStartOffset()}, err
}

// AppendFollower appends whole batches that a leader gave their offsets. Their
// CRCs are checked; the first must begin at or behind the log end.
func (l *Log) AppendFollower(data []byte) (Appended, error) {
	l.mu.Lock()
	a, err := l.appendFollowerLocked(data)
	flush := err == nil && l.unflushed >= l.Config().FlushMessages
	l.mu.Unlock()
	if flush {
		err = l.Flush()
	}
	return a, err
}

func (l *Log) appendFollowerLocked(data []byte) (Appended, error) {
	if err := l.usable(); err != nil {
		return Appended{}, err
	}
	first, next := int64(-1), l.LogEndOffset()
	for rest := data; len(rest) > 0; {
		b, r, err := record.Next(rest)
		if err == nil {
			err = b.Check()
		}
		if err != nil {
			return Appended{}, l.errorf(errors.Join(ErrCorrupt, err), "batch from the leader")
		}
		if b.BaseOffset() < next {
			return Appended{}, l.errorf(ErrCorrupt, "batch from the leader begins at %d, before the log end %d", b.BaseOffset(), next)
		}
		if first < 0 {
			first = b.BaseOffset()
		}
		next, rest = b.LastOffset()+1, r
	}
	a := Appended{BaseOffset: first, LastOffset: next - 1, LogStartOffset: l.LogStartOffset()}
	for rest := data; len(rest) > 0; {
		b, r, err := record.Next(rest)
		if err != nil {
			return a, err
		}
		if err := l.writeLocked(b); err != nil {
			return a, err
		}
		l.tookLocked(b)
		rest = r
	}
	return a, nil
}

// writeLocked writes a batch to the active segment, rolling it first if need be.
func (l *Log) writeLocked(data record.Batch) error {
	now, last, maxTimestamp := clock.Millis(l.clock), data.LastOffset(), data.MaxTimestamp()
	if err := l.fillLocked(); err != nil {
		return l.rollFailed(err)
	}
	if err := l.maybeRollLocked(data, now); err != nil {
		return err
	}
	s := l.activeLocked()
	f, err := s.acquire()
	if err != nil {
		return l.dir.fail(l.errorf(err, "open the active segment"))
	}
	defer s.release()
	position := s.size.Load()
	if _, err := f.WriteAt(data, position); err != nil {
		if !isFull(err) {
			return l.dir.fail(l.errorf(err, "append"))
		}
		if terr := f.Truncate(position); terr != nil {
			return l.dir.fail(l.errorf(terr, "cut off half an append"))
		}
		return l.errorf(errors.Join(ErrNoSpace, err), "append %d bytes", len(data))
	}
	if s.firstTime == noTime {
		s.firstTime = maxTimestamp
	}
	l.indexLocked(s, position, data)
	s.size.Store(position + int64(len(data)))
	l.logEnd.Store(last + 1)
	l.setTailLocked()
	if l.dirtySince == 0 {
		l.dirtySince = max(now, 1)
		l.dirty.add(l)
	}
	return nil
}

// indexLocked adds an entry to both indexes once enough bytes went by.
func (l *Log) indexLocked(s *segment, position int64, b record.Batch) {
	last := b.LastOffset()
	s.times.saw(b.MaxTimestamp(), last-s.base)
	if l.bytesIndexed > int64(l.Config().IndexIntervalBytes) {
		s.offsets.add(last-s.base, position)
		s.times.add()
		l.bytesIndexed = 0
	}
	l.bytesIndexed += int64(b.Size())
}

// tookLocked brings what is derived from batches up to date.
func (l *Log) tookLocked(b record.Batch) {
	l.unflushed += int64(b.LastOffsetDelta()) + 1
	if epoch, ok := l.epochs.latest(); b.PartitionLeaderEpoch() >= 0 && (!ok || b.PartitionLeaderEpoch() > epoch) {
		l.epochs.assign(b.PartitionLeaderEpoch(), b.BaseOffset())
	}
	l.producers.take(b)
}

// maxRelative is the highest offset that a segment's indexes can hold, relative
// to its base.
const maxRelative = math.MaxInt32
