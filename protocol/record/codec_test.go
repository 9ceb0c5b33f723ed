package record

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"testing"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.New(rand.NewSource(int64(n))).Read(b)
	return b
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	inputs := map[string][]byte{"empty": {}, "byte": {7}, "text": text(300_000), "noise": noise(200_000), "zeros": make([]byte, 1<<20)}
	levels := map[Codec][]int{None: {0}, Gzip: {-1, 1, 6, 9, -7, 100}, Snappy: {0}, LZ4: {9, 1, 5, 8, 17, 0}, Zstd: {3, -5, 1, 9, 22}}
	for c, ls := range levels {
		for _, level := range ls {
			for name, in := range inputs {
				t.Run(fmt.Sprintf("%v/%d/%s", c, level, name), func(t *testing.T) {
					t.Parallel()
					packed, err := Compress([]byte("before"), c, level, in)
					if err != nil || !bytes.HasPrefix(packed, []byte("before")) {
						t.Fatalf("compress: %v", err)
					}
					out, err := Decompress([]byte("there"), c, packed[6:], len(in))
					if err != nil || !bytes.Equal(out, append([]byte("there"), in...)) {
						t.Fatalf("decompress: %d bytes, %v", len(out), err)
					}
					if len(in) > 0 {
						if _, err := Decompress(nil, c, packed[6:], len(in)-1); !errors.Is(err, ErrTooLong) {
							t.Fatalf("one byte too much: %v", err)
						}
					}
				})
			}
		}
	}
}

func TestUnknownCodec(t *testing.T) {
	t.Parallel()
	for _, c := range []Codec{5, 7, -1} {
		if _, err := Compress(nil, c, 0, nil); !errors.Is(err, ErrCodec) {
			t.Errorf("compress with %v: %v", c, err)
		}
		if _, err := Decompress(nil, c, []byte("x"), 10); !errors.Is(err, ErrCodec) {
			t.Errorf("decompress with %v: %v", c, err)
		}
	}
	if Codec(5).String() != "unknown(5)" || Zstd.String() != "zstd" {
		t.Error("names")
	}
}

// shape is what some encoder makes of a text, in a way that Kafka's decoders read or refuse.
type shape struct {
	name  string
	codec Codec
	data  []byte
	want  []byte // nil: refused
}

func shapes(t *testing.T) []shape {
	t.Helper()
	in := text(150_000)
	var all []shape
	add := func(name string, c Codec, data, want []byte) { all = append(all, shape{name, c, data, want}) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	packed := func(c Codec) []byte { p, _ := Compress(nil, c, c.DefaultLevel(), in); return p }

	add("gzip, two members", Gzip, join(packed(Gzip), packed(Gzip)), join(in, in))
	add("gzip, then garbage", Gzip, join(packed(Gzip), []byte("garbage behind it, longer than a header")), in)
	bad := packed(Gzip)
	bad[len(bad)-6] ^= 1
	add("gzip with a bad checksum", Gzip, bad, nil)
	add("gzip, stored", Gzip, gzipLevel(t, in, gzip.NoCompression), in)

	add("snappy, raw", Snappy, snappy.Encode(nil, in), in)
	add("snappy, framed twice", Snappy, join(packed(Snappy), packed(Snappy)), join(in, in))
	add("snappy, framed, cut length behind it", Snappy, join(packed(Snappy), []byte{0, 0, 1}), in)
	add("snappy, framed, only a header", Snappy, packed(Snappy)[:16], []byte{})
	old := packed(Snappy)
	old[11] = 0
	add("snappy, framed, version 0", Snappy, old, nil)
	add("snappy, chunk longer than the rest", Snappy, join(packed(Snappy), []byte{0, 0, 1, 0, 9}), nil)
	add("snappy, negative chunk", Snappy, join(packed(Snappy), []byte{0xff, 0, 1, 0, 9}), nil)
	add("snappy, empty", Snappy, nil, nil)

	for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb} {
		add(fmt.Sprint("lz4, blocks of ", size), LZ4, lz4Frames(t, in, lz4.BlockSizeOption(size)), in)
	}
	add("lz4, checksums and size", LZ4, lz4Frames(t, in, lz4.ChecksumOption(true), lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(in)))), in)
	bad = lz4Frames(t, in, lz4.BlockChecksumOption(true))
	bad[len(bad)-9] ^= 1
	add("lz4, bad block checksum", LZ4, bad, nil)
	bad = packed(LZ4)
	bad[6] ^= 1
	add("lz4, bad header checksum", LZ4, bad, nil)
	add("lz4, no end mark", LZ4, packed(LZ4)[:len(packed(LZ4))-4], nil)
	add("lz4, then garbage", LZ4, join(packed(LZ4), []byte("garbage")), in)
	dependent := packed(LZ4)
	dependent[4] &^= 1 << 5
	dependent[6] = byte(xxh32(dependent[4:6]) >> 8)
	add("lz4, dependent blocks", LZ4, dependent, nil)

	stream := zstdStream(t, in)
	add("zstd, size not declared", Zstd, stream, in)
	add("zstd, two frames", Zstd, join(packed(Zstd), stream), join(in, in))
	skippable := join(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, 3), []byte("abc"))
	add("zstd, a skippable frame", Zstd, join(skippable, packed(Zstd), skippable), in)
	add("zstd, then garbage", Zstd, join(packed(Zstd), []byte("garbage")), nil)
	add("zstd, cut", Zstd, stream[:len(stream)-5], nil)
	return all
}

