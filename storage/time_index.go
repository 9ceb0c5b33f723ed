package storage

import (
	"encoding/binary"
	"sort"
	"sync"
)

// The time index of a segment, as Kafka's .timeindex file: entries of 12 bytes,
//
//	timestamp int64 | relativeOffset int32
//
// big-endian, timestamps strictly ascending. An entry says that timestamp is the
// highest up to its offset. The active segment's entries are in memory; those of
// a sealed segment are searched in the file.
type timeIndex struct {
	mu      sync.RWMutex
	entries []timeEntry
	// max is the highest timestamp of the segment and the last offset of the
	// batch that brought it; an entry for it is forced when the segment is sealed.
	max timeEntry
	// known: max is that of all batches, not of those seen so far.
	known bool
}

type timeEntry struct {
	timestamp int64
	relative  uint32
}

const timeEntryBytes = 12

func (x *timeIndex) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries, x.max, x.known = nil, timeEntry{timestamp: noTime}, true
}

// saw takes a batch's highest timestamp.
func (x *timeIndex) saw(timestamp, relative int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if timestamp > x.max.timestamp {
		x.max = timeEntry{timestamp, uint32(relative)}
	}
}

// add writes the maximum so far down, if it moved since the last entry.
func (x *timeIndex) add() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.entries); x.max.timestamp >= 0 && (n == 0 || x.max.timestamp > x.entries[n-1].timestamp) {
		x.entries = append(x.entries, x.max)
	}
}

func (x *timeIndex) maximum() timeEntry {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.max
}

// floor is the relative offset of the last entry whose timestamp is below ms:
// every record up to it is older. found is false before the first entry.
func (x *timeIndex) floor(ms int64) (relative int64, found bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].timestamp >= ms })
	if i == 0 {
		return 0, false
	}
	return int64(x.entries[i-1].relative), true
}

func (x *timeIndex) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.entries)
}

func (x *timeIndex) encode() []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := make([]byte, 0, len(x.entries)*timeEntryBytes)
	for _, e := range x.entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e.timestamp))
		b = binary.BigEndian.AppendUint32(b, e.relative)
	}
	return b
}

// drop frees the entries; they are in the file.
func (x *timeIndex) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries = nil
}

// forget says that the maximum has to be loaded.
func (x *timeIndex) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries, x.max, x.known = nil, timeEntry{timestamp: noTime}, false
}

func (x *timeIndex) isKnown() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.known
}

// know takes the maximum that was loaded, unless the index was built anew
// meanwhile.
func (x *timeIndex) know(highest timeEntry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.known {
		x.max, x.known = highest, true
	}
}

func (x *timeIndex) set(entries []timeEntry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries = entries
	if n := len(entries); n > 0 && entries[n-1].timestamp > x.max.timestamp {
		x.max = entries[n-1]
	}
}

// decodeTimeIndex reads a .timeindex file; see decodeOffsetIndex.
func decodeTimeIndex(b []byte) ([]timeEntry, error) {
	if len(b)%timeEntryBytes != 0 {
		return nil, ErrCorrupt
	}
	entries := make([]timeEntry, 0, len(b)/timeEntryBytes)
	for ; len(b) > 0; b = b[timeEntryBytes:] {
		e := timeEntry{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:])}
		if e == (timeEntry{}) && allZero(b) {
			break
		}
		if n := len(entries); n > 0 && (e.timestamp <= entries[n-1].timestamp || e.relative < entries[n-1].relative) {
			return nil, ErrCorrupt
		}
		if e.timestamp < 0 || e.relative > 1<<31-1 {
			return nil, ErrCorrupt
		}
		entries = append(entries, e)
	}
	return entries, nil
}
