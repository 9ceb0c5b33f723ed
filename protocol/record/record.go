package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Record is one record of a batch. Timestamp and offset are relative to the batch's: [Batch.TimestampOf] and
// [Batch.OffsetOf] give them whole.
type Record struct {
	Attributes     int8 // no bit has a meaning yet
	TimestampDelta int64
	OffsetDelta    int32
	Key            []byte // nil is null
	Value          []byte // nil is null: a tombstone in a compacted topic
	Headers        []Header
}

// Header is one header of a record.
type Header struct {
	Key   []byte // never null
	Value []byte // nil is null
}

// OffsetOf gives the record's offset.
func (b Batch) OffsetOf(r *Record) int64 { return b.BaseOffset() + int64(r.OffsetDelta) }

// TimestampOf gives the record's timestamp in milliseconds.
func (b Batch) TimestampOf(r *Record) int64 {
	if b.TimestampType() == LogAppendTime {
		return b.MaxTimestamp()
	}
	return b.BaseTimestamp() + r.TimestampDelta
}

// ErrInvalidRecord is what a payload gives whose records do not fill it as the batch header and the records' own
// lengths say.
var ErrInvalidRecord = errors.New("invalid record")

// The ways in which a payload can be wrong. They carry no numbers, so that the hot path can name them for nothing.
var (
	errRecordCut       = fmt.Errorf("%w: premature end of the batch", ErrInvalidRecord)
	errRecordBody      = fmt.Errorf("%w: fields do not fit the record's length", ErrInvalidRecord)
	errHeaderCount     = fmt.Errorf("%w: number of headers", ErrInvalidRecord)
	errHeaderKey       = fmt.Errorf("%w: null header key", ErrInvalidRecord)
	errRecordsLeft     = fmt.Errorf("%w: bytes remain behind the last record", ErrInvalidRecord)
	errRecordCount     = fmt.Errorf("%w: negative record count", ErrInvalidRecord)
	errRecordLengthBad = fmt.Errorf("%w: endless record length", ErrInvalidRecord)
)

// meta is what judging and looking up need of a record. A negative length is null.
type meta struct {
	attributes     int8
	timestampDelta int64
	offsetDelta    int32
	keyLength      int32
	valueLength    int32
}

// skim reads the record at p[i:] without its contents and gives the position behind it. Everything must lie within
// the record's own length, and fill it.
func skim(p []byte, i int, m *meta) (next int, err error) {
	if next := skimShort(p, i, m); next > 0 {
		return next, nil
	}
	length, i := varint32(p, i)
	if i < 0 {
		return 0, errRecordCut
	}
	if length < 0 {
		return 0, errRecordBody
	}
	if int(length) > len(p)-i {
		return 0, errRecordCut
	}
	end := i + int(length)
	if err := skimBody(p[:end], i, m); err != nil {
		return 0, err
	}
	return end, nil
}

// skimShort is skim for the records that nearly all are: sound, no headers, no number above two bytes (or three for
// the lengths), and not at the very end of p. For any other it gives 0, having written garbage to m.
func skimShort(p []byte, i int, m *meta) (next int) {
	if len(p)-i < 16 {
		return 0
	}
	u, i := shortVarint(p, i)
	if u&1 != 0 || i == 0 || int(u>>1) > len(p)-i || len(p)-i < 12 {
		return 0
	}
	end := i + int(u>>1)
	m.attributes = int8(p[i])
	if u, i = shortVarint(p, i+1); i == 0 {
		return 0
	}
	m.timestampDelta = int64(unzigzag(u))
	if u, i = shortVarint(p, i); i == 0 {
		return 0
	}
	m.offsetDelta = unzigzag(u)
	if u, i = shortVarint(p, i); i == 0 {
		return 0
	}
	m.keyLength = unzigzag(u)
	i += int(max(m.keyLength, 0))
	if i > end-2 || i > len(p)-3 {
		return 0
	}
	if u, i = shortVarint(p, i); i == 0 {
		return 0
	}
	m.valueLength = unzigzag(u)
	i += int(max(m.valueLength, 0))
	if i != end-1 || p[i] != 0 {
		return 0
	}
	return end
}

// shortVarint reads a varint of at most three bytes, before zig-zag; a longer one gives the position 0. Three bytes
// must be there. It exists to be inlined.
func shortVarint(p []byte, i int) (u uint32, next int) {
	u = uint32(p[i])
	if u < 0x80 {
		return u, i + 1
	}
	if c := uint32(p[i+1]); c < 0x80 {
		return u&0x7f | c<<7, i + 2
	}
	if c := uint32(p[i+2]); c < 0x80 {
		return u&0x7f | uint32(p[i+1]&0x7f)<<7 | c<<14, i + 3
	}
	return 0, 0
}

