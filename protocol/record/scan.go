package record

import "io"

// scanner walks over the records of a payload without holding more of it than the decoder's current piece. A record
// that lies within one piece is read like a plain one; only one that crosses pieces is read byte by byte, and its key
// and value are never put together.
type scanner struct {
	d   *decoder
	cur []byte // what is left of the current piece
}

// fill makes sure that a byte is there. The end of the payload is io.EOF.
func (s *scanner) fill() error {
	for len(s.cur) == 0 {
		var err error
		if s.cur, err = s.d.next(); err != nil {
			return err
		}
	}
	return nil
}

// skim reads one record. An end of the payload where none may be is [ErrInvalidRecord]; errors of the codec stay.
func (s *scanner) skim(m *meta) error {
	if length, i := varint32(s.cur, 0); i > 0 && length >= 0 && int(length) <= len(s.cur)-i {
		end := i + int(length)
		if err := skimBody(s.cur[:end], i, m); err != nil {
			return err
		}
		s.cur = s.cur[end:]
		return nil
	}
	return s.skimAcross(m)
}

func (s *scanner) skimAcross(m *meta) error {
	r := body{s: s, left: maxVarint32}
	length := r.varint32()
	if r.err != nil {
		return r.err
	}
	if length < 0 {
		return errRecordBody
	}
	r.left = int(length)
	m.attributes = int8(r.byte())
	m.timestampDelta = r.varint64()
	m.offsetDelta = r.varint32()
	m.keyLength = r.varint32()
	r.skip(m.keyLength)
	m.valueLength = r.varint32()
	r.skip(m.valueLength)
	r.headers()
	if r.err == nil && r.left != 0 {
		r.err = errRecordBody
	}
	return r.err
}

// end tells whether the payload ends here, as it must behind the last record.
func (s *scanner) end() error {
	switch err := s.fill(); err {
	case io.EOF:
		return nil
	case nil:
		return errRecordsLeft
	default:
		return err
	}
}

// body reads the bytes of one record across pieces, no more than the record has. The first error stays.
type body struct {
	s    *scanner
	left int
	err  error
}

func (r *body) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// fill makes sure that a byte of the record is there.
func (r *body) fill() bool {
	if r.err != nil {
		return false
	}
	if r.left <= 0 {
		r.fail(errRecordBody)
		return false
	}
	if err := r.s.fill(); err == io.EOF {
		r.fail(errRecordCut)
	} else if err != nil {
		r.fail(err)
	}
	return r.err == nil
}

func (r *body) byte() byte {
	if !r.fill() {
		return 0
	}
	c := r.s.cur[0]
	r.s.cur = r.s.cur[1:]
	r.left--
	return c
}

// uvarint reads up to max bytes of a varint before zig-zag.
func (r *body) uvarint(max int) (u uint64) {
	for n := range max {
		c := r.byte()
		u |= uint64(c&0x7f) << (7 * n)
		if c < 0x80 {
			return u
		}
	}
	r.fail(errRecordBody)
	return 0
}

func (r *body) varint32() int32 {
	u := uint32(r.uvarint(maxVarint32))
	return int32(u>>1) ^ -int32(u&1)
}

func (r *body) varint64() int64 {
	u := r.uvarint(maxVarint64)
	return int64(u>>1) ^ -int64(u&1)
}

// skip leaves n bytes out, none if n is negative.
func (r *body) skip(n int32) {
	if int(n) > r.left {
		r.fail(errRecordBody)
		return
	}
	for n > 0 && r.fill() {
		m := min(int(n), len(r.s.cur))
		r.s.cur = r.s.cur[m:]
		r.left -= m
		n -= int32(m)
	}
}

func (r *body) headers() {
	count := r.varint32()
	if r.err == nil && (count < 0 || int(count) > r.left) {
		r.fail(errHeaderCount)
	}
	for ; count > 0 && r.err == nil; count-- {
		n := r.varint32()
		if n < 0 {
			r.fail(errHeaderKey)
		}
		r.skip(n)
		r.skip(r.varint32())
	}
}
