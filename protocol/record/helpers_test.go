package record

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

// fixedTime is the producer's time in the tests, as in the recorded answers of Kafka.
const fixedTime = int64(1_600_000_000_000)

// now is the broker's time in the tests.
const now = int64(1_790_000_000_000)

// raw is a batch before it is encoded, independent of Builder, with every way of being wrong. The zero value of an
// override means "as it should be".
type raw struct {
	recs      []rec
	codec     Codec
	attrs     uint16
	base      int64
	ts        int64
	producer  *Producer
	count     *int32
	lastDelta *int32
	deltas    []int32
	patch     func(b []byte)             // before the CRC
	spoil     func(b []byte) []byte      // after the CRC
	payload   func(plain []byte) []byte  // instead of compressing
	records   func(plain []byte) []byte  // before compressing
	packed    func(packed []byte) []byte // after compressing
}

type rec struct {
	key, value []byte
	ts         int64
	headers    []Header
}

func vals(values ...string) []rec {
	var rs []rec
	for _, v := range values {
		rs = append(rs, rec{value: []byte(v)})
	}
	return rs
}

func keyed(kv ...string) []rec {
	var rs []rec
	for i := 0; i+1 < len(kv); i += 2 {
		rs = append(rs, rec{key: []byte(kv[i]), value: []byte(kv[i+1])})
	}
	return rs
}

func ptr[T any](v T) *T { return &v }

func (b raw) encode() []byte {
	if b.ts == 0 {
		b.ts = fixedTime
	}
	var plain []byte
	maxTS := b.ts
	for i, r := range b.recs {
		delta := int32(i)
		if i < len(b.deltas) {
			delta = b.deltas[i]
		}
		plain = appendRaw(plain, r, delta)
		maxTS = max(maxTS, b.ts+r.ts)
	}
	if b.records != nil {
		plain = b.records(plain)
	}
	body, err := Compress(nil, b.codec, b.codec.DefaultLevel(), plain)
	if err != nil {
		body = plain
	}
	if b.payload != nil {
		body = b.payload(plain)
	}
	if b.packed != nil {
		body = b.packed(body)
	}
	n := int32(len(b.recs))
	last := max(n-1, 0)
	if b.count != nil {
		n = *b.count
	}
	if b.lastDelta != nil {
		last = *b.lastDelta
	}
	p := Producer{-1, -1, -1}
	if b.producer != nil {
		p = *b.producer
	}
	e := binary.BigEndian
	out := e.AppendUint64(nil, uint64(b.base))
	out = e.AppendUint32(out, uint32(49+len(body)))
	out = e.AppendUint32(out, 0xffffffff)
	out = append(out, 2, 0, 0, 0, 0)
	out = e.AppendUint16(out, uint16(b.codec)|b.attrs)
	out = e.AppendUint32(out, uint32(last))
	out = e.AppendUint64(out, uint64(b.ts))
	out = e.AppendUint64(out, uint64(maxTS))
	out = e.AppendUint64(out, uint64(p.ID))
	out = e.AppendUint16(out, uint16(p.Epoch))
	out = e.AppendUint32(out, uint32(p.BaseSequence))
	out = e.AppendUint32(out, uint32(n))
	out = append(out, body...)
	if b.patch != nil {
		b.patch(out)
	}
	e.PutUint32(out[17:], crc32.Checksum(out[21:], crc32.MakeTable(crc32.Castagnoli)))
	if b.spoil != nil {
		out = b.spoil(out)
	}
	return out
}

func appendRaw(dst []byte, r rec, delta int32) []byte {
	b := []byte{0}
	b = binary.AppendVarint(b, r.ts)
	b = binary.AppendVarint(b, int64(delta))
	b = appendVarBytes(b, r.key)
	b = appendVarBytes(b, r.value)
	b = binary.AppendVarint(b, int64(len(r.headers)))
	for _, h := range r.headers {
		b = appendVarBytes(b, h.Key)
		b = appendVarBytes(b, h.Value)
	}
	dst = binary.AppendVarint(dst, int64(len(b)))
	return append(dst, b...)
}

func appendVarBytes(dst, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(dst, -1)
	}
	return append(binary.AppendVarint(dst, int64(len(v))), v...)
}

// rules are those of a topic with Kafka's defaults.
func rules(change ...func(*Rules)) *Rules {
	const forever = 1<<63 - 1
	r := &Rules{
		Version: 9, NowMs: now, MaxMessageBytes: 1048588, SegmentBytes: 1 << 30, BeforeMaxMs: forever, AfterMaxMs: forever,
		Compression: Compression{FromProducer: true}, TopicPartition: "T-0",
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// keys collects what Records gives as "key=value" texts.
func contents(tb testing.TB, b Batch) []string {
	tb.Helper()
	var out []string
	for r, err := range b.Records() {
		if err != nil {
			tb.Fatalf("record %d: %v", len(out), err)
		}
		out = append(out, string(r.Key)+"="+string(r.Value))
	}
	return out
}

// text makes n bytes that compress like text.
func text(n int) []byte {
	line := []byte("In the late evening K. arrived. The village lay deep in snow; ")
	b := bytes.Repeat(line, n/len(line)+1)[:n]
	for i := 0; i < n; i += 97 {
		b[i] = byte(i * 7)
	}
	return b
}

func repeat(n int, s string) string { return strings.Repeat(s, n) }
