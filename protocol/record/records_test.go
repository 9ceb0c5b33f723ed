package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"testing"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	var got []Record
	b := sample()
	for r, err := range b.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if b.OffsetOf(&r) != 1000+int64(len(got)) {
			t.Errorf("offset %d", b.OffsetOf(&r))
		}
		r.Headers = append([]Header{}, r.Headers...)
		got = append(got, r)
	}
	if len(got) != 3 {
		t.Fatalf("%d records", len(got))
	}
	if r := got[1]; r.Key != nil || string(r.Value) != "w" || b.TimestampOf(&r) != fixedTime || len(r.Headers) != 2 ||
		r.Headers[0].Value != nil || string(r.Headers[1].Value) != "x" || r.Headers[1].Key == nil {
		t.Errorf("second record %+v", r)
	}
	if r := got[2]; r.Key == nil || len(r.Key) != 0 || r.Value != nil {
		t.Errorf("an empty key and a null value became %+v", r)
	}
	for range b.Records() {
		break // must be possible
	}
}

func TestRecordsOfCompressedBatches(t *testing.T) {
	t.Parallel()
	for c := None; c <= Zstd; c++ {
		b := big(c, 200, 3000)
		n := 0
		for r, err := range b.Records() {
			if err != nil || string(r.Key) != fmt.Sprint("key-", n) || !bytes.Equal(r.Value, text(3000+n%50)) {
				t.Fatalf("%v: record %d: %q, %v", c, n, r.Key, err)
			}
			n++
		}
		if n != 200 {
			t.Fatalf("%v: %d records", c, n)
		}
		var last error
		for _, err := range b.RecordsLimit(100_000) {
			last = err
		}
		if c != None && !errors.Is(last, ErrTooLong) {
			t.Errorf("%v: above the limit: %v", c, last)
		}
	}
}

// big makes a batch of n records of growing size.
func big(c Codec, n, size int) Batch {
	b := NewBuilder(BuilderOptions{Codec: c, DefaultLevel: true, BaseOffset: 50})
	for i := range n {
		b.Append(fixedTime+int64(10*i), fmt.Appendf(nil, "key-%d", i), text(size+i%50), Header{[]byte("h"), []byte("x")})
	}
	return b.Build()
}

// TestWalk compares the skipping walk with the records, for records that lie in one piece and that cross many.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 1000, 40_000, 300_000} {
		for c := None; c <= Zstd; c++ {
			b := big(c, max(5, 1_000_000/size), size)
			n := int64(0)
			err := b.Walk(DefaultLimit, func(offset, ts int64) bool {
				if offset != 50+n || ts != fixedTime+10*n {
					t.Errorf("%v, %d bytes: record %d is at %d, %d", c, size, n, offset, ts)
				}
				n++
				return true
			})
			if err != nil || n != int64(b.RecordCount()) {
				t.Errorf("%v, %d bytes: %d of %d records, %v", c, size, n, b.RecordCount(), err)
			}
		}
	}
}

// TestWalkFindsMistakes breaks one byte of a payload and expects the two readers to agree on whether it is sound.
func TestWalkFindsMistakes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(3))
	plain := NewBuilder(BuilderOptions{})
	for i := range 40 {
		plain.Append(fixedTime, fmt.Appendf(nil, "%d", i), text(i*30), Header{[]byte("h"), text(i % 5)})
	}
	payload := plain.Build().Payload()
	for range 3000 {
		broken := bytes.Clone(payload)
		broken[rng.Intn(len(broken))] = byte(rng.Intn(256))
		whole := eachPlain(broken, 40, func(int, *meta) bool { return true })
		// The same bytes in pieces of 100: xerial frames.
		framed := append(bytes.Clone(xerialMagic), 0, 0, 0, 1, 0, 0, 0, 1)
		for rest := broken; len(rest) > 0; {
			n := min(len(rest), 100)
			chunk, err := Compress(nil, Snappy, 0, rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			framed = append(framed, chunk[xerialHeaderSize:]...)
			rest = rest[n:]
		}
		b := Batch(append(bytes.Clone(plain.Build()[:HeaderSize]), framed...))
		b[atAttributes+1] |= byte(Snappy)
		pieces := b.Walk(DefaultLimit, func(int64, int64) bool { return true })
		if (whole == nil) != (pieces == nil) {
			t.Fatalf("whole: %v; in pieces: %v", whole, pieces)
		}
	}
}

