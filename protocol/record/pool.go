package record

import (
	"math/bits"
	"sync"
)

// buffer is a borrowed slice of bytes. What it holds is garbage until written.
type buffer struct {
	b    []byte
	size int // its class, or -1
}

// Buffers come in sizes of 64 KiB << 2n up to 16 MiB; a larger one is left to the garbage collector.
const (
	smallestBuffer = 16 // log2
	bufferClasses  = 5
	largestBuffer  = 1 << (smallestBuffer + 2*(bufferClasses-1))
)

var buffers [bufferClasses]sync.Pool

// getBuffer gives a buffer of at least n bytes, of length 0.
func getBuffer(n int) *buffer {
	class := bufferClass(n)
	if class >= bufferClasses {
		return &buffer{b: make([]byte, 0, n), size: -1}
	}
	if b, ok := buffers[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, 0, 1<<(smallestBuffer+2*class)), size: class}
}

// put gives the buffer back, unless it has grown out of all classes. Nobody may hold its bytes.
func (b *buffer) put() {
	if b.size >= 0 && cap(b.b) <= largestBuffer {
		b.b = b.b[:0]
		buffers[b.size].Put(b)
	}
}

func bufferClass(n int) int {
	if n <= 1<<smallestBuffer {
		return 0
	}
	return (bits.Len(uint(n-1)) - smallestBuffer + 1) / 2
}
