package storage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"barnabas/internal/clock"
)

// reapsPerTick bounds how many files and directories are deleted at once.
const reapsPerTick = 64

// fillsPerTick bounds how many new logs get their files at once.
const fillsPerTick = 500

// Run does the background work until ctx ends: retention, flushes that are due,
// checkpoints, and deleting files whose time has come.
func (m *Manager) Run(ctx context.Context) error {
	second := m.o.Clock.NewTicker(time.Second)
	defer second.Stop()
	retention := m.o.Clock.NewTicker(m.o.RetentionCheckInterval)
	defer retention.Stop()
	flush := m.o.Clock.NewTicker(m.o.FlushCheckpointInterval)
	defer flush.Stop()
	hw := m.o.Clock.NewTicker(m.o.HWCheckpointInterval)
	defer hw.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-second.C:
			m.everySecond()
		case <-retention.C:
			m.Retain()
		case <-flush.C:
			m.FlushAll()
		case <-hw.C:
			m.checkpoint(highWatermarkFile, (*Log).HighWatermark)
		}
	}
}

// everySecond flushes the logs whose flush.ms has passed, writes moved log
// starts down, and deletes what is due.
func (m *Manager) everySecond() {
	now := clock.Millis(m.o.Clock)
	for _, l := range m.dirty.all() {
		if l.Config().FlushMs < math.MaxInt64 && l.flushDue(now) {
			m.report(l.Flush())
		}
	}
	m.fill(fillsPerTick)
	moved := false
	for _, d := range m.dirs {
		moved = d.startMoved.Swap(false) || moved
		if d.offline() == nil {
			m.report(d.reap(now, reapsPerTick))
		}
	}
	if moved {
		m.checkpoint(logStartFile, (*Log).LogStartOffset)
	}
}

// report logs what went wrong in the background, but for what took a directory
// offline: that was logged.
func (m *Manager) report(err error) {
	if err != nil && !errors.Is(err, ErrOffline) {
		m.o.Logger.Error("background work of storage failed", zap.Error(err))
	}
}

// Retain deletes the segments that topics' settings no longer keep, in every
// log.
func (m *Manager) Retain() {
	now := clock.Millis(m.o.Clock)
	for _, l := range m.snapshot() {
		if _, err := l.retain(now); err != nil {
			m.report(err)
		}
		l.mu.Lock()
		l.producers.expire(now - l.Config().ProducerIDExpirationMs)
		l.mu.Unlock()
	}
}

// FlushAll makes everything appended so far durable and writes the recovery
// points and log starts down.
func (m *Manager) FlushAll() {
	for _, l := range m.dirty.all() {
		m.report(l.Flush())
	}
	m.checkpoint(recoveryPointFile, (*Log).RecoveryPoint)
	m.checkpoint(logStartFile, (*Log).LogStartOffset)
}

// checkpoint writes one of the offset checkpoints of every directory. Zeros are
// left out: they are what a missing entry means.
func (m *Manager) checkpoint(file string, offset func(*Log) int64) {
	for _, d := range m.dirs {
		if d.offline() == nil {
			m.report(m.checkpointDir(d, file, offset))
		}
	}
}

// checkpointDir writes a checkpoint of one directory. A full disk leaves the old
// one, which is right, if older.
func (m *Manager) checkpointDir(d *logDir, file string, offset func(*Log) int64) error {
	err := d.writeOffsets(file, func() map[TopicPartition]int64 {
		offsets := make(map[TopicPartition]int64)
		for _, l := range m.snapshot() {
			if o := offset(l); l.dir == d && o > 0 {
				offsets[l.tp] = o
			}
		}
		return offsets
	})
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return fmt.Errorf("write %s: %w", filepath.Join(d.path, file), errors.Join(ErrNoSpace, err))
	}
	return d.fail(fmt.Errorf("write %s: %w", filepath.Join(d.path, file), err))
}

// Close stops cleanly: what a start needs is written, the device is synced once,
// the checkpoints and the clean-shutdown marker follow, and the directories are
// given back. Run must have returned.
func (m *Manager) Close() error {
	var errs []error
	for _, d := range m.dirs {
		if d.offline() == nil {
			errs = append(errs, m.closeDir(d))
		}
	}
	return errors.Join(append(errs, m.CloseNow())...)
}

func (m *Manager) closeDir(d *logDir) error {
	logs := m.snapshot()
	var g errgroup.Group
	g.SetLimit(m.o.RecoveryThreads)
	for _, l := range logs {
		if l.dir == d {
			g.Go(l.prepareClose)
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("stop cleanly in %s: %w", d.path, err)
	}
	if err := d.fs.SyncAll(d.path); err != nil {
		return fmt.Errorf("sync %s: %w", d.path, err)
	}
	for _, l := range logs {
		if l.dir == d {
			l.recoveryPoint.Store(l.LogEndOffset())
		}
	}
	for _, c := range []struct {
		file   string
		offset func(*Log) int64
	}{{recoveryPointFile, (*Log).RecoveryPoint}, {logStartFile, (*Log).LogStartOffset}, {highWatermarkFile, (*Log).HighWatermark}} {
		if err := m.checkpointDir(d, c.file, c.offset); err != nil {
			return err
		}
	}
	return d.replaceFile(filepath.Join(d.path, cleanShutdownFile), []byte(`{"version":0,"brokerEpoch":-1}`), true)
}
