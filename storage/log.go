package storage

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/internal/metrics"
)

// Log is one replica's log. All methods may be called from any goroutine.
type Log struct {
	tp    TopicPartition
	clock clock.Clock
	logz  *zap.Logger
	cache *fileCache
	dirty *dirtySet

	// segs is the list of segments, oldest first, never empty while the log is
	// open. It is replaced, not changed; only the holder of mu replaces it.
	segs atomic.Pointer[[]*segment]

	logStart      atomic.Int64
	logEnd        atomic.Int64
	highWatermark atomic.Int64
	recoveryPoint atomic.Int64
	config        atomic.Pointer[Config]
	topicID       atomic.Pointer[[16]byte]
	offline       atomic.Bool // deleted or closed
	// derived: the directory has epochs, snapshots or the active segment's indexes.
	derived atomic.Bool
	epochs  epochs
	// truncations counts cuts, so that a flush or a reader knows if one overtook
	// it.
	truncations atomic.Int64

	// tail is where the log ends: the position behind the last batch, so that a
	// reader up to the log end needs no look-up. It is written under mu.
	tailMu sync.RWMutex
	tail   place

	// mu is the append lock. It orders all writers and guards the following.
	mu           sync.Mutex
	dir          *logDir
	path         string
	producers    producers
	snapshots    []int64 // offsets of the snapshot files, ascending
	lastSnapshot int64   // offset of the newest one, -1 if there is none
	bytesIndexed int64   // appended since the last index entry
	unflushed    int64   // records appended since the last flush
	dirtySince   int64   // ms of the first append after the last flush; 0 = clean
	newNames     bool    // files were made or renamed since the directory was synced
	indexedSize  int64   // size of the active segment when its index files were written
	jitterMs     int64
	bare         bool // its files are not made yet
	flushTime    *metrics.Histogram

	// flushing lets one flush, truncation or deletion run at a time; it is held
	// across fsync, and taken before mu.
	flushing sync.Mutex
}

// place is an offset's position: the batch that begins (or will begin) at offset
// lies at position in segment.
type place struct {
	offset   int64
	segment  *segment
	position int64
}

// TopicPartition names the log.
func (l *Log) TopicPartition() TopicPartition { return l.tp }

// TopicID is the id in partition.metadata, zero if the log has none.
func (l *Log) TopicID() [16]byte { return *l.topicID.Load() }

// Config are the settings in force.
func (l *Log) Config() Config { return *l.config.Load() }

// SetConfig changes the settings; the next append, roll or retention pass uses
// them.
func (l *Log) SetConfig(c Config) { l.config.Store(&c) }

// LogStartOffset is the first offset that can be read.
func (l *Log) LogStartOffset() int64 { return l.logStart.Load() }

// LogEndOffset (LEO) is the offset the next record gets.
func (l *Log) LogEndOffset() int64 { return l.logEnd.Load() }

// HighWatermark is the end of what all in-sync replicas have. At start it is the
// checkpointed value, never above the log end.
func (l *Log) HighWatermark() int64 { return l.highWatermark.Load() }

// LastStableOffset is the end of what a read-committed reader may see: the high
// watermark as long as there are no transactions.
func (l *Log) LastStableOffset() int64 { return l.HighWatermark() }

// SetHighWatermark takes over what replication decided. It bounds retention and
// DeleteRecords, and is checkpointed within seconds.
func (l *Log) SetHighWatermark(hw int64) { l.highWatermark.Store(hw) }

// RecoveryPoint is the offset below which everything is durable.
func (l *Log) RecoveryPoint() int64 { return l.recoveryPoint.Load() }

// ActiveSegmentBase is the base offset of the segment that is appended to.
func (l *Log) ActiveSegmentBase() int64 {
	s := l.segments()
	if len(s) == 0 {
		return l.LogEndOffset()
	}
	return s[len(s)-1].base
}

// FirstSegmentBase is the base offset of the oldest segment: what lies below it
// is gone, also for retries of idempotent producers after a crash.
func (l *Log) FirstSegmentBase() int64 {
	if s := l.segments(); len(s) > 0 {
		return s[0].base
	}
	return l.LogEndOffset()
}

// Size is how many bytes of batches the log holds.
func (l *Log) Size() int64 {
	var n int64
	for _, s := range l.segments() {
		n += s.size.Load()
	}
	return n
}

// Segments is how many segments the log has.
func (l *Log) Segments() int { return len(l.segments()) }

// Path is the log's directory.
func (l *Log) Path() string { return l.path }

// Dir is the log directory that holds the log.
func (l *Log) Dir() string { return l.dir.path }

func (l *Log) segments() []*segment {
	if p := l.segs.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *Log) activeLocked() *segment {
	s := l.segments()
	return s[len(s)-1]
}

// usable is ErrOffline once the log is closed, deleted or its directory failed.
func (l *Log) usable() error {
	if l.offline.Load() || l.dir.offline() != nil {
		return l.errorf(ErrOffline, "not available")
	}
	return nil
}

func (l *Log) setTailLocked() {
	s := l.activeLocked()
	l.tailMu.Lock()
	l.tail = place{l.logEnd.Load(), s, s.size.Load()}
	l.tailMu.Unlock()
}

// closeLocked ends the log's use. Readers that hold a region go on.
func (l *Log) closeLocked() {
	l.offline.Store(true)
	for _, s := range l.segments() {
		s.retire()
	}
}
