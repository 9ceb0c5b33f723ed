package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/golang/snappy"
)

// Snappy comes in two shapes. Java (xerial) frames it, which is what Kafka writes too; most other clients send one raw
// block. FORMAT.md draws both. What starts with the magic and is at least as long as a header is framed.

const (
	xerialHeaderSize = 16
	xerialVersion    = 1
	// xerialChunk is how much Java compresses into one chunk.
	xerialChunk = 32 << 10
	// snappyRatio bounds how much longer than a block its contents can be: a copy takes 3 bytes and gives 64.
	snappyRatio = 22
)

var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

func (d *decoder) nextSnappy() ([]byte, error) {
	if !d.begun {
		d.begun = true
		if len(d.src) >= xerialHeaderSize && bytes.HasPrefix(d.src, xerialMagic) {
			d.framed = true
			if err := d.xerialHeader(); err != nil {
				return nil, err
			}
		}
	}
	if !d.framed {
		d.done = true
		return d.snappyBlock(d.src)
	}
	for {
		if len(d.src) < 4 { // Java takes a cut length for the end
			return nil, io.EOF
		}
		if bytes.HasPrefix(d.src, xerialMagic[:4]) { // framed data was joined
			if len(d.src) < xerialHeaderSize {
				return nil, d.corrupt("cut header of a further stream")
			}
			if !bytes.HasPrefix(d.src, xerialMagic) {
				return nil, io.EOF
			}
			if err := d.xerialHeader(); err != nil {
				return nil, err
			}
			continue
		}
		n := int32(binary.BigEndian.Uint32(d.src))
		d.src = d.src[4:]
		if n < 0 || int(n) > len(d.src) {
			return nil, d.corrupt(fmt.Sprintf("chunk of %d bytes where %d are left", n, len(d.src)))
		}
		block := d.src[:n]
		d.src = d.src[n:]
		return d.snappyBlock(block)
	}
}

// xerialHeader reads the header that d.src starts with.
func (d *decoder) xerialHeader() error {
	if v := int32(binary.BigEndian.Uint32(d.src[8:])); v < xerialVersion {
		return d.corrupt(fmt.Sprintf("version %d is too old", v))
	}
	d.src = d.src[xerialHeaderSize:]
	return nil
}

// snappyBlock decompresses one block. Its declared length is believed only as far as the block could hold it.
func (d *decoder) snappyBlock(block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, d.corrupt(err)
	}
	if n > snappyRatio*len(block) {
		return nil, d.corrupt(fmt.Sprintf("a block of %d bytes that declares %d", len(block), n))
	}
	if n > d.left {
		return nil, d.tooLong()
	}
	out, err := snappy.Decode(d.room(n), block)
	if err != nil {
		return nil, d.corrupt(err)
	}
	return out, nil
}

// compressSnappy writes xerial's frames.
func compressSnappy(dst, src []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	for len(src) > 0 {
		n := min(len(src), xerialChunk)
		at := len(dst)
		dst = grow(dst, 4+snappy.MaxEncodedLen(n))
		block := snappy.Encode(dst[at+4:cap(dst)], src[:n])
		binary.BigEndian.PutUint32(dst[at:at+4], uint32(len(block)))
		dst = dst[:at+4+len(block)]
		src = src[n:]
	}
	return dst
}

// grow makes room for n more bytes behind dst and gives dst with at least 4 of them, if n is so much.
func grow(dst []byte, n int) []byte {
	at := len(dst)
	if cap(dst)-at < n {
		dst = append(dst, make([]byte, n)...)
	}
	return dst[:at+min(n, 4)]
}
