package storage

import (
	"path/filepath"
	"slices"

	"barnabas/protocol/record"
)

// TruncateTo cuts the log so that it ends at offset: whole batches at or behind
// it go. An offset at or above the log end changes nothing. The producers'
// state, the leader epochs and the recovery point go back with it.
func (l *Log) TruncateTo(offset int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if offset >= l.LogEndOffset() {
		return nil
	}
	segments := l.segments()
	if offset < segments[0].base || offset < l.LogStartOffset() {
		return l.startAnewLocked(offset)
	}
	keep := floorSegment(segments, offset) + 1
	if err := l.dropLocked(segments[keep:]); err != nil {
		return err
	}
	segments = slices.Clone(segments[:keep])
	l.segs.Store(&segments)
	s := segments[keep-1]
	if err := l.reopenLocked(s); err != nil {
		return l.dir.fail(l.errorf(err, "truncate to %d", offset))
	}
	position, _, err := l.locate(s, offset, s.size.Load())
	if err == nil {
		err = l.cutLocked(s, position)
	}
	if err != nil {
		return l.dir.fail(l.errorf(err, "truncate to %d", offset))
	}
	return l.cutToLocked(offset)
}

// cutLocked shortens the last segment to size bytes and its indexes with it.
func (l *Log) cutLocked(s *segment, size int64) error {
	f, err := s.acquire()
	if err != nil {
		return err
	}
	defer s.release()
	if err := f.Truncate(size); err != nil {
		return err
	}
	s.size.Store(size)
	return l.rebuildLocked(s)
}

// cutToLocked brings everything that follows the log end back to offset.
func (l *Log) cutToLocked(offset int64) error {
	l.truncations++
	end := offset
	if s := l.activeLocked(); s.size.Load() == 0 {
		end = max(offset, s.base)
	}
	l.logEnd.Store(end)
	l.setTailLocked()
	l.recoveryPoint.Store(min(l.recoveryPoint.Load(), end))
	l.highWatermark.Store(min(l.highWatermark.Load(), end))
	l.epochs.truncateEnd(end)
	if err := l.dropSnapshotsLocked(end); err != nil {
		return err
	}
	return l.loadProducersLocked()
}

// dropSnapshotsLocked removes the snapshots that know of more than what lies
// below offset.
func (l *Log) dropSnapshotsLocked(offset int64) error {
	i, _ := slices.BinarySearch(l.snapshots, offset+1)
	for _, o := range l.snapshots[i:] {
		if err := l.dir.removeFile(filepath.Join(l.path, fileName(o, ".snapshot"))); err != nil {
			return l.dir.fail(l.errorf(err, "remove a producer snapshot"))
		}
	}
	l.snapshots = l.snapshots[:i]
	l.lastSnapshot = -1
	if i > 0 {
		l.lastSnapshot = l.snapshots[i-1]
	}
	return nil
}

// TruncateFullyAndStartAt empties the log; the next record gets offset.
func (l *Log) TruncateFullyAndStartAt(offset int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.startAnewLocked(offset)
}

func (l *Log) startAnewLocked(offset int64) error {
	old := l.segments()
	if err := l.dropLocked(old); err != nil {
		return err
	}
	s := newSegment(l.path, offset, l.cache)
	s.created = l.clock.Now().UnixMilli()
	f, err := s.acquire()
	if err == nil {
		err = f.Truncate(0)
		s.release()
	}
	if err != nil {
		return l.dir.fail(l.errorf(err, "start anew at %d", offset))
	}
	l.newNames = true
	l.segs.Store(&[]*segment{s})
	l.logStart.Store(offset)
	l.bytesIndexed = 0
	if err := l.dropSnapshotsLocked(-1); err != nil {
		return err
	}
	l.epochs.truncateEnd(-1)
	return l.cutToLocked(offset)
}

// dropLocked removes segments that the log gave up by truncation. They go at
// once: the offsets will be written again, and a rename would only keep wrong
// bytes around.
func (l *Log) dropLocked(segments []*segment) error {
	for _, s := range segments {
		for _, suffix := range []string{".log", ".index", ".timeindex"} {
			if err := l.dir.removeFile(s.sibling(suffix)); err != nil {
				return l.dir.fail(l.errorf(err, "remove segment %d", s.base))
			}
		}
		s.retire()
	}
	return nil
}

// reopenLocked makes a sealed segment the active one again.
func (l *Log) reopenLocked(s *segment) error {
	if !s.sealed {
		return nil
	}
	s.sealed = false
	for _, suffix := range []string{".index", ".timeindex"} {
		if err := l.dir.removeFile(s.sibling(suffix)); err != nil {
			return err
		}
	}
	return l.rebuildLocked(s)
}

// rebuildLocked makes the indexes of the active segment anew from its batches.
func (l *Log) rebuildLocked(s *segment) error {
	s.offsets.drop()
	s.times.reset()
	s.firstTime = noTime
	l.bytesIndexed = 0
	_, err := l.scan(s, 0, func(b record.Batch, position int64) bool {
		if s.firstTime == noTime {
			s.firstTime = b.MaxTimestamp()
		}
		l.indexLocked(s, position, int64(b.Size()), b.LastOffset(), b.MaxTimestamp())
		return true
	})
	return err
}