func unzigzag(u uint32) int32 { return int32(u>>1) ^ -int32(u&1) }

// skimBody reads the record whose body is p[i:].
func skimBody(p []byte, i int, m *meta) error {
	if i >= len(p) {
		return errRecordBody
	}
	m.attributes = int8(p[i])
	if m.timestampDelta, i = varint64(p, i+1); i < 0 {
		return errRecordBody
	}
	if m.offsetDelta, i = varint32(p, i); i < 0 {
		return errRecordBody
	}
	if m.keyLength, i = varint32(p, i); i < 0 {
		return errRecordBody
	}
	if n := int(m.keyLength); n > 0 {
		if n > len(p)-i {
			return errRecordBody
		}
		i += n
	}
	if m.valueLength, i = varint32(p, i); i < 0 {
		return errRecordBody
	}
	if n := int(m.valueLength); n > 0 {
		if n > len(p)-i {
			return errRecordBody
		}
		i += n
	}
	if i == len(p)-1 && p[i] == 0 { // no headers, as nearly always
		return nil
	}
	return skimHeaders(p, i)
}

// skimHeaders reads the headers that p[i:] must consist of.
func skimHeaders(p []byte, i int) error {
	count, i := varint32(p, i)
	if i < 0 {
		return errRecordBody
	}
	if count < 0 || int(count) > len(p)-i {
		return errHeaderCount
	}
	for range count {
		var n int32
		if n, i = varint32(p, i); i < 0 {
			return errRecordBody
		}
		if n < 0 {
			return errHeaderKey
		}
		if int(n) > len(p)-i {
			return errRecordBody
		}
		i += int(n)
		if n, i = varint32(p, i); i < 0 || int(n) > len(p)-i {
			return errRecordBody
		}
		if n > 0 {
			i += int(n)
		}
	}
	if i != len(p) {
		return errRecordBody
	}
	return nil
}

// read is skim with the contents: the slices of r point into p, and r.Headers is reused.
func (r *Record) read(p []byte, i int) (next int, err error) {
	var m meta
	if next, err = skim(p, i, &m); err != nil {
		return 0, err
	}
	r.Attributes, r.TimestampDelta, r.OffsetDelta = m.attributes, m.timestampDelta, m.offsetDelta
	// From here on nothing can fail: skim has walked the same bytes.
	_, i = varint32(p, i)
	_, i = varint64(p, i+1)
	_, i = varint32(p, i)
	r.Key, i = readBytes(p, i)
	r.Value, i = readBytes(p, i)
	count, i := varint32(p, i)
	r.Headers = r.Headers[:0]
	for range count {
		var h Header
		h.Key, i = readBytes(p, i)
		h.Value, i = readBytes(p, i)
		r.Headers = append(r.Headers, h)
	}
	return next, nil
}

// readBytes reads a length and that many bytes; nil for a negative length.
func readBytes(p []byte, i int) ([]byte, int) {
	n, i := varint32(p, i)
	if n < 0 {
		return nil, i
	}
	end := i + int(n)
	return p[i:end:end], end
}

// append adds the record's bytes to dst.
func (r *Record) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(r.bodySize()))
	dst = append(dst, byte(r.Attributes))
	dst = binary.AppendVarint(dst, r.TimestampDelta)
	dst = binary.AppendVarint(dst, int64(r.OffsetDelta))
	dst = appendBytes(dst, r.Key)
	dst = appendBytes(dst, r.Value)
	dst = binary.AppendVarint(dst, int64(len(r.Headers)))
	for i := range r.Headers {
		dst = binary.AppendVarint(dst, int64(len(r.Headers[i].Key)))
		dst = append(dst, r.Headers[i].Key...)
		dst = appendBytes(dst, r.Headers[i].Value)
	}
	return dst
}

// bodySize is the record's size without the length in front of it.
func (r *Record) bodySize() int {
	n := 1 + sizeOfVarint(r.TimestampDelta) + sizeOfVarint(int64(r.OffsetDelta)) +
		sizeOfBytes(r.Key) + sizeOfBytes(r.Value) + sizeOfVarint(int64(len(r.Headers)))
	for i := range r.Headers {
		k := len(r.Headers[i].Key)
		n += sizeOfVarint(int64(k)) + k + sizeOfBytes(r.Headers[i].Value)
	}
	return n
}

func sizeOfBytes(b []byte) int {
	if b == nil {
		return 1
	}
	return sizeOfVarint(int64(len(b))) + len(b)
}

func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	dst = binary.AppendVarint(dst, int64(len(b)))
	return append(dst, b...)
}
