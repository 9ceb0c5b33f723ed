package record

import (
	"errors"
	"fmt"
	"io"
)

// Codec is how a batch's payload is compressed, with Kafka's numbers.
type Codec int8

// The codecs of format v2.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// codecNames are Kafka's names, as compression.type has them.
var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// String gives Kafka's name of the codec.
func (c Codec) String() string {
	if !c.Known() {
		return fmt.Sprintf("unknown(%d)", int8(c))
	}
	return codecNames[c]
}

// Known tells whether the number means a codec: three bits could name three more.
func (c Codec) Known() bool { return c >= None && c <= Zstd }

// DefaultLevel is the level that Kafka compresses with if none is set. Snappy and None have no levels.
func (c Codec) DefaultLevel() int {
	switch c {
	case Gzip:
		return -1
	case LZ4:
		return 9
	case Zstd:
		return 3
	}
	return 0
}

var (
	// ErrCodec means that the number is none of a codec.
	ErrCodec = errors.New("unknown compression codec")
	// ErrDecompress means that the bytes are not what the codec's encoder makes.
	ErrDecompress = errors.New("cannot decompress")
	// ErrTooLong means that decompressing gives more bytes than the limit.
	ErrTooLong = errors.New("decompressed data exceeds the limit")
)

// Decompress appends what src decompresses to, which is at most limit bytes, to dst. More gives [ErrTooLong]; where
// the format declares the length, before any memory is taken. Other errors wrap [ErrDecompress] or [ErrCodec].
func Decompress(dst []byte, c Codec, src []byte, limit int) ([]byte, error) {
	d := newDecoder(c, src, limit)
	defer d.close()
	for {
		chunk, err := d.next()
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
		dst = append(dst, chunk...)
	}
}

// Compress appends src, compressed as Kafka does it, to dst. The level is Kafka's number for the codec
// ([Codec.DefaultLevel] if the user set none); one outside the codec's range counts as the nearest inside. The only
// error is [ErrCodec].
func Compress(dst []byte, c Codec, level int, src []byte) ([]byte, error) {
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return compressGzip(dst, level, src), nil
	case Snappy:
		return compressSnappy(dst, src), nil
	case LZ4:
		return compressLZ4(dst, level, src), nil
	case Zstd:
		return compressZstd(dst, level, src), nil
	}
	return dst, fmt.Errorf("%w: %d", ErrCodec, int8(c))
}
