package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Open locks the log directories and loads every log in them, recovering those
// that a crash left. A directory of another broker or cluster, or one that
// another process uses, is refused with the remedy.
func Open(ctx context.Context, o Options) (*Manager, error) {
	o.defaults()
	if len(o.Dirs) == 0 {
		return nil, errors.New("log.dirs names no directory")
	}
	m := &Manager{o: o, cache: newFileCache(o.FS, o.Clock, o.OpenFiles), dirty: newDirtySet(), logs: make(map[TopicPartition]*Log)}
	m.flushTime = m.o.Metrics.Histogram("kafka_log_logflushstats_logflushrateandtimems", "Time of one log's flush, in milliseconds.")
	for _, path := range o.Dirs {
		d, err := m.openDir(path)
		if err == nil {
			m.dirs = append(m.dirs, d)
			err = m.loadDir(ctx, d)
		}
		if err != nil {
			return nil, errors.Join(err, m.CloseNow())
		}
	}
	m.registerFigures()
	return m, nil
}

func (m *Manager) openDir(path string) (*logDir, error) {
	if err := makeDirs(m.o.FS, path); err != nil {
		return nil, fmt.Errorf("log directory %s: %w", path, err)
	}
	d := &logDir{path: path, fs: m.o.FS, logz: m.o.Logger}
	lock, err := d.fs.Lock(filepath.Join(path, lockFile))
	if err != nil {
		return nil, fmt.Errorf("log directory %s is in use by another process (%w): stop that broker, or name another directory with --override log.dirs=", path, err)
	}
	d.lock = lock
	if err := d.checkMeta(m.o.BrokerID, m.o.ClusterID); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return d, nil
}

// loadDir loads the logs of one directory, several at a time.
func (m *Manager) loadDir(ctx context.Context, d *logDir) error {
	started := m.o.Clock.Now()
	clean, err := d.takeCleanMarker()
	if err != nil {
		return err
	}
	states, err := d.loadStates()
	if err != nil {
		return err
	}
	tps, err := m.listDir(d)
	if err != nil {
		return err
	}
	if !clean && len(tps) > 0 {
		m.o.Logger.Info("recovering logs: the broker did not stop cleanly", zap.String("dir", d.path), zap.Int("logs", len(tps)))
	}
	d.recovering.Store(!clean)
	defer d.recovering.Store(false)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(m.o.RecoveryThreads)
	var done atomic.Int64
	configs := make(map[string]Config)
	for _, tp := range tps {
		c, ok := configs[tp.Topic]
		if !ok {
			c = m.o.LogConfig(tp.Topic)
			configs[tp.Topic] = c
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			st := states(tp)
			st.clean = clean
			if err := m.loadLog(d, tp, c, st); err != nil {
				return fmt.Errorf("load log %s in %s: %w", tp, d.path, err)
			}
			if n := done.Add(1); !clean && n%500 == 0 {
				m.o.Logger.Info("recovering logs", zap.String("dir", d.path), zap.Int64("done", n), zap.Int("of", len(tps)))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !clean && len(tps) > 0 {
		if err := d.fs.SyncAll(d.path); err != nil {
			return fmt.Errorf("sync what was recovered in %s: %w", d.path, err)
		}
	}
	d.recovering.Store(false)
	// Recovery may have cut below a recovery point: it has to be gone before
	// those offsets are written again. Entries of logs that are gone go too.
	if !clean {
		if err := m.checkpointDir(d, recoveryPointFile, (*Log).RecoveryPoint); err != nil {
			return err
		}
	}
	if len(tps) > 0 {
		m.o.Logger.Info("logs loaded", zap.String("dir", d.path), zap.Int("logs", len(tps)), zap.Bool("cleanStop", clean),
			zap.Duration("took", m.o.Clock.Now().Sub(started).Round(time.Millisecond)))
	}
	return nil
}

func (m *Manager) loadLog(d *logDir, tp TopicPartition, c Config, st loadState) error {
	l := m.newLog(tp, d, filepath.Join(d.path, tp.String()), c)
	if err := l.load(st); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logs[tp] = l
	return nil
}

// takeCleanMarker reports whether the last stop was clean and removes the marker,
// so that a crash from here on is seen.
func (d *logDir) takeCleanMarker() (bool, error) {
	err := d.fs.Remove(filepath.Join(d.path, cleanShutdownFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, d.fs.SyncDir(d.path)
}

func (d *logDir) loadStates() (func(TopicPartition) loadState, error) {
	recovery, err := d.readOffsets(recoveryPointFile)
	if err != nil {
		return nil, err
	}
	starts, err := d.readOffsets(logStartFile)
	if err != nil {
		return nil, err
	}
	hws, err := d.readOffsets(highWatermarkFile)
	if err != nil {
		return nil, err
	}
	return func(tp TopicPartition) loadState {
		return loadState{recoveryPoint: recovery[tp], logStart: starts[tp], highWatermark: hws[tp]}
	}, nil
}

// listDir finds the partitions' directories and what waits to be deleted.
func (m *Manager) listDir(d *logDir) ([]TopicPartition, error) {
	entries, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var tps []TopicPartition
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() {
			continue
		}
		if strings.HasSuffix(name, deleteSuffix) {
			d.doom(doomed{path: filepath.Join(d.path, name), due: m.cache.now(), tree: true})
			continue
		}
		tp, ok := parseDirName(name)
		if !ok {
			m.o.Logger.Warn("directory is no partition's: it is left alone", zap.String("dir", filepath.Join(d.path, name)))
			continue
		}
		if m.Get(tp) != nil {
			return nil, fmt.Errorf("log %s is in two log directories, one of them %s: move one of the two away", tp, d.path)
		}
		tps = append(tps, tp)
	}
	return tps, nil
}
