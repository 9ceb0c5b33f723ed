package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
)

// fuzzLimit is how much the fuzzed code may decompress to.
const fuzzLimit = 1 << 20

// bounded runs f and fails if it took more memory than a decoder and a buffer or two may.
func bounded(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	// A batch that only holds headers of two bytes takes 24 times its size as Records; codecs come from pools.
	if took := after.TotalAlloc - before.TotalAlloc; took > 48*fuzzLimit {
		t.Fatalf("took %d bytes", took)
	}
}

// seeds adds the batches of real clients and some of the tests' own.
func seeds(f *testing.F, add func(b []byte)) {
	files, err := filepath.Glob("testdata/*/*.hex")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range files {
		add(readHex(f, path))
	}
	for _, cases := range [][]judgeCase{formCases(), headerCases(), recordCases(), timeCases(), codecCases()} {
		for _, c := range cases {
			if b := c.batch.encode(); len(b) < 10_000 {
				add(b)
			}
		}
	}
}

func FuzzNext(f *testing.F) {
	seeds(f, func(b []byte) { f.Add(append(bytes.Clone(b), b...)) })
	f.Fuzz(func(t *testing.T, data []byte) {
		rest := data
		for {
			b, more, err := Next(rest)
			if err != nil {
				if b != nil || len(more) != len(rest) {
					t.Fatal("an error and a batch")
				}
				return
			}
			if len(b) != b.Size() || len(b) < HeaderSize || len(b)+len(more) != len(rest) {
				t.Fatalf("batch of %d bytes, size %d, of %d", len(b), b.Size(), len(rest))
			}
			_ = b.Check()
			_, _ = b.LastSequence(), b.LastOffset()
			rest = more
		}
	})
}

func FuzzRecords(f *testing.F) {
	seeds(f, func(b []byte) {
		if len(b) > HeaderSize {
			f.Add(b[HeaderSize:], b[atAttributes+1], int32(30))
			f.Add(b[HeaderSize:], b[atAttributes+1], Batch(b).RecordCount())
		}
	})
	f.Fuzz(func(t *testing.T, payload []byte, attributes byte, count int32) {
		b := Batch(append(sample()[:HeaderSize], payload...))
		b[atAttributes+1] = attributes
		binary.BigEndian.PutUint32(b[atRecordCount:], uint32(count))
		bounded(t, func() { readBothWays(t, b) })
	})
}

// readBothWays walks over the records and reads them, and compares the two.
func readBothWays(t *testing.T, b Batch) {
	var walked, read int
	walkErr := b.Walk(fuzzLimit, func(int64, int64) bool { walked++; return true })
	var readErr error
	for r, err := range b.RecordsLimit(fuzzLimit) {
		if err != nil {
			readErr = err
			continue
		}
		read++
		_ = append(append([]byte{}, r.Key...), r.Value...)
	}
	if walkErr == nil && b.RecordCount() != int32(walked) {
		t.Fatalf("walked over %d of %d records", walked, b.RecordCount())
	}
	if walkErr == nil && readErr == nil && read != walked {
		t.Fatalf("%d records walked over, %d read", walked, read)
	}
	if readErr == nil && walkErr != nil {
		t.Fatalf("readable, but the walk says %v", walkErr)
	}
	// Reading decompresses everything, the walk stops at the records' end: it may miss a broken end of an empty batch.
	if walkErr == nil && readErr != nil && b.RecordCount() > 0 {
		t.Fatalf("the walk is content, but %v", readErr)
	}
}

func FuzzValidateProduce(f *testing.F) {
	seeds(f, func(b []byte) {
		f.Add(b, int16(9), uint8(0), int8(-1))
		f.Add(b, int16(3), uint8(7), int8(3))
	})
	f.Fuzz(func(t *testing.T, data []byte, version int16, flags uint8, codec int8) {
		if flags&1 != 0 && len(data) >= HeaderSize { // a CRC that fits is not found by chance
			if size, err := HeaderSizeOf(data); err == nil && size <= len(data) {
				binary.BigEndian.PutUint32(data[atCRC:], Batch(data[:size]).checksum())
			}
		}
		r := rules(func(r *Rules) {
			r.Version, r.MaxDecompressed = version, fuzzLimit
			r.Compacted, r.HeaderOnly = flags&2 != 0, flags&4 != 0
			if flags&8 != 0 {
				r.TimestampType = LogAppendTime
			}
			if flags&16 != 0 {
				r.BeforeMaxMs, r.AfterMaxMs = 1000, 1000
			}
			if c := Codec(codec); c.Known() {
				r.Compression = Compression{Codec: c, Level: c.DefaultLevel()}
			}
		})
		bounded(t, func() { judgeFuzzed(t, data, r) })
	})
}

func judgeFuzzed(t *testing.T, data []byte, r *Rules) {
	_, _ = Transactional(data)
	before := bytes.Clone(data)
	v, err := ValidateProduce(data, r)
	if err != nil {
		var bad *Refusal
		if !errors.As(err, &bad) || bad.Err == nil || bad.Error() == "" || len(bad.Records) > MaxRecordErrors {
			t.Fatalf("refused with %#v", err)
		}
		if !bytes.Equal(data, before) {
			t.Fatal("refused, but the bytes were changed")
		}
		return
	}
	b := v.Batch
	if b.Size() != len(b) || b.Check() != nil || b.RecordCount() < 1 || b.IsControl() {
		t.Fatalf("accepted %x: %v", []byte(b), b.Check())
	}
	if r.HeaderOnly && !r.Compacted {
		return
	}
	n := int32(0)
	for _, err := range b.RecordsLimit(2 * fuzzLimit) {
		if err != nil {
			t.Fatalf("accepted %x, but record %d: %v", []byte(b), n, err)
		}
		n++
	}
	if n != b.RecordCount() {
		t.Fatalf("accepted %d records, %d are there", b.RecordCount(), n)
	}
}

func fuzzDecompress(f *testing.F, c Codec) {
	for _, in := range [][]byte{nil, []byte("a"), text(500), make([]byte, 100_000)} {
		packed, err := Compress(nil, c, c.DefaultLevel(), in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	seeds(f, func(b []byte) {
		if len(b) > HeaderSize && Batch(b).Codec() == c {
			f.Add(b[HeaderSize:])
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		bounded(t, func() {
			out, err := Decompress(nil, c, data, fuzzLimit)
			if len(out) > fuzzLimit {
				t.Fatalf("%d bytes", len(out))
			}
			if err != nil && !errors.Is(err, ErrDecompress) && !errors.Is(err, ErrTooLong) {
				t.Fatal(err)
			}
			packed, err := Compress(nil, c, c.DefaultLevel(), data)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decompress(nil, c, packed, len(data))
			if err != nil || !bytes.Equal(back, data) {
				t.Fatalf("round trip: %v", err)
			}
		})
	})
}

func FuzzGzip(f *testing.F)   { fuzzDecompress(f, Gzip) }
func FuzzSnappy(f *testing.F) { fuzzDecompress(f, Snappy) }
func FuzzLZ4(f *testing.F)    { fuzzDecompress(f, LZ4) }
func FuzzZstd(f *testing.F)   { fuzzDecompress(f, Zstd) }
