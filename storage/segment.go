package storage

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"barnabas/internal/clock"
	"barnabas/storage/vfs"
)

// segment is one file of a log and its two indexes. Its base offset never
// changes; size grows under the log's append lock and is read without it.
type segment struct {
	base  int64
	cache *fileCache
	// size is how many bytes of the .log file belong to the log. What lies
	// behind it, if anything, is being written.
	size atomic.Int64

	// The following are the append lock's.
	created   int64 // ms; when the segment was opened for writing
	firstTime int64 // timestamp of the first batch, noTime while empty

	// sealed: no longer the active segment; its indexes are on disk.
	sealed atomic.Bool
	// damaged: an index file of the sealed segment has to be written anew.
	damaged atomic.Bool

	offsets offsetIndex
	times   timeIndex

	// mu guards the file handle and where it lies.
	mu      sync.Mutex
	path    string // of the .log file
	file    vfs.File
	refs    int
	retired bool
	used    bool // since the file cache's hand passed
}

const noTime int64 = -1

// fileName is a segment's name: twenty digits of its base offset.
func fileName(base int64, suffix string) string { return fmt.Sprintf("%020d%s", base, suffix) }

func newSegment(dir string, base int64, cache *fileCache) *segment {
	s := &segment{base: base, cache: cache, path: filepath.Join(dir, fileName(base, ".log")), firstTime: noTime}
	s.times.reset()
	return s
}

// sibling is the path of another file of the segment.
func (s *segment) sibling(suffix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return filepath.Join(filepath.Dir(s.path), fileName(s.base, suffix))
}

// errRetired: the segment was deleted or truncated away. Whoever meets it looks
// at the log's present list of segments.
var errRetired = errors.New("segment is gone")

// create makes the segment's file, empty.
func (s *segment) create() error {
	f, err := s.cache.fs.Create(s.path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Close())
}

// acquire opens the segment's file if need be and keeps it open until release.
// It never makes the file: a name that is missing is a failure.
func (s *segment) acquire() (vfs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil, errRetired
	}
	if s.file == nil {
		f, err := s.cache.fs.Open(s.path)
		if err != nil {
			return nil, err
		}
		s.file = f
		s.cache.opened(s)
	}
	s.refs++
	s.used = true
	return s.file, nil
}

// release gives a reference back; the last one of a retired segment closes it.
func (s *segment) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs--
	if s.refs == 0 && s.retired {
		s.closeLocked()
	}
}

// retire closes the file once nobody reads it any more.
func (s *segment) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	if s.refs == 0 {
		s.closeLocked()
	}
}

// moved tells that the log's directory has a new name.
func (s *segment) moved(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.path = filepath.Join(dir, filepath.Base(s.path))
}

func (s *segment) closeLocked() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // nothing is buffered in the handle: what close could report, sync did
	s.file = nil
	s.cache.closed()
}

// evict closes the file if nobody uses it, and reports whether it did.
func (s *segment) evict() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.file == nil {
		return true
	}
	if s.refs > 0 || s.used {
		s.used = false
		return false
	}
	s.closeLocked()
	return true
}

// fileCache bounds how many segment files are open: a clock over the segments
// that were opened, its hand giving each a second chance.
type fileCache struct {
	fs    vfs.FS
	clock clock.Clock
	limit int
	open  atomic.Int64

	mu   sync.Mutex
	ring []*segment
}

func newFileCache(fsys vfs.FS, c clock.Clock, limit int) *fileCache {
	return &fileCache{fs: fsys, clock: c, limit: limit}
}

func (c *fileCache) now() int64 { return clock.Millis(c.clock) }

// opened takes s into the ring. The caller holds s.mu, so the hand skips it.
func (c *fileCache) opened(s *segment) {
	over := int(c.open.Add(1)) > c.limit
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ring = append(c.ring, s)
	if !over && len(c.ring) < 4*c.limit {
		return
	}
	// Look at each entry once at most: those closed leave the ring.
	// Those that stay go behind the others, so that the hand moves on.
	look := c.ring
	var stay []*segment
	i, all := 0, len(look) >= 4*c.limit
	for ; i < len(look) && (all || int(c.open.Load()) > c.limit*7/8); i++ {
		if look[i] == s || !look[i].evict() {
			stay = append(stay, look[i])
		}
	}
	c.ring = append(look[i:], stay...)
}

func (c *fileCache) closed() { c.open.Add(-1) }
