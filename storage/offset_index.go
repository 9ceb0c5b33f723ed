package storage

import (
	"encoding/binary"
	"sort"
	"sync"
)

// The offset index of a segment, as Kafka's .index file: entries of 8 bytes,
//
//	relativeOffset int32 | position int32
//
// big-endian and ascending. The offset is the last one of the data appended at
// that position (FORMAT.md). The active segment's entries are in memory; those
// of a sealed segment are searched in the file.
type offsetIndex struct {
	mu      sync.RWMutex
	entries []indexEntry
}

type indexEntry struct{ relative, position uint32 }

const offsetEntryBytes = 8

func (x *offsetIndex) add(relative int64, position int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries = append(x.entries, indexEntry{uint32(relative), uint32(position)})
}

// floor is the position of the last entry at or below the relative offset, 0 if
// there is none.
func (x *offsetIndex) floor(relative int64) int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i := sort.Search(len(x.entries), func(i int) bool { return int64(x.entries[i].relative) > relative })
	if i == 0 {
		return 0
	}
	return int64(x.entries[i-1].position)
}

// boundary is the last position at or below end at which an entry says that a
// batch begins, 0 if there is none.
func (x *offsetIndex) boundary(end int64) int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i := sort.Search(len(x.entries), func(i int) bool { return int64(x.entries[i].position) > end })
	if i == 0 {
		return 0
	}
	return int64(x.entries[i-1].position)
}

func (x *offsetIndex) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.entries)
}

func (x *offsetIndex) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries = nil
}

func (x *offsetIndex) encode() []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := make([]byte, 0, len(x.entries)*offsetEntryBytes)
	for _, e := range x.entries {
		b = binary.BigEndian.AppendUint32(b, e.relative)
		b = binary.BigEndian.AppendUint32(b, e.position)
	}
	return b
}

// decodeOffsetIndex reads the file of a segment of size bytes. What is not
// ascending or points beyond the segment is ErrCorrupt: the index is then built
// anew. A tail of zeros is the rest of a preallocated file.
func decodeOffsetIndex(b []byte, size int64) ([]indexEntry, error) {
	if len(b)%offsetEntryBytes != 0 {
		return nil, ErrCorrupt
	}
	entries := make([]indexEntry, 0, len(b)/offsetEntryBytes)
	for ; len(b) > 0; b = b[offsetEntryBytes:] {
		e := indexEntry{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
		if e == (indexEntry{}) && len(entries) > 0 && allZero(b) {
			break
		}
		if n := len(entries); n > 0 && (e.relative <= entries[n-1].relative || e.position <= entries[n-1].position) {
			return nil, ErrCorrupt
		}
		if int64(e.position) >= size || e.relative > 1<<31-1 {
			if e == (indexEntry{}) && allZero(b) {
				break
			}
			return nil, ErrCorrupt
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
