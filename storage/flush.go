package storage

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
)

// Flush makes everything appended before the call durable and moves the
// recovery point there. The append lock is not held while the disk works. On
// ErrNoSpace it may be tried again; any other failure takes the log directory
// offline.
func (l *Log) Flush() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.dirty.remove(l) // an append from here on adds it again, or is covered
	l.mu.Lock()
	if err := l.usable(); err != nil {
		l.mu.Unlock()
		return err
	}
	if err := l.fillLocked(); err != nil {
		l.mu.Unlock()
		return l.rollFailed(err)
	}
	end, cuts, names := l.LogEndOffset(), l.truncations.Load(), l.newNames
	segments := l.unflushedSegments()
	l.unflushed, l.dirtySince, l.newNames = 0, 0, false
	l.mu.Unlock()

	started := l.clock.Now()
	err := l.flushSegments(segments)
	if err == nil && names {
		err = l.syncNames()
	}
	if err == nil {
		err = l.writeEpochs(true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if isFull(err) {
		l.newNames = l.newNames || names
		l.dirty.add(l)
		return l.errorf(errors.Join(ErrNoSpace, err), "flush")
	}
	if err != nil {
		return l.dir.fail(l.errorf(err, "flush"))
	}
	if l.truncations.Load() == cuts && end > l.recoveryPoint.Load() {
		l.recoveryPoint.Store(end)
	}
	l.flushTime.Observe(float64(l.clock.Now().Sub(started)) / 1e6)
	return nil
}

// unflushedSegments are those from the recovery point on, and the one before if
// it ended there: its indexes may have been written after the last flush.
func (l *Log) unflushedSegments() []*segment {
	segments := l.segments()
	return segments[max(floorSegment(segments, l.RecoveryPoint()-1), 0):]
}

func (l *Log) flushSegments(segments []*segment) error {
	for _, s := range segments {
		f, err := s.acquire()
		if errors.Is(err, errRetired) {
			continue // deleted meanwhile: nothing to make durable
		}
		if err != nil {
			return err
		}
		err = f.Sync()
		s.release()
		if err == nil {
			err = l.dir.syncFiles(s.sibling(".snapshot"))
		}
		if err == nil && s.sealed.Load() {
			err = l.dir.syncFiles(s.sibling(".index"), s.sibling(".timeindex"))
		}
		if isFull(err) {
			return fmt.Errorf("the disk filled up under data that it had taken: %w", errLost)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errLost: a sync failed, so what it covered is in doubt for ever. It hides
// ENOSPC, which elsewhere means that nothing was lost.
var errLost = errors.New("unflushed records may be lost")

// syncNames makes the log's directory and what is in it durable.
func (l *Log) syncNames() error {
	if err := l.dir.syncFiles(filepath.Join(l.Path(), partitionMetadataFile)); err != nil {
		return err
	}
	if err := l.dir.syncDir(l.Path()); err != nil {
		return err
	}
	return l.dir.syncDir(l.dir.path)
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
// active segment's indexes, the producers, the leader epochs. The log takes no
// appends from then on. Nothing is synced: the manager syncs the whole device
// once for all logs.
func (l *Log) prepareClose() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable() != nil {
		return nil
	}
	l.offline.Store(true)
	if err := l.fillLocked(); err != nil || l.tinyLocked() {
		return err
	}
	if s := l.activeLocked(); s.size.Load() != l.indexedSize {
		if err := l.writeIndexes(s, false); err != nil {
			return err
		}
		l.indexedSize = s.size.Load()
	}
	if err := l.writeSnapshotLocked(); err != nil {
		return err
	}
	return l.writeEpochs(false)
}

// tiny is up to which size a log is read at start rather than what was derived
// from it.
const tiny = 16 << 10

// tinyLocked tells a log that has all its batches, few of them, and no derived
// files: thousands of such logs stop and start faster without. Kafka takes their
// absence for damage and builds them, as our start does.
func (l *Log) tinyLocked() bool {
	s := l.activeLocked()
	return s.base == 0 && s.size.Load() <= tiny && len(l.segments()) == 1 && !l.derived.Load()
}
