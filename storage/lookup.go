package storage

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"

	"barnabas/protocol/record"
	"barnabas/storage/vfs"
)

// The indexes of a sealed segment are searched in their files, which are opened
// for the look-up: memory and descriptors stay those of the active segments.
// What a file says is held against the batches. One that is missing, cut or
// lies costs a scan of the segment, and is then written anew.

// floorEntry finds, by bisection, the last entry of width bytes that is not
// above what is sought; nil if there is none. A file that is no whole number of
// entries is ErrCorrupt.
func floorEntry(f vfs.File, width int64, above func(entry []byte) bool) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size%width != 0 {
		return nil, ErrCorrupt
	}
	var found []byte
	for lo, hi := int64(0), size/width; lo < hi; {
		mid := (lo + hi) / 2
		e := make([]byte, width)
		if _, err := f.ReadAt(e, mid*width); err != nil {
			return nil, err
		}
		if above(e) || (mid > 0 && allZero(e)) { // zeros: the rest of a preallocated file
			hi = mid
		} else {
			lo, found = mid+1, e
		}
	}
	return found, nil
}

// search looks into one of the segment's index files. A file that is unusable
// gives no entry and damaged.
func (s *segment) search(suffix string, width int64, above func([]byte) bool) (entry []byte, damaged bool, err error) {
	f, err := s.cache.fs.Open(s.sibling(suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	entry, err = floorEntry(f, width, above)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, io.EOF) {
		return nil, true, nil
	}
	return entry, false, err
}

// lookup is the position from which a scan for offset starts: that of a batch
// at or before it, if the index is right.
func (s *segment) lookup(offset int64) (int64, error) {
	if !s.sealed.Load() || s.offsets.len() > 0 {
		return s.offsets.floor(offset - s.base), nil
	}
	e, damaged, err := s.search(".index", offsetEntryBytes, func(e []byte) bool {
		return int64(binary.BigEndian.Uint32(e)) > offset-s.base
	})
	if damaged {
		s.damaged.Store(true)
	}
	if err != nil || e == nil {
		return 0, err
	}
	position := int64(binary.BigEndian.Uint32(e[4:]))
	if position >= s.size.Load() {
		s.damaged.Store(true)
		return 0, nil
	}
	return position, nil
}

// timeFloor is the offset of the last time index entry below ms: every record
// up to it is older. found is false before the first entry.
func (s *segment) timeFloor(ms int64) (offset int64, found bool, err error) {
	if relative, ok := s.times.floor(ms); ok || !s.sealed.Load() {
		return s.base + relative, ok, nil
	}
	e, damaged, err := s.search(".timeindex", timeEntryBytes, func(e []byte) bool {
		return int64(binary.BigEndian.Uint64(e)) >= ms
	})
	if damaged {
		s.damaged.Store(true)
	}
	if err != nil || e == nil {
		return 0, false, err
	}
	return s.base + int64(binary.BigEndian.Uint32(e[8:])), true, nil
}

// loadTimes finds the highest timestamp of a sealed segment on first use: the
// last entry of its time index, if the batch there confirms it, and what lies
// behind that; else all batches are looked at.
func (l *Log) loadTimes(s *segment) error {
	if s.times.isKnown() {
		return nil
	}
	from, err := l.confirmTimes(s)
	if err != nil {
		return err
	}
	highest := timeEntry{timestamp: noTime}
	if _, err := l.scan(s, from, func(b record.Batch, _ int64) bool {
		if b.MaxTimestamp() > highest.timestamp {
			highest = timeEntry{b.MaxTimestamp(), uint32(b.LastOffset() - s.base)}
		}
		return true
	}); err != nil {
		return err
	}
	s.times.know(highest)
	return nil
}

// confirmTimes gives the position of the batch that the last time index entry
// names, if it has that timestamp; 0 and damage otherwise.
func (l *Log) confirmTimes(s *segment) (position int64, err error) {
	e, damaged, err := s.search(".timeindex", timeEntryBytes, func([]byte) bool { return false })
	if err != nil {
		return 0, err
	}
	if damaged || e == nil {
		s.damaged.Store(s.size.Load() > 0)
		return 0, nil
	}
	timestamp, offset := int64(binary.BigEndian.Uint64(e)), s.base+int64(binary.BigEndian.Uint32(e[8:]))
	at, size, err := l.locate(s, offset, s.size.Load())
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return 0, err
	}
	if err == nil && size > 0 {
		var highest int64
		if _, err = l.scan(s, at, func(b record.Batch, _ int64) bool {
			highest = b.MaxTimestamp()
			return false
		}); err == nil && highest == timestamp {
			return at, nil
		}
	}
	s.damaged.Store(true)
	return 0, nil
}

// repair writes the indexes of a sealed segment anew if a look-up found them
// damaged.
func (l *Log) repair(s *segment) error {
	if !s.damaged.Load() || !s.sealed.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable() != nil {
		return nil
	}
	return l.repairLocked(s)
}

// repairLocked builds the indexes beside those in use: readers go on.
func (l *Log) repairLocked(s *segment) error {
	if !s.damaged.Swap(false) || !s.sealed.Load() {
		return nil
	}
	x := &segmentIndexes{interval: int64(l.Config().IndexIntervalBytes)}
	x.times.reset()
	if _, err := l.scan(s, 0, func(b record.Batch, position int64) bool {
		x.add(s.base, position, b)
		return true
	}); err != nil {
		return err
	}
	x.times.add()
	s.times.know(x.times.maximum())
	err := l.dir.replaceFile(s.sibling(".index"), x.offsets.encode(), false)
	if err == nil {
		err = l.dir.replaceFile(s.sibling(".timeindex"), x.times.encode(), false)
	}
	if isFull(err) {
		return nil // look-ups stay slow until the next start
	}
	return err
}

// segmentIndexes are the two indexes of a segment that is being filled.
type segmentIndexes struct {
	offsets  offsetIndex
	times    timeIndex
	interval int64
	between  int64 // bytes since the last entry
}

// add takes a batch at position; the indexes get an entry once more than
// interval bytes went by.
func (x *segmentIndexes) add(base, position int64, b record.Batch) {
	relative := b.LastOffset() - base
	x.times.saw(b.MaxTimestamp(), relative)
	if x.between > x.interval {
		x.offsets.add(relative, position)
		x.times.add()
		x.between = 0
	}
	x.between += int64(b.Size())
}
