package record

import "iter"

// DefaultLimit is how much a batch may decompress to where the caller names no other limit, in bytes.
const DefaultLimit = 64 << 20

// Records gives the batch's records in order, decompressing at most [DefaultLimit] bytes. It stops at the first error,
// which comes with a zero Record: one of [Decompress], or [ErrInvalidRecord].
//
// The slices of a record belong to the batch if it is plain, and to a borrowed buffer that is given back when the loop
// ends if it is compressed. Headers is overwritten by the next record. Copy what is kept.
func (b Batch) Records() iter.Seq2[Record, error] { return b.RecordsLimit(DefaultLimit) }

// RecordsLimit is Records with another limit.
func (b Batch) RecordsLimit(limit int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		payload, release, err := b.plainPayload(limit)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer release()
		var r Record
		err = eachAt(payload, b.RecordCount(), func(i int) (int, bool, error) {
			next, err := r.read(payload, i)
			return next, err != nil || yield(r, nil), err
		})
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// eachAt calls f with the position of each of count records; f gives the next position and whether to go on.
func eachAt(payload []byte, count int32, f func(at int) (next int, more bool, err error)) error {
	if count < 0 {
		return errRecordCount
	}
	at := 0
	for range count {
		next, more, err := f(at)
		if err != nil || !more {
			return err
		}
		at = next
	}
	if at != len(payload) {
		return errRecordsLeft
	}
	return nil
}

// plainPayload gives the payload decompressed. If it was compressed, release gives its buffer back.
func (b Batch) plainPayload(limit int) (payload []byte, release func(), err error) {
	if b.Codec() == None {
		return b.Payload(), func() {}, nil
	}
	buf := getBuffer(min(4*len(b), largestBuffer))
	buf.b, err = Decompress(buf.b, b.Codec(), b.Payload(), limit)
	if err != nil {
		buf.put()
		return nil, nil, err
	}
	return buf.b, func() { buf.put() }, nil
}

// Walk calls f with the offset and the timestamp (milliseconds) of each record, in order, until f returns false. It
// skips keys, values and headers, and a compressed payload is never held as a whole if its codec allows. At most limit
// bytes are decompressed. The errors are those of [Batch.Records].
func (b Batch) Walk(limit int, f func(offset, timestamp int64) bool) error {
	base, first := b.BaseOffset(), b.BaseTimestamp()
	if b.TimestampType() == LogAppendTime {
		first = b.MaxTimestamp()
	}
	return b.each(limit, func(_ int, m *meta) bool {
		ts := first
		if b.TimestampType() == CreateTime {
			ts += m.timestampDelta
		}
		return f(base+int64(m.offsetDelta), ts)
	})
}

// FirstSince finds the first record whose timestamp is at least ms and whose offset is at least from.
func (b Batch) FirstSince(ms, from int64) (offset, timestamp int64, found bool, err error) {
	if b.MaxTimestamp() < ms || b.LastOffset() < from {
		return -1, NoTimestamp, false, nil
	}
	offset, timestamp = -1, NoTimestamp
	err = b.Walk(DefaultLimit, func(o, t int64) bool {
		if t >= ms && o >= from {
			offset, timestamp, found = o, t, true
		}
		return !found
	})
	return offset, timestamp, found, err
}

// OffsetOfMaxTimestamp finds the first record that has the batch's highest timestamp. With LogAppendTime that is simply
// the first. A batch without records has none.
func (b Batch) OffsetOfMaxTimestamp() (offset, timestamp int64, found bool, err error) {
	return b.FirstSince(b.MaxTimestamp(), b.BaseOffset())
}

// each calls f with every record until f returns false, and checks that they fill the payload.
func (b Batch) each(limit int, f func(i int, m *meta) bool) error {
	if b.Codec() == None {
		return eachPlain(b.Payload(), b.RecordCount(), f)
	}
	if b.RecordCount() < 0 {
		return errRecordCount
	}
	if b.RecordCount() == 0 {
		return nil // a compacted batch, whatever its payload is
	}
	s := scanner{d: newDecoder(b.Codec(), b.Payload(), limit)}
	defer s.d.close()
	var m meta
	for i := range int(b.RecordCount()) {
		if err := s.skim(&m); err != nil {
			return err
		}
		if !f(i, &m) {
			return nil
		}
	}
	return s.end()
}

func eachPlain(payload []byte, count int32, f func(i int, m *meta) bool) error {
	var m meta
	n := 0
	return eachAt(payload, count, func(at int) (int, bool, error) {
		next, err := skim(payload, at, &m)
		if err != nil {
			return 0, false, err
		}
		n++
		return next, f(n-1, &m), nil
	})
}
