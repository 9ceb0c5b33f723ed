package record

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdMaxWindow is the largest window that Kafka's decoder takes, 2^27.
	zstdMaxWindow = 128 << 20
	// zstdBlock is the most that one block can hold.
	zstdBlock = 128 << 10
	// zstdSlack is how far behind its output the decoder likes to write.
	zstdSlack = 32
)

// Decoders and encoders run in the caller's goroutine. A decoder writes into the room it is given and no further, so
// it needs no window of its own, whatever a frame declares.
var zstdDecoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(zstdMaxWindow), zstd.WithDecoderMaxMemory(math.MaxInt32))
	if err != nil {
		panic("record: zstd decoder options: " + err.Error())
	}
	return d
}}

// nextZstd decompresses everything at once, into room for what the blocks can hold.
func (d *decoder) nextZstd() ([]byte, error) {
	d.done = true
	if len(d.src) == 0 {
		return nil, io.EOF
	}
	most, err := zstdSize(d.src)
	if err != nil {
		return nil, d.corrupt(err)
	}
	// A little more room than needed lets the decoder use its fast copies; next refuses what is above the limit.
	room := d.room(int(min(most, int64(d.left))) + zstdSlack)
	z := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(z)
	out, err := z.DecodeAll(d.src, room[:0:len(room)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) && most > int64(d.left) {
		return nil, d.tooLong()
	}
	if err != nil {
		return nil, d.corrupt(err)
	}
	return out, nil
}

// zstdSize bounds what src decompresses to by hopping over its block headers: a frame may declare any size, but its
// blocks hold no more than they can.
func zstdSize(src []byte) (int64, error) {
	var sum int64
	for len(src) > 0 {
		var h zstd.Header
		if err := h.Decode(src); err != nil {
			return 0, err
		}
		if h.HeaderSize > len(src) {
			return 0, io.ErrUnexpectedEOF
		}
		src = src[h.HeaderSize:]
		if h.Skippable {
			if int64(h.SkippableSize) > int64(len(src)) {
				return 0, io.ErrUnexpectedEOF
			}
			src = src[h.SkippableSize:]
			continue
		}
		n, rest, err := zstdBlocks(src, h.WindowSize)
		if err != nil {
			return 0, err
		}
		if h.HasFCS {
			if h.FrameContentSize > uint64(n) {
				return 0, fmt.Errorf("a frame that declares %d bytes in blocks of at most %d", h.FrameContentSize, n)
			}
			n = int64(h.FrameContentSize)
		}
		sum += n
		if h.HasCheckSum {
			if len(rest) < 4 {
				return 0, io.ErrUnexpectedEOF
			}
			rest = rest[4:]
		}
		src = rest
	}
	return sum, nil
}

// zstdBlocks hops over the blocks of one frame and gives what they hold at most and what follows them.
func zstdBlocks(src []byte, window uint64) (most int64, rest []byte, err error) {
	largest := int64(zstdBlock)
	if window > 0 {
		largest = min(largest, int64(min(window, zstdBlock)))
	}
	for {
		if len(src) < 3 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		h := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
		src = src[3:]
		size, stored := int(h>>3), int(h>>3)
		switch h >> 1 & 3 {
		case 0: // raw
			most += int64(size)
		case 1: // one byte, repeated
			most += int64(size)
			stored = 1
		case 2:
			most += largest
		default:
			return 0, nil, errors.New("reserved block type")
		}
		if stored > len(src) {
			return 0, nil, io.ErrUnexpectedEOF
		}
		src = src[stored:]
		if h&1 != 0 {
			return most, src, nil
		}
	}
}

// zstdEncoders are pools of encoders, one for each level that the library has.
var zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool

// compressZstd writes one frame, which declares its size.
func compressZstd(dst []byte, level int, src []byte) []byte {
	speed := zstd.EncoderLevelFromZstd(level)
	pool := &zstdEncoders[speed]
	e, ok := pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("record: zstd encoder options: " + err.Error())
		}
	}
	defer pool.Put(e)
	return e.EncodeAll(src, dst)
}