// TestTimeLookup are cases C34 and C35: the first record of a time or later, also between records.
func TestTimeLookup(t *testing.T) {
	t.Parallel()
	for c := None; c <= Zstd; c++ {
		build := NewBuilder(BuilderOptions{Codec: c, DefaultLevel: true, BaseOffset: 10})
		for _, ts := range []int64{2, 4, 4, 8, 6} {
			build.Append(ts, nil, []byte("v"))
		}
		b := build.Build()
		for _, q := range []struct {
			ms, from, offset, ts int64
			found                bool
		}{
			{1, 0, 10, 2, true},
			{2, 0, 10, 2, true},
			{3, 0, 11, 4, true},
			{3, 12, 12, 4, true},
			{5, 0, 13, 8, true},
			{5, 14, 14, 6, true},
			{7, 14, -1, -1, false},
			{9, 0, -1, -1, false},
			{2, 15, -1, -1, false},
		} {
			offset, ts, found, err := b.FirstSince(q.ms, q.from)
			if offset != q.offset || ts != q.ts || found != q.found || err != nil {
				t.Errorf("%v: since %d from %d: %d, %d, %v, %v", c, q.ms, q.from, offset, ts, found, err)
			}
		}
		if offset, ts, found, err := b.OffsetOfMaxTimestamp(); offset != 13 || ts != 8 || !found || err != nil {
			t.Errorf("%v: highest time at %d, %d, %v", c, offset, ts, err)
		}
		b.SetLogAppendTime(99)
		if offset, ts, found, err := b.FirstSince(50, 0); offset != 10 || ts != 99 || !found || err != nil {
			t.Errorf("%v: append time at %d, %d, %v", c, offset, ts, err)
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	t.Parallel()
	for c := None; c <= Zstd; c++ {
		b := NewBuilder(BuilderOptions{Codec: c, DefaultLevel: true}).Build()
		for range b.Records() {
			t.Errorf("%v: a record", c)
		}
		if _, _, found, err := b.OffsetOfMaxTimestamp(); found || err != nil {
			t.Errorf("%v: %v, %v", c, found, err)
		}
		if b.MaxTimestamp() != NoTimestamp || b.LastOffsetDelta() != 0 {
			t.Errorf("%v: header", c)
		}
		binary.BigEndian.PutUint32(b[atRecordCount:], 1<<31)
		if err := b.Walk(1, nil); !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("%v: negative count: %v", c, err)
		}
	}
}

func TestBuilder(t *testing.T) {
	t.Parallel()
	b := NewBuilder(BuilderOptions{})
	b.AppendAt(3, 10, nil, []byte("a"))
	b.AppendAt(9, 5, nil, []byte("b"))
	if b.Count() != 2 || b.Size() != len(b.Build()) {
		t.Errorf("%d records, %d bytes", b.Count(), b.Size())
	}
	if got := b.Build(); got.LastOffsetDelta() != 9 || got.RecordCount() != 2 || got.MaxTimestamp() != 10 || got.Check() != nil {
		t.Errorf("gaps: %x", []byte(got))
	}
	b.Reset()
	b.Append(1, nil, []byte("c"))
	if got := contents(t, b.Build()); len(got) != 1 || got[0] != "=c" {
		t.Errorf("after a reset: %q", got)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	b := EndTxnMarker(Abort, Producer{ID: 5, Epoch: 1, BaseSequence: 9}, 12, now)
	if !b.IsControl() || !b.IsTransactional() || b.BaseSequence() != NoSequence || b.RecordCount() != 1 {
		t.Errorf("header %x", []byte(b))
	}
	for r, err := range b.Records() {
		if err != nil {
			t.Fatal(err)
		}
		kind, err := ParseControlKey(r.Key)
		if kind != Abort || err != nil {
			t.Errorf("key: %v, %v", kind, err)
		}
		if epoch, err := ParseEndTxn(r.Value); epoch != 12 || err != nil {
			t.Errorf("value: %d, %v", epoch, err)
		}
	}
	if kind, err := ParseControlKey([]byte{0, 9, 0, 1, 7, 7}); kind != Commit || err != nil {
		t.Errorf("a later version: %v, %v", kind, err)
	}
	for _, key := range [][]byte{nil, {0, 0, 0}, {0xff, 0, 0, 0}} {
		if _, err := ParseControlKey(key); !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("key %x: %v", key, err)
		}
	}
	for _, value := range [][]byte{nil, {0, 0, 0, 0, 0}, {0xff, 0, 0, 0, 0, 0}} {
		if _, err := ParseEndTxn(value); !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("value %x: %v", value, err)
		}
	}
}
