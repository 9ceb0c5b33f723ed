package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// LZ4 payloads are LZ4 frames. Kafka's reader is stricter and laxer than the format: blocks must be independent, no
// dictionary; the declared content size and the content checksum are not looked at, nor is what follows the end mark.
// Since blocks are independent, one is decompressed at a time, and nothing is taken for more than a block can hold.

// lz4Frame is what a frame's header says.
type lz4Frame struct {
	blockMax        int
	blockChecksum   bool
	contentChecksum bool
}

const (
	lz4Magic        = 0x184d2204
	lz4Uncompressed = 1 << 31 // in a block's size: stored as it is
	// lz4Ratio bounds how much longer than a block its contents can be.
	lz4Ratio = 255
	// Kafka writes blocks of 64 KiB, number 4, independent, without checksums.
	lz4BlockSize   = 64 << 10
	lz4Flags       = 1<<6 | 1<<5
	lz4BlockNumber = 4 << 4
)

func (d *decoder) nextLZ4() ([]byte, error) {
	if !d.begun {
		d.begun = true
		if err := d.lz4Header(); err != nil {
			return nil, err
		}
	}
	if len(d.src) < 4 {
		return nil, d.corrupt("no end mark")
	}
	size := binary.LittleEndian.Uint32(d.src)
	d.src = d.src[4:]
	stored := size&lz4Uncompressed != 0
	n := int(size &^ lz4Uncompressed)
	if n == 0 {
		if d.lz4.contentChecksum && len(d.src) < 4 {
			return nil, d.corrupt("no content checksum")
		}
		return nil, io.EOF
	}
	if n > d.lz4.blockMax || n > len(d.src) {
		return nil, d.corrupt(fmt.Sprintf("block of %d bytes, at most %d, where %d are left", n, d.lz4.blockMax, len(d.src)))
	}
	block := d.src[:n]
	d.src = d.src[n:]
	if d.lz4.blockChecksum {
		if len(d.src) < 4 || binary.LittleEndian.Uint32(d.src) != xxh32(block) {
			return nil, d.corrupt("block checksum")
		}
		d.src = d.src[4:]
	}
	if stored {
		return block, nil
	}
	out := d.room(min(d.lz4.blockMax, lz4Ratio*n))
	m, err := lz4.UncompressBlock(block, out)
	if err != nil || m < 0 {
		return nil, d.corrupt(err)
	}
	return out[:m], nil
}

// lz4Header reads the frame's header, 7 or 15 bytes.
func (d *decoder) lz4Header() error {
	p := d.src
	if len(p) < 7 || binary.LittleEndian.Uint32(p) != lz4Magic {
		return d.corrupt("no frame")
	}
	flags, block := p[4], p[5]
	if flags>>6 != 1 || flags&3 != 0 || flags&(1<<5) == 0 {
		return d.corrupt(fmt.Sprintf("frame flags %#02x", flags))
	}
	if block&0x8f != 0 || block>>4 < 4 {
		return d.corrupt(fmt.Sprintf("block size byte %#02x", block))
	}
	end := 6
	if flags&(1<<3) != 0 { // content size, which nobody needs
		end += 8
	}
	if len(p) <= end || p[end] != byte(xxh32(p[4:end])>>8) {
		return d.corrupt("header checksum")
	}
	d.lz4 = lz4Frame{
		blockMax:        1 << (2*(block>>4) + 8),
		blockChecksum:   flags&(1<<4) != 0,
		contentChecksum: flags&(1<<2) != 0,
	}
	d.src = p[end+1:]
	return nil
}

var lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// compressLZ4 writes one frame. Like Kafka's, the default level is the fast compressor, any other the slow one.
func compressLZ4(dst []byte, level int, src []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	dst = append(dst, lz4Flags, lz4BlockNumber)
	dst = append(dst, byte(xxh32(dst[len(dst)-2:])>>8))
	compress := lz4Compress(level)
	for len(src) > 0 {
		n := min(len(src), lz4BlockSize)
		at := len(dst)
		dst = grow(dst, 4+lz4.CompressBlockBound(n))
		m := compress(src[:n], dst[at+4:cap(dst)])
		size := uint32(m)
		if m == 0 || m >= n { // does not get smaller
			m = copy(dst[at+4:cap(dst)], src[:n])
			size = uint32(m) | lz4Uncompressed
		}
		binary.LittleEndian.PutUint32(dst[at:at+4], size)
		dst = dst[:at+4+m]
		src = src[n:]
	}
	return append(dst, 0, 0, 0, 0)
}

// lz4Levels are the library's for Kafka's 1 to 17; the default is none of them.
var lz4Levels = [...]lz4.CompressionLevel{
	lz4.Level1, lz4.Level2, lz4.Level3, lz4.Level4, lz4.Level5, lz4.Level6, lz4.Level7, lz4.Level8, lz4.Level9,
}

// lz4Compress gives a function that compresses one block and gives the size, 0 if it does not get smaller. Its room is
// enough for any block, so there are no errors.
func lz4Compress(level int) func(src, dst []byte) int {
	if level == LZ4.DefaultLevel() {
		return func(src, dst []byte) int {
			c := lz4Compressors.Get().(*lz4.Compressor)
			defer lz4Compressors.Put(c)
			n, _ := c.CompressBlock(src, dst)
			return n
		}
	}
	depth := lz4Levels[min(max(level, 1), len(lz4Levels))-1]
	return func(src, dst []byte) int {
		n, _ := lz4.CompressBlockHC(src, dst, depth, nil, nil)
		return n
	}
}
