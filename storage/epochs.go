package storage

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// epochs is a log's leader-epoch cache: where each leader epoch began, ascending
// in both. Its checkpoint is the file leader-epoch-checkpoint.
type epochs struct {
	mu      sync.RWMutex
	entries []epochStart
	dirty   bool // differs from the file
}

type epochStart struct {
	epoch int32
	start int64
}

const epochFile = "leader-epoch-checkpoint"

// assign notes that epoch begins at start. Entries that it contradicts (of the
// same or a newer epoch, or not before start) give way.
func (c *epochs) assign(epoch int32, start int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.entries)
	if n > 0 && c.entries[n-1].epoch == epoch && c.entries[n-1].start <= start {
		return
	}
	for n > 0 && (c.entries[n-1].epoch >= epoch || c.entries[n-1].start >= start) {
		n--
	}
	c.entries = append(c.entries[:n:n], epochStart{epoch, start})
	c.dirty = true
}

func (c *epochs) latest() (int32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.entries) == 0 {
		return -1, false
	}
	return c.entries[len(c.entries)-1].epoch, true
}

// endOffset is Kafka's endOffsetFor: (-1,-1) for an epoch that is unknown or
// newer than ours, the log's end for the latest, the start of the first known
// one for an older epoch, and else the start of the next.
func (c *epochs) endOffset(epoch int32, logEnd int64) (int32, int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := len(c.entries)
	switch {
	case epoch == -1 || n == 0 || epoch > c.entries[n-1].epoch:
		return -1, -1
	case epoch == c.entries[n-1].epoch:
		return epoch, logEnd
	}
	next := sort.Search(n, func(i int) bool { return c.entries[i].epoch > epoch })
	if next == 0 {
		return epoch, c.entries[0].start
	}
	return c.entries[next-1].epoch, c.entries[next].start
}

// at is the epoch of the record at offset, -1 if unknown.
func (c *epochs) at(offset int64) int32 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i := sort.Search(len(c.entries), func(i int) bool { return c.entries[i].start > offset })
	if i == 0 {
		return -1
	}
	return c.entries[i-1].epoch
}

// truncateEnd forgets epochs that begin at or behind end.
func (c *epochs) truncateEnd(end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := sort.Search(len(c.entries), func(i int) bool { return c.entries[i].start >= end })
	if i < len(c.entries) {
		c.entries, c.dirty = c.entries[:i:i], true
	}
}

// truncateStart forgets what lies below the log start; the epoch in force there
// begins at it now.
func (c *epochs) truncateStart(start int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := sort.Search(len(c.entries), func(i int) bool { return c.entries[i].start > start })
	if i == 0 || (i == 1 && c.entries[0].start == start) {
		return
	}
	kept := append([]epochStart(nil), c.entries[i-1:]...)
	kept[0].start = start
	c.entries, c.dirty = kept, true
}

// content gives the file's content and marks it written; changed is false if
// the file has it already.
func (c *epochs) content() (data []byte, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty {
		return nil, false
	}
	c.dirty = false
	return encodeEpochs(c.entries), true
}

// unwritten says that writing the content failed.
func (c *epochs) unwritten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty = true
}

func encodeEpochs(entries []epochStart) []byte {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = strconv.Itoa(int(e.epoch)) + " " + strconv.FormatInt(e.start, 10)
	}
	return encodeCheckpoint(lines)
}

func decodeEpochs(data []byte) ([]epochStart, error) {
	lines, err := decodeCheckpoint(data)
	if err != nil {
		return nil, err
	}
	entries := make([]epochStart, 0, len(lines))
	for _, line := range lines {
		var e epochStart
		epoch, start, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, nerr := strconv.ParseInt(epoch, 10, 32)
		o, oerr := strconv.ParseInt(start, 10, 64)
		if nerr != nil || oerr != nil || n < 0 || o < 0 {
			return nil, fmt.Errorf("%w: leader epoch entry %q", ErrCorrupt, line)
		}
		e.epoch, e.start = int32(n), o
		if n := len(entries); n > 0 && (e.epoch <= entries[n-1].epoch || e.start < entries[n-1].start) {
			return nil, fmt.Errorf("%w: leader epochs are not ascending at %q", ErrCorrupt, line)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// EndOffsetForEpoch says where the given leader epoch ends in this log
// (OffsetForLeaderEpoch): the epoch that holds there and its end, or -1, -1.
func (l *Log) EndOffsetForEpoch(epoch int32) (foundEpoch int32, endOffset int64) {
	return l.epochs.endOffset(epoch, l.LogEndOffset())
}

// LatestEpoch is the newest leader epoch with a place in the log.
func (l *Log) LatestEpoch() (int32, bool) { return l.epochs.latest() }

// EpochAt is the leader epoch of the record at offset, or -1.
func (l *Log) EpochAt(offset int64) int32 { return l.epochs.at(offset) }

// AssignEpoch notes that a leader epoch begins at start, as a new leader does.
// It reaches the disk with the next flush; until then recovery reads it from the
// batches.
func (l *Log) AssignEpoch(epoch int32, start int64) error {
	if err := l.usable(); err != nil {
		return err
	}
	l.epochs.assign(epoch, start)
	return nil
}

// writeEpochs brings the checkpoint file up to date. The caller holds flushing,
// or has the log to itself.
func (l *Log) writeEpochs(sync bool) error {
	data, changed := l.epochs.content()
	if !changed {
		return nil
	}
	l.derived.Store(true)
	err := l.dir.replaceFile(filepath.Join(l.path, epochFile), data, sync)
	if err != nil {
		l.epochs.unwritten()
	}
	return err
}
