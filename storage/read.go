package storage

import (
	"errors"
	"io"
	"sort"
	"sync"

	"barnabas/protocol/record"
)

// ReadOptions say what to read.
type ReadOptions struct {
	// Offset is where to begin. The region begins with the batch that holds it.
	Offset int64
	// MaxBytes bounds the region; the last batch may be cut by it.
	MaxBytes int
	// End is the exclusive bound: high watermark, last stable or log end offset.
	// No batch at or behind it is returned.
	End int64
	// MinOne gives the first batch whole even if MaxBytes is smaller.
	MinOne bool
}

// Read answers with the range of a file that holds the records from Offset on,
// within one segment. It is nil if there is nothing to read: Offset at or above
// End, or MaxBytes too small. An offset below the log start or above the log end
// is ErrOffsetOutOfRange. The caller releases the region.
func (l *Log) Read(o ReadOptions) (*Region, error) {
	for {
		if err := l.usable(); err != nil {
			return nil, err
		}
		cuts := l.truncations.Load()
		end := l.LogEndOffset()
		if o.Offset < l.LogStartOffset() || o.Offset > end {
			return nil, l.errorf(ErrOffsetOutOfRange, "offset %d, the log has %d to %d", o.Offset, l.LogStartOffset(), end)
		}
		end = min(end, o.End)
		if o.Offset >= end {
			return nil, nil
		}
		segments := l.segments()
		i := floorSegment(segments, o.Offset)
		if i < 0 {
			continue // the list is older than the log start: look again
		}
		// A segment may hold nothing at or behind the offset (compaction, a cut):
		// then the next one begins with what follows.
		for ; i < len(segments); i++ {
			r, err := l.readSegment(segments, i, o, end)
			if r != nil || err != nil {
				if errors.Is(err, errRetired) || (err != nil && cuts != l.truncations.Load()) {
					break // deleted or truncated under us: look again
				}
				return r, l.readFailed(err)
			}
		}
		if i == len(segments) && cuts == l.truncations.Load() {
			return nil, nil
		}
	}
}

func (l *Log) readFailed(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrOffsetOutOfRange) || errors.Is(err, ErrCorrupt) || errors.Is(err, errRetired):
		return err
	case l.usable() != nil:
		return l.usable()
	}
	return l.dir.fail(l.errorf(err, "read"))
}

// floorSegment is the index of the last segment based at or below offset.
func floorSegment(segments []*segment, offset int64) int {
	return sort.Search(len(segments), func(i int) bool { return segments[i].base > offset }) - 1
}

func (l *Log) readSegment(segments []*segment, i int, o ReadOptions, end int64) (*Region, error) {
	s := segments[i]
	f, err := s.acquire()
	if err != nil {
		return nil, err
	}
	r := &Region{file: f, segment: s}
	limit, err := l.endPosition(segments, i, end)
	if err == nil {
		var first int
		r.position, first, err = l.locate(s, o.Offset, limit)
		r.length = int(min(int64(o.MaxBytes), limit-r.position))
		if r.position+int64(r.length) < limit {
			r.length = s.trim(r.position, r.length)
		}
		if o.MinOne && r.length < first {
			r.length = first
		}
	}
	if err == nil {
		err = l.repair(s)
	}
	if err != nil || r.length <= 0 {
		r.Release()
		return nil, err
	}
	return r, nil
}

// trim shortens a region that its limit cuts to the last batch boundary that the
// index in memory knows: the reader would fetch the cut batch again. The region
// keeps its length where that would leave less than half of it.
func (s *segment) trim(position int64, length int) int {
	if boundary := s.offsets.boundary(position + int64(length)); boundary-position > int64(length)/2 {
		return int(boundary - position)
	}
	return length
}

// endPosition is where, in segments[i], what lies below offset end stops.
func (l *Log) endPosition(segments []*segment, i int, end int64) (int64, error) {
	s := segments[i]
	if i+1 < len(segments) && segments[i+1].base <= end {
		return s.size.Load(), nil
	}
	l.tailMu.RLock()
	tail := l.tail
	l.tailMu.RUnlock()
	if tail.offset == end && tail.segment == s {
		return tail.position, nil
	}
	size := s.size.Load()
	position, _, err := l.locate(s, end, size)
	return position, err
}

// locate finds the first batch whose last offset is at or behind offset, among
// the first limit bytes of the segment: its position and its size. If there is
// none the position is limit and the size 0.
func (l *Log) locate(s *segment, offset, limit int64) (position int64, size int, err error) {
	from, err := s.lookup(offset)
	if err != nil {
		return 0, 0, err
	}
	if from > limit {
		from = 0
	}
	position = limit
	lied := false
	visit := func(b record.Batch, at int64) bool {
		if at == from && at > 0 && b.BaseOffset() > offset {
			lied = true // the index led past the offset
			return false
		}
		if b.LastOffset() < offset {
			return true
		}
		position, size = at, b.Size()
		return false
	}
	_, err = l.scanTo(s, from, limit, visit)
	if from > 0 && (lied || errors.Is(err, ErrCorrupt)) {
		s.damaged.Store(s.sealed.Load()) // an index that lies costs time, nothing else
		from, position, size = 0, limit, 0
		_, err = l.scanTo(s, 0, limit, visit)
	}
	return position, size, err
}

// scan walks the batch headers of a segment from position on, until visit says
// no. It answers with the position behind the last whole batch it saw. visit's
// batch has only its header: it must not touch the payload.
func (l *Log) scan(s *segment, from int64, visit func(head record.Batch, position int64) bool) (int64, error) {
	return l.scanTo(s, from, s.size.Load(), visit)
}

// headerPool holds the buffers of scans: enough for the batches between two
// index entries, so that a look-up costs one read.
var headerPool = sync.Pool{New: func() any { return new([8 << 10]byte) }}

func (l *Log) scanTo(s *segment, from, limit int64, visit func(record.Batch, int64) bool) (int64, error) {
	if from+record.HeaderSize > limit {
		return from, nil
	}
	f, err := s.acquire()
	if err != nil {
		return from, err
	}
	defer s.release()
	buf := headerPool.Get().(*[8 << 10]byte)
	defer headerPool.Put(buf)
	have, at := []byte(nil), from // have are the bytes of the file from at on
	for pos := from; pos+record.HeaderSize <= limit; {
		skip := pos - at
		if skip+record.HeaderSize > int64(len(have)) {
			n, err := f.ReadAt(buf[:min(int64(len(buf)), limit-pos)], pos)
			if n < record.HeaderSize {
				if err == nil || errors.Is(err, io.EOF) {
					err = l.errorf(ErrCorrupt, "segment %d ends at %d, not at %d", s.base, pos+int64(n), limit)
				}
				return pos, err
			}
			have, at, skip = buf[:n], pos, 0
		}
		head := record.Batch(have[skip : skip+record.HeaderSize])
		size, err := record.HeaderSizeOf(head)
		if err != nil || pos+int64(size) > limit || head.Magic() != record.Magic || head.BaseOffset() < s.base {
			return pos, l.errorf(ErrCorrupt, "segment %d has no whole batch at %d", s.base, pos)
		}
		if !visit(head, pos) {
			return pos, nil
		}
		pos += int64(size)
		from = pos
	}
	return from, nil
}

// readBatch reads one whole batch into a buffer of its own.
func (l *Log) readBatch(s *segment, position int64, size int) (record.Batch, error) {
	f, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, position); err != nil {
		return nil, err
	}
	return b, nil
}
