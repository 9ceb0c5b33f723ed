package server

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"barnabas/protocol/wire"
)

// Below copyLimit bytes a reply with file regions is read into a buffer and
// written at once: cheaper than a sendfile (performance.md B2b). writeChunk is
// how much goes to the socket between two looks at the clock, so that a slow
// reader is told from a stalled one.
const (
	copyLimit  = 32 << 10
	writeChunk = 256 << 10
	// keepBuffer is the largest buffer that goes back to the pool.
	keepBuffer = 1 << 20
)

var outs = sync.Pool{New: func() any { return new(Out) }}

// write encodes and sends one reply. The caller has the right to write.
func (c *conn) write(sl *slot) error {
	r := &sl.reply
	if r.close {
		c.abort()
		return errClose
	}
	if r.response == nil && r.encoder == nil {
		c.s.figures.answered(sl, 0, nil)
		return nil
	}
	o := outs.Get().(*Out)
	defer func() {
		o.reset()
		if cap(o.Buf) <= keepBuffer {
			outs.Put(o)
		}
	}()
	version := sl.call.Version
	o.Buf = append(o.Buf, 0, 0, 0, 0)
	o.Buf = wire.AppendResponseHeader(o.Buf, sl.id, sl.row.FlexibleResponse(version))
	if r.encoder != nil {
		r.encoder.Encode(o)
	} else {
		if !sl.call.Unsupported {
			r.response.SetVersion(version)
		}
		o.Buf = r.response.AppendTo(o.Buf)
		errorCodes(r.response, o.Error)
	}
	total := len(o.Buf) + o.length
	binary.BigEndian.PutUint32(o.Buf, uint32(total-4))
	err := c.send(o, total)
	c.writing.Store(0)
	c.touch()
	c.s.figures.answered(sl, total, o.errors)
	return err
}

func (c *conn) send(o *Out, total int) error {
	switch {
	case len(o.regions) == 0:
		return c.sendBytes(o.Buf)
	case total <= copyLimit:
		flat := outs.Get().(*Out)
		defer func() {
			flat.reset()
			outs.Put(flat)
		}()
		var err error
		if flat.Buf, err = flatten(flat.Buf, o); err != nil {
			return err
		}
		return c.sendBytes(flat.Buf)
	}
	return c.sender.send(c, o)
}

func (c *conn) sendBytes(b []byte) error {
	for len(b) > 0 {
		c.writing.Store(c.s.o.Clock.Now().UnixNano())
		n, err := c.nc.Write(b[:min(len(b), writeChunk)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// flatten appends a reply to dst with its regions read from their files.
func flatten(dst []byte, o *Out) ([]byte, error) {
	from := 0
	for _, p := range o.regions {
		dst = append(dst, o.Buf[from:p.at]...)
		from = p.at
		at, n := len(dst), p.region.Len()
		dst = append(dst, make([]byte, n)...)
		if got, err := p.region.ReadAt(dst[at:], 0); got < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return dst, err
		}
	}
	return append(dst, o.Buf[from:]...), nil
}

// sender sends bytes and file regions over a plain connection: sendmsg with
// MSG_MORE for the bytes before a region, sendfile with an explicit offset for
// the region. The file's own offset is neither used nor moved, so any number of
// connections send from one descriptor.
type sender struct {
	raw  syscall.RawConn
	step func(fd uintptr) bool // advance, made once

	// The reply under way.
	c       *conn
	o       *Out
	next    int   // the region that comes after the bytes
	from    int   // bytes of o.Buf that are out
	sent    int64 // bytes of the region that are out
	scratch []byte
	err     error
}

func (s *sender) open(nc *net.TCPConn) (err error) {
	s.raw, err = nc.SyscallConn()
	s.step = s.advance
	return err
}

func (s *sender) send(c *conn, o *Out) error {
	s.c, s.o, s.next, s.from, s.sent, s.err = c, o, 0, 0, 0, nil
	err := s.raw.Write(s.step)
	s.c, s.o, s.scratch = nil, nil, nil
	if s.err != nil {
		return s.err
	}
	return err
}

// advance sends until the socket is full (false: call again when it is not) or
// the reply is out or lost (true).
func (s *sender) advance(fd uintptr) bool {
	for {
		s.c.writing.Store(s.c.s.o.Clock.Now().UnixNano())
		to := len(s.o.Buf)
		if s.next < len(s.o.regions) {
			to = s.o.regions[s.next].at
		}
		var n int
		var err error
		switch {
		case s.from < to:
			flags := unix.MSG_NOSIGNAL
			if s.next < len(s.o.regions) {
				flags |= unix.MSG_MORE
			}
			n, err = unix.SendmsgN(int(fd), s.o.Buf[s.from:to], nil, nil, flags)
			s.from += max(n, 0)
		case s.next < len(s.o.regions):
			err = s.sendRegion(int(fd), s.o.regions[s.next].region)
		default:
			return true
		}
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			s.err = err
			return true
		}
	}
}

// sendRegion sends some of a region. A file that ends before its region does
// would leave the client waiting for bytes that never come: the connection is
// closed instead.
func (s *sender) sendRegion(fd int, r Region) error {
	left := int64(r.Len()) - s.sent
	var n int
	var err error
	if file, position, ok := r.File(); ok {
		offset := position + s.sent
		n, err = unix.Sendfile(fd, int(file), &offset, int(min(left, 1<<30)))
	} else {
		if s.scratch == nil {
			s.scratch = make([]byte, min(left, writeChunk))
		}
		piece := s.scratch[:min(left, int64(len(s.scratch)))]
		if n, err = r.ReadAt(piece, s.sent); n > 0 {
			n, err = unix.SendmsgN(fd, piece[:n], nil, nil, unix.MSG_NOSIGNAL)
		}
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	if s.sent += int64(n); s.sent == int64(r.Len()) {
		s.next, s.sent = s.next+1, 0
	}
	return nil
}
