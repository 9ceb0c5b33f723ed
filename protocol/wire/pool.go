package wire

import (
	"io"
	"sync"
)

// Frames are read into buffers of a few sizes that are used again and again.
var classes = [...]int{SmallFrame, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

// SmallFrame is the smallest buffer.
const SmallFrame = 4 << 10

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

// Growth says how a frame's buffer may grow.
type Growth struct {
	// First is the size to begin with, as far as the frame has it.
	First int
	// More is asked before the buffer grows by a number of bytes. Its error ends
	// the reading.
	More func(bytes int) error
}

// Read reads a frame of size bytes whose first bytes are in head already. The
// buffer begins small and grows fourfold whenever it is full, so that a declared
// length costs only what arrives. On an error nothing has to be released.
func (p *Pool) Read(r io.Reader, size int, head []byte, g Growth) (Frame, error) {
	have := len(head)
	f := Frame{pool: p}
	f.buf, f.class = p.take(min(size, max(g.First, len(head))))
	copy(*f.buf, head)
	for {
		b := *f.buf
		want := min(size, len(b))
		n, err := io.ReadFull(r, b[have:want])
		have += n
		if err == nil && have < size {
			err = g.More(min(size, 4*len(b)) - len(b))
		}
		if err != nil {
			f.Release()
			return Frame{}, err
		}
		if have == size {
			f.Bytes = b[:size]
			return f, nil
		}
		larger, class := p.take(min(size, 4*len(b)))
		copy(*larger, b[:have])
		f.Release()
		f.buf, f.class = larger, class
	}
}
