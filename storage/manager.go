package storage

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/storage/vfs"
)

// Options are what a Manager needs. Zero values mean Kafka's defaults, except
// for Dirs, Clock and Logger, which are needed.
type Options struct {
	// Dirs are the log directories (log.dirs). Missing ones are made.
	Dirs []string
	// FS is the file system, the operating system's by default.
	FS vfs.FS
	// Clock tells the time.
	Clock clock.Clock
	// Logger takes one line for each change of state.
	Logger *zap.Logger
	// Metrics takes the room's figures; nil keeps them unregistered.
	Metrics *metrics.Registry
	// BrokerID and ClusterID are held against meta.properties.
	BrokerID  int32
	ClusterID string
	// LogConfig gives the settings of a topic for logs found on disk.
	LogConfig func(topic string) Config
	// RetentionCheckInterval, FlushCheckpointInterval and HWCheckpointInterval are
	// the periods of the background work.
	RetentionCheckInterval, FlushCheckpointInterval, HWCheckpointInterval time.Duration
	// RecoveryThreads is how many logs are loaded at once, per directory.
	RecoveryThreads int
	// OpenFiles bounds how many segment files are held open.
	OpenFiles int
}

func (o Options) fs() vfs.FS {
	if o.FS == nil {
		return vfs.OS()
	}
	return o.FS
}

func (o *Options) defaults() {
	o.FS = o.fs()
	orDefault := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	orDefault(&o.RetentionCheckInterval, 5*time.Minute)
	orDefault(&o.FlushCheckpointInterval, time.Minute)
	orDefault(&o.HWCheckpointInterval, 5*time.Second)
	if o.RecoveryThreads <= 0 {
		o.RecoveryThreads = 2
	}
	if o.OpenFiles <= 0 {
		o.OpenFiles = 8000
	}
	if o.LogConfig == nil {
		o.LogConfig = func(string) Config { return DefaultConfig() }
	}
}

// Manager owns the log directories and their logs.
type Manager struct {
	o     Options
	dirs  []*logDir
	cache *fileCache
	dirty *dirtySet

	// names orders creation and deletion of logs of one partition. It is held
	// across directory operations: they are what it orders.
	names [64]sync.Mutex

	flushTime *metrics.Histogram

	// mu guards the map; logs guard themselves.
	mu   sync.RWMutex
	logs map[TopicPartition]*Log
	// fresh are logs that may have no files yet.
	fresh []*Log
}

// Get is the log of a partition, nil if there is none.
func (m *Manager) Get(tp TopicPartition) *Log {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.logs[tp]
}

// Logs gives every log, in no order.
func (m *Manager) Logs() iter.Seq[*Log] {
	return slices.Values(m.snapshot())
}

func (m *Manager) snapshot() []*Log {
	m.mu.RLock()
	defer m.mu.RUnlock()
	logs := make([]*Log, 0, len(m.logs))
	for _, l := range m.logs {
		logs = append(logs, l)
	}
	return logs
}

// HighWatermark is the high watermark of a partition's log, 0 if there is none.
func (m *Manager) HighWatermark(tp TopicPartition) int64 {
	if l := m.Get(tp); l != nil {
		return l.HighWatermark()
	}
	return 0
}

// SetConfig changes the settings of a topic's logs.
func (m *Manager) SetConfig(topic string, c Config) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for tp, l := range m.logs {
		if tp.Topic == topic {
			l.SetConfig(c)
		}
	}
}

func (m *Manager) newLog(tp TopicPartition, d *logDir, path string, c Config) *Log {
	l := &Log{
		tp: tp, clock: m.o.Clock, logz: m.o.Logger, cache: m.cache, dirty: m.dirty,
		dir: d, path: path, lastSnapshot: -1, flushTime: m.flushTime,
	}
	l.config.Store(&c)
	l.topicID.Store(new([16]byte))
	return l
}