func gzipLevel(t *testing.T, in []byte, level int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, level)
	return closed(t, &buf, w, err, in)
}

func lz4Frames(t *testing.T, in []byte, opts ...lz4.Option) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := lz4.NewWriter(&buf)
	return closed(t, &buf, w, w.Apply(opts...), in)
}

func zstdStream(t *testing.T, in []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := zstd.NewWriter(&buf)
	return closed(t, &buf, w, err, in)
}

func closed(t *testing.T, buf *bytes.Buffer, w io.WriteCloser, err error, in []byte) []byte {
	t.Helper()
	if err == nil {
		_, err = w.Write(in)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for _, s := range shapes(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			out, err := Decompress(nil, s.codec, s.data, 10<<20)
			if s.want == nil {
				if !errors.Is(err, ErrDecompress) {
					t.Fatalf("%d bytes, %v", len(out), err)
				}
				return
			}
			if err != nil || !bytes.Equal(out, s.want) {
				t.Fatalf("%d bytes, %v; want %d", len(out), err, len(s.want))
			}
		})
	}
}

// TestBombs decompresses a few bytes that declare or hold very much, and looks at what that takes.
func TestBombs(t *testing.T) {
	const limit = 1 << 20
	zeros := make([]byte, 32<<20)
	packed := func(c Codec) []byte { p, _ := Compress(nil, c, c.DefaultLevel(), zeros); return p }
	unhex := func(s string) []byte { b, _ := hex.DecodeString(s); return b }
	hugeFrame := unhex("28b52ffd" + "e0" + "0000000001000000") // 4 GiB in one segment
	bombs := map[string]struct {
		codec Codec
		data  []byte
	}{
		"gzip of zeros":            {Gzip, packed(Gzip)},
		"snappy of zeros":          {Snappy, packed(Snappy)},
		"raw snappy of zeros":      {Snappy, snappy.Encode(nil, zeros)},
		"lz4 of zeros":             {LZ4, packed(LZ4)},
		"zstd of zeros":            {Zstd, packed(Zstd)},
		"snappy, declared":         {Snappy, unhex("ffffffff0f0000")},
		"snappy chunk, declared":   {Snappy, unhex("82534e415050590000000001000000017fffffff00")},
		"lz4, declared":            {LZ4, append(lz4Declared(1<<62), 1, 0, 0, 0, 0x10, 0, 0, 0, 0)},
		"zstd, declared, no block": {Zstd, hugeFrame},
		"zstd, declared":           {Zstd, append(bytes.Clone(hugeFrame), 1, 0, 0)},
		"zstd, window of 2 GiB":    {Zstd, unhex("28b52ffd" + "00" + "a8" + "010000")},
		"zstd, window of 128 MiB":  {Zstd, unhex("28b52ffd" + "00" + "88" + "010000")},
	}
	zeros = nil
	for name, b := range bombs {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := Decompress(nil, b.codec, b.data, limit)
			runtime.ReadMemStats(&after)
			if name != "zstd, window of 128 MiB" && err == nil {
				t.Errorf("%d bytes and no error", len(out))
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 8*limit {
				t.Errorf("took %d bytes", took)
			}
		})
	}
}

// lz4Declared is the header of a frame that declares a size.
func lz4Declared(size uint64) []byte {
	h := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	h = append(h, lz4Flags|1<<3, 7<<4)
	h = binary.LittleEndian.AppendUint64(h, size)
	return append(h, byte(xxh32(h[4:])>>8))
}

func TestXXHash(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]uint32{
		"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f,
	} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("%q: %#x, want %#x", in, got, want)
		}
	}
}

func TestBufferClasses(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1, 1 << 18, 1<<18 + 1, 1 << 24, 1<<24 + 1, 100 << 20} {
		b := getBuffer(n)
		if cap(b.b) < n || len(b.b) != 0 {
			t.Errorf("%d bytes asked, %d of %d given", n, len(b.b), cap(b.b))
		}
		if b.size >= 0 && n > 1<<16 && cap(b.b) > 4*n {
			t.Errorf("%d bytes asked, %d given", n, cap(b.b))
		}
		b.put()
	}
}
