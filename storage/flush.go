package storage

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"barnabas/protocol/record"
)

// Flush makes everything appended before the call durable and moves the
// recovery point there. The append lock is not held while the disk works.
func (l *Log) Flush() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.dirty.remove(l) // an append from here on adds it again, or is covered
	l.mu.Lock()
	if err := l.usable(); err != nil {
		l.mu.Unlock()
		return err
	}
	end, cuts, names := l.LogEndOffset(), l.truncations, l.newNames
	segments := l.segments()
	from := max(floorSegment(segments, l.RecoveryPoint()), 0)
	segments = segments[from:]
	l.unflushed, l.dirtySince, l.newNames = 0, 0, false
	l.mu.Unlock()

	for i, s := range segments {
		f, err := s.acquire()
		if err != nil {
			continue // deleted meanwhile: nothing to make durable
		}
		err = f.Sync()
		s.release()
		if err == nil && i < len(segments)-1 {
			err = l.dir.syncFiles(s.sibling(".index"), s.sibling(".timeindex"))
		}
		if err != nil {
			return l.dir.fail(l.errorf(err, "flush"))
		}
	}
	if err := l.writeEpochs(true); err != nil {
		return l.dir.fail(l.errorf(err, "write the leader epochs"))
	}
	if names {
		if err := l.syncNames(); err != nil {
			return l.dir.fail(l.errorf(err, "flush the directory"))
		}
	}
	l.flushedTo(end, cuts)
	return nil
}

// syncNames makes the log's directory and what is in it durable.
func (l *Log) syncNames() error {
	if err := l.dir.syncFiles(filepath.Join(l.Path(), partitionMetadataFile)); err != nil {
		return err
	}
	if err := l.dir.fs.SyncDir(l.Path()); err != nil {
		return err
	}
	return l.dir.fs.SyncDir(l.dir.path)
}

// flushedTo moves the recovery point up, unless a truncation overtook the flush.
func (l *Log) flushedTo(end int64, cuts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.truncations == cuts && end > l.recoveryPoint.Load() {
		l.recoveryPoint.Store(end)
	}
}

// dirtySet are the logs that have something to flush.
type dirtySet struct {
	mu   sync.Mutex
	logs map[*Log]struct{}
}

func newDirtySet() *dirtySet { return &dirtySet{logs: make(map[*Log]struct{})} }

func (d *dirtySet) add(l *Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logs[l] = struct{}{}
}

func (d *dirtySet) remove(l *Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.logs, l)
}

// all are the logs that have something to flush at this moment.
func (d *dirtySet) all() []*Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.logs))
}

// flushDue tells whether flush.ms has passed since the first append that is not
// flushed.
func (l *Log) flushDue(now int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirtySince > 0 && now-l.dirtySince >= l.Config().FlushMs
}

// prepareClose writes what lets the next start skip the recovery scan: the
// active segment's indexes, the producers, the leader epochs. Nothing is synced:
// the manager syncs the whole device once for all logs.
func (l *Log) prepareClose() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable() != nil {
		return nil
	}
	if s := l.activeLocked(); s.size.Load() != l.indexedSize {
		if err := l.writeIndexes(s, false); err != nil {
			return err
		}
		l.indexedSize = s.size.Load()
	}
	if err := l.writeSnapshotLocked(false); err != nil {
		return err
	}
	return l.writeEpochs(false)
}

// lastBatchEnd scans from a position to the end of a segment and gives the
// offset behind its last batch.
func (l *Log) lastBatchEnd(s *segment, from int64) (int64, error) {
	end := s.base
	_, err := l.scan(s, from, func(b record.Batch, _ int64) bool {
		end = b.LastOffset() + 1
		return true
	})
	return end, err
}
