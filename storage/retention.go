package storage

import (
	"errors"
	"path/filepath"
	"slices"

	"go.uber.org/zap"
)

// retain deletes the oldest segments that the settings no longer keep: those
// older than retention.ms, those above retention.bytes, and those wholly below
// the log start. Only whole segments below the high watermark go. It returns how
// many went.
func (l *Log) retain(now int64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable() != nil {
		return 0, nil
	}
	segments := l.segments()
	n, why := 0, ""
	size := int64(0)
	for _, s := range segments {
		size += s.size.Load()
	}
	for i, s := range segments {
		r, err := l.expiredLocked(segments, i, size, now)
		if err != nil {
			return 0, l.readFailed(err)
		}
		if r == "" {
			break
		}
		n, why = i+1, r
		size -= s.size.Load()
	}
	if n == 0 {
		return 0, nil
	}
	return n, l.deleteOldestLocked(n, why)
}

// expiredLocked is why segment i may go, "" if it has to stay. size is what the
// log would hold without the segments before it.
func (l *Log) expiredLocked(segments []*segment, i int, size, now int64) (string, error) {
	s, c := segments[i], l.Config()
	active := i == len(segments)-1
	end := l.LogEndOffset()
	if !active {
		end = segments[i+1].base
	}
	if end > l.HighWatermark() || (active && s.size.Load() == 0) {
		return "", nil
	}
	if !active && end <= l.LogStartOffset() {
		return "log start offset", nil
	}
	if !c.Delete {
		return "", nil
	}
	if c.RetentionMs >= 0 {
		err := l.loadTimes(s)
		if err == nil {
			err = l.repairLocked(s)
		}
		if err != nil {
			return "", err
		}
		newest := s.times.maximum().timestamp
		if newest < 0 {
			newest = s.created
		}
		if now-newest > c.RetentionMs {
			return "retention.ms", nil
		}
	}
	if !active && c.RetentionBytes >= 0 && size-s.size.Load() >= c.RetentionBytes {
		return "retention.bytes", nil
	}
	return "", nil
}

// deleteOldestLocked removes the first n segments; an empty active one follows
// if that is all. The files are renamed now and deleted later.
func (l *Log) deleteOldestLocked(n int, why string) error {
	if n == len(l.segments()) {
		switch err := l.rollLocked(l.cache.now(), l.LogEndOffset()); {
		case errors.Is(err, ErrNoSpace) && n > 1:
			n-- // what is not active can go, and makes room
		case err != nil:
			return err
		}
	}
	if err := l.keepProducersLocked(n); err != nil {
		return l.rollFailed(err)
	}
	segments := l.segments()
	gone, kept := segments[:n], slices.Clone(segments[n:])
	l.raiseLogStartLocked(max(l.LogStartOffset(), kept[0].base))
	l.segs.Store(&kept)
	for _, s := range gone {
		s.retire() // first: nobody opens the old name any more
		if err := l.dir.deleteLater(s, l.Config().FileDeleteDelayMs); err != nil {
			return l.dir.fail(l.errorf(err, "delete segment %d", s.base))
		}
	}
	l.newNames = true
	l.logz.Info("segments deleted", zap.Stringer("log", l.tp), zap.Int("segments", n), zap.String("reason", why),
		zap.Int64("logStartOffset", l.LogStartOffset()))
	if err := l.pruneSnapshotsLocked(); err != nil {
		return l.dir.fail(l.errorf(err, "remove a producer snapshot"))
	}
	return nil
}

// keepProducersLocked sees to it that what the first n segments say of producers
// is in a snapshot. A roll writes one; recovery and truncation remove them.
func (l *Log) keepProducersLocked(n int) error {
	if l.lastSnapshot >= l.segments()[n].base {
		return nil
	}
	if err := l.writeSnapshotLocked(); err != nil {
		return err
	}
	if err := l.dir.syncFiles(filepath.Join(l.path, fileName(l.lastSnapshot, ".snapshot"))); err != nil {
		return err
	}
	return l.dir.syncDir(l.path)
}

func (l *Log) raiseLogStartLocked(offset int64) {
	if offset <= l.LogStartOffset() {
		return
	}
	l.logStart.Store(offset)
	l.epochs.truncateStart(offset)
	l.dir.startMoved.Store(true)
}

// IncrementLogStart moves the log start up to offset (DeleteRecords). At or
// below the present start nothing happens; above the high watermark it is
// ErrOffsetOutOfRange. It is durable within a second; whole segments below it
// are deleted in the background. Producers' state is kept.
func (l *Log) IncrementLogStart(offset int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if hw := l.HighWatermark(); offset > hw {
		return l.errorf(ErrOffsetOutOfRange, "log start %d would be above the high watermark %d", offset, hw)
	}
	l.raiseLogStartLocked(offset)
	return nil
}
