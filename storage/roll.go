package storage

import (
	"errors"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"

	"barnabas/protocol/record"
)

// maybeRollLocked starts a new segment if the next data does not belong into the
// active one: too large (segment.bytes), too old (segment.ms by the timestamps
// of the batches, or by the clock while they have none), an index full, or an
// offset too far from the base.
func (l *Log) maybeRollLocked(b record.Batch, now int64) error {
	s, size, last := l.activeLocked(), int64(len(b)), b.LastOffset()
	filled := s.size.Load()
	if filled == 0 && last-s.base <= maxRelative {
		return nil
	}
	c := l.Config()
	age := now - s.created
	if s.firstTime >= 0 {
		age = b.MaxTimestamp() - s.firstTime
	}
	full := filled > int64(c.SegmentBytes)-size ||
		age > c.SegmentMs-l.jitterMs ||
		int64(s.offsets.len()) >= int64(c.IndexBytes)/offsetEntryBytes ||
		int64(s.times.len()) >= int64(c.IndexBytes)/timeEntryBytes ||
		last-s.base > maxRelative
	if !full {
		return nil
	}
	// A follower's batch may begin far behind the log end.
	return l.rollLocked(now, max(b.BaseOffset(), l.LogEndOffset()))
}

// Roll closes the active segment and starts an empty one, unless the active one
// is empty.
func (l *Log) Roll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.rollLocked(l.cache.now(), l.LogEndOffset())
}

// rollLocked seals the active segment: its indexes go to their files, the
// producers' state to a snapshot, and a segment based at base, the log end or
// behind it, follows. None of it is synced: recovery builds anew what a crash
// takes. The new file comes last: a roll that a full disk stopped leaves no
// empty segment behind, which would hide what the old one takes from then on.
func (l *Log) rollLocked(now, base int64) error {
	old := l.activeLocked()
	if old.size.Load() == 0 && old.base == base {
		return nil
	}
	if err := l.writeSnapshotLocked(); err != nil {
		return l.rollFailed(err)
	}
	if err := l.writeIndexes(old, false); err != nil {
		return l.rollFailed(err)
	}
	s := newSegment(l.path, base, l.cache)
	s.created = now
	if err := s.create(); err != nil {
		return l.rollFailed(errors.Join(err, l.dir.removeFile(s.path)))
	}
	old.seal()
	l.newNames = true
	segments := append(slices.Clone(l.segments()), s)
	l.segs.Store(&segments)
	l.bytesIndexed, l.indexedSize = 0, -1
	l.drawJitter()
	l.setTailLocked()
	return nil
}

// rollFailed tells a full disk, which lets the append be tried again, from a
// failed one.
func (l *Log) rollFailed(err error) error {
	if isFull(err) {
		return l.errorf(errors.Join(ErrNoSpace, err), "roll")
	}
	return l.dir.fail(l.errorf(err, "roll"))
}

// isFull tells a full disk from a broken one.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// seal marks a segment whose indexes are in their files, and frees the memory
// of both.
func (s *segment) seal() {
	s.sealed.Store(true)
	s.offsets.drop()
	s.times.drop()
}

// writeIndexes brings a segment's index files up to date.
func (l *Log) writeIndexes(s *segment, sync bool) error {
	s.times.add()
	if err := l.dir.writeFile(s.sibling(".index"), s.offsets.encode()); err != nil {
		return err
	}
	if err := l.dir.writeFile(s.sibling(".timeindex"), s.times.encode()); err != nil || !sync {
		return err
	}
	return l.dir.syncFiles(s.sibling(".index"), s.sibling(".timeindex"))
}

// drawJitter spreads the rolls of segments that were made together.
func (l *Log) drawJitter() {
	if j := min(l.Config().SegmentJitterMs, l.Config().SegmentMs); j > 0 {
		l.jitterMs = rand.Int64N(j)
	} else {
		l.jitterMs = 0
	}
}
