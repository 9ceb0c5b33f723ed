package record

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// decoder gives the decompressed bytes of one payload piece by piece, so that whoever only walks over them needs no
// memory for all. How large a piece is depends on the codec: 64 KiB for gzip, a block for lz4 (at most 4 MiB) and for
// framed snappy, everything for zstd and for raw snappy. Decoders and their buffers are pooled.
type decoder struct {
	codec Codec
	src   []byte // what is not read yet
	left  int    // how many bytes may still come out
	limit int
	begun bool
	done  bool
	bad   error // what the next call gives: the bytes before it were given out
	out   *buffer

	framed bool     // snappy: in xerial's frames
	lz4    lz4Frame // lz4: what the frame's header says
	gzip   *gzip.Reader
	gzipIn bytes.Reader
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// newDecoder starts to decompress src, of which at most limit bytes may come. The caller closes it.
func newDecoder(c Codec, src []byte, limit int) *decoder {
	d := decoders.Get().(*decoder)
	d.codec, d.src, d.left, d.limit = c, src, limit, limit
	d.begun, d.done, d.framed, d.bad = false, false, false, nil
	return d
}

// close gives the decoder and the last piece back.
func (d *decoder) close() {
	d.release()
	d.src = nil
	d.gzipIn.Reset(nil)
	decoders.Put(d)
}

// room gives a buffer of n bytes, which the last piece loses.
func (d *decoder) room(n int) []byte {
	if d.out == nil || cap(d.out.b) < n {
		d.release()
		d.out = getBuffer(n)
	}
	return d.out.b[:n]
}

func (d *decoder) release() {
	if d.out != nil {
		d.out.put()
		d.out = nil
	}
}

// next gives the next piece, valid until the next call. The end is io.EOF.
func (d *decoder) next() (piece []byte, err error) {
	if d.bad != nil {
		return nil, d.bad
	}
	if d.done {
		return nil, io.EOF
	}
	switch d.codec {
	case None:
		piece, d.done = d.src, true
	case Gzip:
		piece, err = d.nextGzip()
	case Snappy:
		piece, err = d.nextSnappy()
	case LZ4:
		piece, err = d.nextLZ4()
	case Zstd:
		piece, err = d.nextZstd()
	default:
		err = fmt.Errorf("%w: %d", ErrCodec, int8(d.codec))
	}
	if err == nil && len(piece) > d.left {
		err = d.tooLong()
	}
	if err != nil {
		d.bad = err
		return nil, err
	}
	d.left -= len(piece)
	return piece, nil
}

func (d *decoder) tooLong() error { return fmt.Errorf("%w of %d bytes", ErrTooLong, d.limit) }

func (d *decoder) corrupt(what any) error {
	return fmt.Errorf("%w %s: %v", ErrDecompress, d.codec, what)
}

// gzipPiece is how much of a gzip stream is inflated at once.
const gzipPiece = 64 << 10

// nextGzip inflates one piece. Like Java, it goes on with a further member and ignores what is none.
func (d *decoder) nextGzip() ([]byte, error) {
	if !d.begun {
		d.begun = true
		d.gzipIn.Reset(d.src)
		if err := d.resetGzip(); err != nil {
			return nil, d.corrupt(err)
		}
		d.gzip.Multistream(false)
	}
	buf := d.room(gzipPiece)
	n := 0
	for n < len(buf) {
		m, err := d.gzip.Read(buf[n:])
		n += m
		if err == io.EOF {
			if d.gzipIn.Len() == 0 || d.resetGzip() != nil {
				d.done = true
				return buf[:n], nil
			}
			d.gzip.Multistream(false)
			continue
		}
		if err != nil {
			d.bad = d.corrupt(err)
			return buf[:n], nil
		}
	}
	return buf[:n], nil
}

func (d *decoder) resetGzip() (err error) {
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(&d.gzipIn)
		return err
	}
	return d.gzip.Reset(&d.gzipIn)
}
