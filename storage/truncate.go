package storage

import (
	"path/filepath"
	"slices"

	"barnabas/protocol/record"
)

// TruncateTo cuts the log so that it ends at offset: whole batches at or behind
// it go, and the one that holds it; the log end is then that batch's base. An
// offset at or above the log end changes nothing. The producers' state, the
// leader epochs and the recovery point go back with it.
//
// The cut is durable on return: a crash must not bring back what was cut and
// put it behind what came after. That is why it holds the append lock across
// fsync; only followers truncate, and seldom. FORMAT.md has the order.
func (l *Log) TruncateTo(offset int64) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
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
	s := segments[keep-1]
	position, end, err := l.cutPoint(s, offset)
	if err != nil {
		return l.readFailed(err)
	}
	if err := l.publishCutLocked(end); err != nil {
		return err
	}
	kept := slices.Clone(segments[:keep])
	l.segs.Store(&kept)
	s.size.Store(position)
	l.setTailLocked()
	err = l.dropSnapshotsLocked(end)
	if err == nil {
		err = l.dropLocked(segments[keep:])
	}
	if err == nil {
		err = l.unsealLocked(s)
	}
	if err == nil {
		err = l.cutLocked(s, position)
	}
	return l.finishCutLocked(err, end)
}

// cutPoint is where to cut the segment so that it holds nothing at or behind
// offset, and the log end that gives.
func (l *Log) cutPoint(s *segment, offset int64) (position, end int64, err error) {
	position, size, err := l.locate(s, offset, s.size.Load())
	if err != nil || size == 0 {
		return position, offset, err
	}
	end = offset
	_, err = l.scan(s, position, func(b record.Batch, _ int64) bool {
		end = min(end, b.BaseOffset())
		return false
	})
	return position, end, err
}

// publishCutLocked shows readers the new end before anything is cut, and takes
// the recovery point back, on disk too.
func (l *Log) publishCutLocked(end int64) error {
	if err := l.dir.lowerRecoveryPoint(l.tp, end); err != nil {
		if isFull(err) {
			return l.errorf(ErrNoSpace, "truncate to %d", end)
		}
		return l.dir.fail(l.errorf(err, "truncate to %d", end))
	}
	l.truncations.Add(1)
	l.recoveryPoint.Store(min(l.recoveryPoint.Load(), end))
	l.highWatermark.Store(min(l.highWatermark.Load(), end))
	l.logEnd.Store(end)
	return nil
}

// finishCutLocked brings what is derived from batches back to the new end, and
// the names to the disk. A full disk only delays the leader epochs' file.
func (l *Log) finishCutLocked(err error, end int64) error {
	if err == nil {
		l.truncations.Add(1)
		l.epochs.truncateEnd(end)
		if err = l.writeEpochs(true); isFull(err) {
			err = nil
		}
	}
	if err == nil {
		err = l.dir.syncDir(l.path)
	}
	if err == nil {
		err = l.loadProducersLocked()
	}
	if err != nil {
		return l.dir.fail(l.errorf(err, "truncate to %d", end))
	}
	return nil
}

// cutLocked shortens the last segment to size bytes, durably, and its indexes
// with it.
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
	if err := l.dir.sync(f); err != nil {
		return err
	}
	return l.rebuildLocked(s)
}

// dropSnapshotsLocked removes the snapshots that know of more than what lies
// below offset.
func (l *Log) dropSnapshotsLocked(offset int64) error {
	i, _ := slices.BinarySearch(l.snapshots, offset+1)
	for _, o := range l.snapshots[i:] {
		if err := l.dir.removeFile(filepath.Join(l.path, fileName(o, ".snapshot"))); err != nil {
			return err
		}
	}
	l.snapshots = l.snapshots[:i]
	l.lastSnapshot = -1
	if i > 0 {
		l.lastSnapshot = l.snapshots[i-1]
	}
	return nil
}

// TruncateFullyAndStartAt empties the log; the next record gets offset. It is
// durable on return.
func (l *Log) TruncateFullyAndStartAt(offset int64) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.startAnewLocked(offset)
}

func (l *Log) startAnewLocked(offset int64) error {
	old := l.segments()
	if err := l.publishCutLocked(offset); err != nil {
		return err
	}
	s := newSegment(l.path, offset, l.cache)
	s.created = l.cache.now()
	err := l.fillLocked()
	if err == nil {
		err = l.dropSnapshotsLocked(-1)
	}
	if err == nil {
		err = l.dropLocked(old)
	}
	if err == nil {
		err = s.create()
	}
	l.logStart.Store(offset)
	l.highWatermark.Store(offset)
	l.dir.startMoved.Store(true)
	l.segs.Store(&[]*segment{s})
	l.setTailLocked()
	l.bytesIndexed, l.indexedSize = 0, -1
	return l.finishCutLocked(err, -1)
}

// dropLocked removes segments that the log gave up, newest first and each
// durably: at any moment the log on disk is without holes. They go at once: the
// offsets will be written again, and a rename would only keep wrong bytes.
func (l *Log) dropLocked(segments []*segment) error {
	for _, s := range slices.Backward(segments) {
		s.retire()
		for _, suffix := range []string{".index", ".timeindex", ".txnindex", ".log"} {
			if err := l.dir.removeFile(s.sibling(suffix)); err != nil {
				return err
			}
		}
		if err := l.dir.syncDir(l.path); err != nil {
			return err
		}
	}
	return nil
}

// unsealLocked makes a sealed segment the active one again. Its index files are
// removed: they would be wrong once it grows.
func (l *Log) unsealLocked(s *segment) error {
	l.indexedSize = -1
	if !s.sealed.Load() {
		return nil
	}
	s.sealed.Store(false)
	for _, suffix := range []string{".index", ".timeindex"} {
		if err := l.dir.removeFile(s.sibling(suffix)); err != nil {
			return err
		}
	}
	return nil
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
		l.indexLocked(s, position, b)
		return true
	})
	return err
}