// Create makes the log of a partition, in the online directory that holds the
// fewest, or gives the one that is there. A log whose directory belongs to
// another topic id is ErrInconsistentTopicID; one without an id takes it over.
// The directory is there on return, its files with the
// first append or a moment later; the names reach the disk with the first flush.
func (m *Manager) Create(tp TopicPartition, topicID [16]byte, c Config) (*Log, error) {
	if l := m.Get(tp); l != nil {
		return l, l.adoptTopicID(topicID)
	}
	names := m.namesOf(tp)
	names.Lock()
	defer names.Unlock()
	if l := m.Get(tp); l != nil {
		return l, l.adoptTopicID(topicID)
	}
	d := m.emptiest()
	if d == nil {
		return nil, fmt.Errorf("create log %s: %w: no log directory is online", tp, ErrOffline)
	}
	l := m.newLog(tp, d, filepath.Join(d.path, tp.String()), c)
	err := d.forget(tp)
	if err == nil {
		err = l.create(topicID)
	}
	if isFull(err) {
		if rerr := d.fs.RemoveAll(l.path); rerr != nil {
			return nil, d.fail(rerr)
		}
		return nil, fmt.Errorf("create log %s in %s: %w", tp, d.path, errors.Join(ErrNoSpace, err))
	}
	if err != nil {
		return nil, d.fail(fmt.Errorf("create log %s in %s: %w", tp, d.path, err))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logs[tp] = l
	m.fresh = append(m.fresh, l)
	return l, nil
}

// fill makes the files of at most some of the logs that have none yet.
func (m *Manager) fill(most int) {
	m.mu.Lock()
	n := min(most, len(m.fresh))
	logs := m.fresh[:n:n]
	if m.fresh = m.fresh[n:]; len(m.fresh) == 0 {
		m.fresh = nil
	}
	m.mu.Unlock()
	for _, l := range logs {
		l.mu.Lock()
		if l.usable() == nil {
			if err := l.fillLocked(); err != nil && !isFull(err) {
				m.report(l.dir.fail(l.errorf(err, "make its files")))
			}
		}
		l.mu.Unlock()
	}
}

// namesOf is the lock that orders creation and deletion of a partition's log.
func (m *Manager) namesOf(tp TopicPartition) *sync.Mutex {
	h := uint32(tp.Partition)
	for i := range len(tp.Topic) {
		h = h*31 + uint32(tp.Topic[i])
	}
	return &m.names[h%uint32(len(m.names))]
}

func (l *Log) create(topicID [16]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.dir.fs.Mkdir(l.path); err != nil {
		return err
	}
	l.topicID.Store(&topicID)
	s := newSegment(l.path, 0, l.cache)
	s.created = l.cache.now()
	l.segs.Store(&[]*segment{s})
	l.newNames, l.bare = true, true
	l.setTailLocked()
	l.drawJitter()
	return nil
}

// fillLocked makes the files of a log that is only a directory so far. A topic
// of thousands of partitions is thus there at once; the files come with the
// first append, the first flush or the background work.
func (l *Log) fillLocked() error {
	if !l.bare {
		return nil
	}
	err := l.dir.writeFile(filepath.Join(l.path, partitionMetadataFile), encodePartitionMetadata(l.TopicID()))
	if err == nil {
		err = l.activeLocked().create()
	}
	if err == nil {
		l.bare = false
	}
	return err
}

// adoptTopicID holds the log against a topic's id.
func (l *Log) adoptTopicID(id [16]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	ours := l.TopicID()
	if ours == id || id == ([16]byte{}) {
		return nil
	}
	if l.bare && ours == ([16]byte{}) {
		l.topicID.Store(&id)
		return nil
	}
	if ours != ([16]byte{}) {
		return l.errorf(ErrInconsistentTopicID, "the directory has %x, the cluster says %x", ours, id)
	}
	if err := l.dir.replaceFile(filepath.Join(l.path, partitionMetadataFile), encodePartitionMetadata(id), true); err != nil {
		return l.dir.fail(l.errorf(err, "write %s", partitionMetadataFile))
	}
	l.topicID.Store(&id)
	return nil
}

// emptiest is the online directory with the fewest logs, nil if none is online.
func (m *Manager) emptiest() *logDir {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.dirs) == 1 && m.dirs[0].offline() == nil {
		return m.dirs[0]
	}
	count := make(map[*logDir]int, len(m.dirs))
	for _, l := range m.logs {
		count[l.dir]++
	}
	var best *logDir
	for _, d := range m.dirs {
		if d.offline() == nil && (best == nil || count[d] < count[best]) {
			best = d
		}
	}
	return best
}

// Delete ends a partition's log: its directory is renamed now, and removed in
// the background after file.delete.delay.ms. A partition without a log is no
// error.
func (m *Manager) Delete(tp TopicPartition) error {
	names := m.namesOf(tp)
	names.Lock()
	defer names.Unlock()
	m.mu.Lock()
	l := m.logs[tp]
	delete(m.logs, tp)
	m.mu.Unlock()
	if l == nil {
		return nil
	}
	l.flushing.Lock() // a flush writes files by name
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeLocked()
	l.dirty.remove(l)
	if l.dir.offline() != nil {
		return fmt.Errorf("delete log %s: %w", tp, ErrOffline)
	}
	target := filepath.Join(l.dir.path, deletedName(tp))
	for _, s := range l.segments() {
		s.moved(target) // a reader that holds one must not meet a namesake's files
	}
	if err := l.dir.fs.Rename(l.path, target); err != nil {
		return l.dir.fail(fmt.Errorf("delete log %s: %w", tp, err))
	}
	l.dir.doom(doomed{path: target, due: m.cache.now() + l.Config().FileDeleteDelayMs, tree: true})
	return nil
}

// DirInfo is what DescribeLogDirs says of a log directory.
type DirInfo struct {
	Path          string
	Err           error // why it is offline, nil while it is not
	Total, Usable int64 // bytes; -1 if unknown
	Logs          []LogInfo
}

// LogInfo is the size of one log.
type LogInfo struct {
	TopicPartition TopicPartition
	Size           int64
}

// Dirs describes the log directories, in the order of log.dirs.
func (m *Manager) Dirs() []DirInfo {
	infos := make([]DirInfo, len(m.dirs))
	index := make(map[*logDir]int, len(m.dirs))
	for i, d := range m.dirs {
		index[d] = i
		infos[i] = DirInfo{Path: d.path, Err: d.offline(), Total: -1, Usable: -1}
		if total, usable, err := d.fs.Usage(d.path); err == nil {
			infos[i].Total, infos[i].Usable = total, usable
		}
	}
	for _, l := range m.snapshot() {
		info := &infos[index[l.dir]]
		if info.Err == nil {
			info.Logs = append(info.Logs, LogInfo{l.tp, l.Size()})
		}
	}
	return infos
}

// Online tells whether any log directory is left.
func (m *Manager) Online() bool {
	return slices.ContainsFunc(m.dirs, func(d *logDir) bool { return d.offline() == nil })
}

// CloseNow gives the directories back without a clean stop, as a crash would
// leave them. It is for tests.
func (m *Manager) CloseNow() error {
	var errs []error
	for _, l := range m.snapshot() {
		l.mu.Lock()
		l.closeLocked()
		l.mu.Unlock()
	}
	for _, d := range m.dirs {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}
