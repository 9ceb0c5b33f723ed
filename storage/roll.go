package storage

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"barnabas/protocol/record"
)

// maybeRollLocked starts a new segment if the next data does not belong into the
// active one: too large (segment.bytes), too old (segment.ms by the timestamps
// of the batches, or by the clock while they have none), an index full, or an
// offset too far from the base.
func (l *Log) maybeRollLocked(size int64, head record.Batch, last, now int64) error {
	s := l.activeLocked()
	filled := s.size.Load()
	if filled == 0 && last-s.base <= maxRelative {
		return nil
	}
	c := l.Config()
	age := now - s.created
	if s.firstTime >= 0 {
		age = head.MaxTimestamp() - s.firstTime
	}
	full := filled > int64(c.SegmentBytes)-size ||
		age > c.SegmentMs-l.jitterMs ||
		int64(s.offsets.len()) >= int64(c.IndexBytes)/offsetEntryBytes ||
		int64(s.times.len()) >= int64(c.IndexBytes)/timeEntryBytes ||
		last-s.base > maxRelative
	if !full {
		return nil
	}
	return l.rollLocked(now)
}

// Roll closes the active segment and starts an empty one, unless the active one
// is empty.
func (l *Log) Roll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.rollLocked(l.clock.Now().UnixMilli())
}

// rollLocked seals the active segment: its indexes go to their files, the
// producers' state to a snapshot, and a segment based at the log end follows.
// None of it is synced: recovery builds anew what a crash takes.
func (l *Log) rollLocked(now int64) error {
	end := l.LogEndOffset()
	old := l.activeLocked()
	if old.size.Load() == 0 && old.base == end {
		return nil
	}
	if err := l.writeSnapshotLocked(false); err != nil {
		return l.rollFailed(err)
	}
	s := newSegment(l.path, end, l.cache)
	s.created = now
	if _, err := s.acquire(); err != nil {
		return l.rollFailed(err)
	}
	s.release()
	if err := l.sealLocked(old); err != nil {
		return l.rollFailed(err)
	}
	l.newNames = true
	segments := append(slices.Clone(l.segments()), s)
	l.segs.Store(&segments)
	l.bytesIndexed = 0
	l.drawJitter()
	l.setTailLocked()
	return nil
}

// rollFailed tells a full disk, which lets the append be tried again, from a
// failed one.
func (l *Log) rollFailed(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return l.errorf(errors.Join(ErrNoSpace, err), "roll")
	}
	return l.dir.fail(l.errorf(err, "roll"))
}

// sealLocked writes the indexes of a segment that takes no more appends and
// frees the memory of the offset index.
func (l *Log) sealLocked(s *segment) error {
	if err := l.writeIndexes(s, false); err != nil {
		return err
	}
	s.sealed = true
	s.offsets.drop()
	return nil
}

// writeIndexes brings a segment's index files up to date.
func (l *Log) writeIndexes(s *segment, sync bool) error {
	s.times.add()
	if err := l.dir.replaceFile(s.sibling(".index"), s.offsets.encode(), sync); err != nil {
		return err
	}
	return l.dir.replaceFile(s.sibling(".timeindex"), s.times.encode(), sync)
}

// drawJitter spreads the rolls of segments that were made together.
func (l *Log) drawJitter() {
	if j := min(l.Config().SegmentJitterMs, l.Config().SegmentMs); j > 0 {
		l.jitterMs = rand.Int64N(j)
	} else {
		l.jitterMs = 0
	}
}

// loadTimes reads a sealed segment's time index on first use; where the file is
// missing or damaged the segment is scanned.
func (l *Log) loadTimes(s *segment) error {
	if s.times.maximum().timestamp != noTime || s.size.Load() == 0 {
		return nil
	}
	data, err := l.cache.fs.ReadFile(filepath.Clean(s.sibling(".timeindex")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, derr := decodeTimeIndex(data)
	if err == nil && derr == nil && len(entries) > 0 {
		s.times.set(entries)
		return nil
	}
	_, err = l.scan(s, 0, func(b record.Batch, _ int64) bool {
		s.times.saw(b.MaxTimestamp(), b.LastOffset()-s.base)
		return true
	})
	return err
}
