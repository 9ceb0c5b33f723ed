package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func sample() Batch {
	b := NewBuilder(BuilderOptions{
		BaseOffset: 1000, PartitionLeaderEpoch: 7, Producer: &Producer{42, 3, 11}, Transactional: true,
	})
	b.Append(fixedTime+5, []byte("k"), []byte("v"))
	b.Append(fixedTime, nil, []byte("w"), Header{[]byte("h"), nil}, Header{[]byte{}, []byte("x")})
	b.Append(fixedTime+9, []byte{}, nil)
	return b.Build()
}

func TestHeaderFields(t *testing.T) {
	t.Parallel()
	b := sample()
	for name, c := range map[string]struct{ got, want int64 }{
		"base offset":    {b.BaseOffset(), 1000},
		"last offset":    {b.LastOffset(), 1002},
		"delta":          {int64(b.LastOffsetDelta()), 2},
		"leader epoch":   {int64(b.PartitionLeaderEpoch()), 7},
		"magic":          {int64(b.Magic()), 2},
		"attributes":     {int64(b.Attributes()), transactionalBit},
		"base timestamp": {b.BaseTimestamp(), fixedTime + 5},
		"max timestamp":  {b.MaxTimestamp(), fixedTime + 9},
		"producer":       {b.ProducerID(), 42},
		"epoch":          {int64(b.ProducerEpoch()), 3},
		"sequence":       {int64(b.BaseSequence()), 11},
		"last sequence":  {int64(b.LastSequence()), 13},
		"count":          {int64(b.RecordCount()), 3},
		"size":           {int64(b.Size()), int64(len(b))},
		"payload":        {int64(len(b.Payload())), int64(len(b) - HeaderSize)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
	if !b.IsTransactional() || b.IsControl() || !b.HasProducerID() || b.Codec() != None || b.TimestampType() != CreateTime || !b.ChecksumOK() {
		t.Error("flags")
	}
	if _, ok := b.DeleteHorizon(); ok {
		t.Error("a delete horizon")
	}
	if CreateTime.String() != "CreateTime" || LogAppendTime.String() != "LogAppendTime" {
		t.Error("names of timestamp types")
	}
}

func TestSetters(t *testing.T) {
	t.Parallel()
	b := sample()
	b.SetBaseOffset(5_000_000_000)
	b.SetPartitionLeaderEpoch(8)
	if !b.ChecksumOK() || b.LastOffset() != 5_000_000_002 || b.PartitionLeaderEpoch() != 8 {
		t.Error("base offset and leader epoch")
	}
	b.SetLogAppendTime(now)
	if !b.ChecksumOK() || b.MaxTimestamp() != now || b.TimestampType() != LogAppendTime || !b.IsTransactional() {
		t.Error("append time")
	}
	for r, err := range b.Records() {
		if err != nil || b.TimestampOf(&r) != now {
			t.Fatalf("timestamp %d, %v", b.TimestampOf(&r), err)
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	good := sample()
	change := func(f func(b []byte)) []byte { b := bytes.Clone(good); f(b); return b }
	for name, c := range map[string]struct {
		data []byte
		want error
		rest int
	}{
		"one":             {good, nil, 0},
		"two":             {append(bytes.Clone(good), good...), nil, len(good)},
		"none":            {nil, io.ErrUnexpectedEOF, 0},
		"cut in length":   {good[:11], io.ErrUnexpectedEOF, 11},
		"cut in header":   {good[:60], io.ErrUnexpectedEOF, 60},
		"cut at the end":  {good[:len(good)-1], io.ErrUnexpectedEOF, len(good) - 1},
		"zeros":           {make([]byte, 100), ErrCorrupt, 100},
		"length 48":       {change(func(b []byte) { binary.BigEndian.PutUint32(b[8:], 48) }), ErrCorrupt, len(good)},
		"length negative": {change(func(b []byte) { b[8] = 0xff }), ErrCorrupt, len(good)},
		"length huge":     {change(func(b []byte) { b[8] = 0x7f }), io.ErrUnexpectedEOF, len(good)},
		"magic 1":         {change(func(b []byte) { b[16] = 1 }), ErrCorrupt, len(good)},
		"magic 1, cut":    {change(func(b []byte) { b[16] = 1 })[:20], ErrCorrupt, 20},
	} {
		b, rest, err := Next(c.data)
		if !errors.Is(err, c.want) || len(rest) != c.rest || err == nil && !bytes.Equal(b, good) {
			t.Errorf("%s: %d bytes, %d left, %v", name, len(b), len(rest), err)
		}
	}
	if n, err := HeaderSizeOf(good[:12]); n != len(good) || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	fresh := func(f func(b Batch)) Batch {
		b := sample()
		f(b)
		binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
		return b
	}
	if err := sample().Check(); err != nil {
		t.Error(err)
	}
	for name, b := range map[string]Batch{
		"count negative":       fresh(func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 1<<31) }),
		"count above offsets":  fresh(func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 4) }),
		"delta negative":       fresh(func(b Batch) { binary.BigEndian.PutUint32(b[atLastDelta:], 1<<31) }),
		"base offset negative": fresh(func(b Batch) { b.SetBaseOffset(-1) }),
		"offset overflows":     fresh(func(b Batch) { b.SetBaseOffset(1<<63 - 1) }),
		"CRC":                  sample()[:len(sample())-1],
	} {
		if err := b.Check(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	compacted := fresh(func(b Batch) { binary.BigEndian.PutUint32(b[atLastDelta:], 90) })
	if err := compacted.Check(); err != nil {
		t.Errorf("a batch with gaps: %v", err)
	}
}

func TestSequenceWraps(t *testing.T) {
	t.Parallel()
	const top = 1<<31 - 1
	for _, c := range [][3]int32{{0, 0, 0}, {5, 2, 7}, {top, 0, top}, {top, 1, 0}, {top - 1, 5, 3}} {
		if got := AddSequence(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestVarints(t *testing.T) {
	t.Parallel()
	for _, v := range []int64{0, -1, 1, 63, -64, 64, 8191, 8192, -8193, 1<<31 - 1, -1 << 31, 1<<63 - 1, -1 << 63} {
		p := binary.AppendVarint([]byte{9}, v)
		if got, next := varint64(p, 1); got != v || next != len(p) {
			t.Errorf("64 bits: %d read as %d", v, got)
		}
		if got, next := varint32(p, 1); int64(int32(v)) == v && (int64(got) != v || next != len(p)) {
			t.Errorf("32 bits: %d read as %d", v, got)
		}
		if sizeOfVarint(v) != len(p)-1 {
			t.Errorf("size of %d: %d", v, sizeOfVarint(v))
		}
	}
	long := bytes.Repeat([]byte{0x80}, 20)
	for n := range 20 {
		p := append(bytes.Clone(long[:n]), 0)
		if _, next := varint32(p, 0); (next == badVarint) != (n >= 5) {
			t.Errorf("32 bits in %d bytes: %d", n+1, next)
		}
		if _, next := varint64(p, 0); (next == badVarint) != (n >= 10) {
			t.Errorf("64 bits in %d bytes: %d", n+1, next)
		}
		if _, next := varint64(long[:n], 0); next != badVarint {
			t.Errorf("%d bytes without an end: %d", n, next)
		}
	}
}

func TestTransactional(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data   []byte
		yes    bool
		whole  bool
		answer string
	}{
		"yes":     {sample(), true, false, ""},
		"no":      {raw{recs: vals("a")}.encode(), false, false, ""},
		"empty":   {nil, false, false, ""},
		"cut":     {sample()[:50], false, false, ""},
		"old":     {append(make([]byte, 8), 0, 0, 0, 14, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), false, false, ""},
		"length":  {make([]byte, 30), false, true, "Record size 0 is less than the minimum record overhead (14)"},
		"magic":   {append(make([]byte, 8), 0, 0, 0, 99, 0, 0, 0, 0, 3), false, true, "Invalid magic found in record: 3"},
		"minimum": {append(append(make([]byte, 8), 0, 0, 0, 14), make([]byte, 14)...), false, false, ""},
	} {
		yes, err := Transactional(c.data)
		var bad *Refusal
		errors.As(err, &bad)
		if yes != c.yes || (bad != nil) != c.whole || bad != nil && (!bad.WholeRequest || bad.Message != c.answer) {
			t.Errorf("%s: %v, %+v", name, yes, bad)
		}
	}
}
