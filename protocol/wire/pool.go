package wire

import (
	"io"
	"sync"
)

// Frames are read into buffers of a few sizes that are used again and again. A
// frame above direct is read into a buffer that grows with what arrives, so a
// declared length costs nothing by itself.
var classes = [...]int{4 << 10, 16 << 10, 64 << 10, 256 << 10, direct, 4 << 20}

const direct = 1 << 20

// Pool hands frame buffers out. The zero value is ready. It may be used by many
// goroutines.
type Pool struct{ pools [len(classes)]sync.Pool }

// Frame is a request in a pooled buffer.
type Frame struct {
	// Bytes are the frame without its length.
	Bytes []byte
	pool  *Pool
	buf   *[]byte
	class int // -1: not from a pool
}

// Release gives the buffer back. The frame's bytes are not to be used after it.
func (f *Frame) Release() {
	if f.buf != nil && f.class >= 0 {
		f.pool.pools[f.class].Put(f.buf)
	}
	f.Bytes, f.buf = nil, nil
}

func (p *Pool) take(size int) (buf *[]byte, class int) {
	for i, c := range classes {
		if size > c {
			continue
		}
		if b, ok := p.pools[i].Get().(*[]byte); ok {
			return b, i
		}
		b := make([]byte, c)
		return &b, i
	}
	b := make([]byte, size)
	return &b, -1
}

// Read reads a frame of size bytes whose first bytes are in head already. On an
// error nothing has to be released.
func (p *Pool) Read(r io.Reader, size int, head []byte) (Frame, error) {
	have := len(head)
	f := Frame{pool: p}
	f.buf, f.class = p.take(min(size, direct))
	copy(*f.buf, head)
	for {
		b := *f.buf
		want := min(size, len(b))
		n, err := io.ReadFull(r, b[have:want])
		have += n
		if err != nil {
			f.Release()
			return Frame{}, err
		}
		if have == size {
			f.Bytes = b[:size]
			return f, nil
		}
		larger, class := p.take(min(size, 2*len(b)))
		copy(*larger, b[:have])
		f.Release()
		f.buf, f.class = larger, class
	}
}
