package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

// want is what a batch is answered with.
type want struct {
	code    int16
	message string
	records []RecordError
	late    bool // the log was asked: the reply has its start offset
}

func ok() want { return want{} }

// early is an error before the log is asked, late one after.
func early(e *kerr.Error) want { return want{code: e.Code} }
func late(e *kerr.Error) want  { return want{code: e.Code, late: true} }

type judgeCase struct {
	name  string
	batch raw
	rules func(*Rules)
	want  want
}

func two(change func(*raw)) raw {
	b := raw{recs: vals("a", "b")}
	change(&b)
	return b
}

func one(change func(*raw)) raw {
	b := raw{recs: vals("a")}
	change(&b)
	return b
}

func compact(r *Rules)    { r.Compacted = true }
func appendTime(r *Rules) { r.TimestampType = LogAppendTime }

// TestAnswers holds what Kafka 3.9 answered to the same bytes (the recorded cases) or, for the rest, what its code does.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var all []judgeCase
	all = append(all, formCases()...)
	all = append(all, headerCases()...)
	all = append(all, recordCases()...)
	all = append(all, timeCases()...)
	all = append(all, codecCases()...)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := c.batch.encode()
			r := rules()
			if c.rules != nil {
				c.rules(r)
			}
			checkAnswer(t, data, r, c.want)
		})
	}
}

func checkAnswer(t *testing.T, data []byte, r *Rules, w want) {
	t.Helper()
	before := bytes.Clone(data)
	v, err := ValidateProduce(data, r)
	if w.code == 0 {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if !v.Batch.ChecksumOK() || v.Batch.Size() != len(v.Batch) {
			t.Fatal("the batch to store is not sound")
		}
		if n := len(contents(t, v.Batch)); n != int(v.Batch.RecordCount()) {
			t.Fatalf("%d records, header says %d", n, v.Batch.RecordCount())
		}
		return
	}
	var bad *Refusal
	if !errors.As(err, &bad) {
		t.Fatalf("accepted, want code %d", w.code)
	}
	if bad.Err.Code != w.code || bad.BeforeLog == w.late {
		t.Fatalf("code %d, before log %v: %v; want %+v", bad.Err.Code, bad.BeforeLog, err, w)
	}
	if bad.Message != w.message {
		t.Fatalf("message %q, want %q", bad.Message, w.message)
	}
	if len(bad.Records) != len(w.records) {
		t.Fatalf("record errors %v, want %v", bad.Records, w.records)
	}
	for i := range w.records {
		if bad.Records[i] != w.records[i] {
			t.Fatalf("record error %v, want %v", bad.Records[i], w.records[i])
		}
	}
	if !bytes.Equal(before, data) {
		t.Fatal("refused, but the bytes were changed")
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 0x55; return b }
}

func formCases() []judgeCase {
	length := func(n func(b []byte) uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], n(b)); return b }
	}
	corrupt, invalid := early(kerr.CorruptMessage), early(kerr.InvalidRecord)
	behind := func(more ...byte) raw {
		return two(func(b *raw) { b.spoil = func(r []byte) []byte { return append(r, more...) } })
	}
	return []judgeCase{
		{"good", raw{recs: vals("a", "b")}, nil, ok()},
		{"empty", raw{spoil: func([]byte) []byte { return nil }}, nil, invalid},
		{"magic 3", two(func(b *raw) { b.patch = func(r []byte) { r[16] = 3 } }), nil, corrupt},
		{"magic -1", two(func(b *raw) { b.patch = func(r []byte) { r[16] = 255 } }), nil, corrupt},
		{"magic 1", two(func(b *raw) { b.patch = func(r []byte) { r[16] = 1 } }), nil, invalid},
		{"bad CRC", two(func(b *raw) { b.spoil = flip(17) }), nil, corrupt},
		{"bad payload byte", two(func(b *raw) { b.spoil = func(r []byte) []byte { r[len(r)-2] ^= 1; return r } }), nil, corrupt},
		{"length too long", two(func(b *raw) { b.spoil = length(func(b []byte) uint32 { return uint32(len(b) + 40) }) }), nil, invalid},
		{"length too short", two(func(b *raw) { b.spoil = length(func(b []byte) uint32 { return uint32(len(b) - 20) }) }), nil, corrupt},
		{"length 0", two(func(b *raw) { b.spoil = length(func([]byte) uint32 { return 0 }) }), nil, corrupt},
		{"length negative", two(func(b *raw) { b.spoil = length(func([]byte) uint32 { return 1 << 31 }) }), nil, corrupt},
		{"length 13", two(func(b *raw) { b.spoil = length(func([]byte) uint32 { return 13 }) }), nil, corrupt},
		{"length 14 ends in the offset delta", one(func(b *raw) {
			b.spoil = func(r []byte) []byte { binary.BigEndian.PutUint32(r[8:], 14); return r[:26] }
		}), nil, late(kerr.UnknownServerError)},
		{"length 15", one(func(b *raw) {
			b.spoil = func(r []byte) []byte { binary.BigEndian.PutUint32(r[8:], 15); return r[:27] }
		}), nil, corrupt},
		{"cut", two(func(b *raw) { b.spoil = func(r []byte) []byte { return r[:len(r)-3] } }), nil, invalid},
		{"cut in header", two(func(b *raw) { b.spoil = func(r []byte) []byte { return r[:40] } }), nil, invalid},
		{"cut after offset", two(func(b *raw) { b.spoil = func(r []byte) []byte { return r[:8] } }), nil, invalid},
		{"a few bytes behind it", behind(1, 2, 3), nil, ok()},
		{"bytes with an impossible length behind it", behind(make([]byte, 12)...), nil, corrupt},
		{"bytes with a negative magic behind it", behind(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0xff), nil, corrupt},
		{"a cut batch behind it", behind(raw{recs: vals("c")}.encode()[:60]...), nil, ok()},
		{"two batches", behind(raw{recs: vals("c")}.encode()...), nil, invalid},
		{"good, then a bad CRC", behind(raw{recs: vals("c"), spoil: flip(17)}.encode()...), nil, invalid},
		{"base offset 5", two(func(b *raw) { b.base = 5 }), nil, late(kerr.InvalidRecord)},
		{"base offset 5 and bad CRC", two(func(b *raw) { b.base = 5; b.spoil = flip(17) }), nil, late(kerr.InvalidRecord)},
		{"leader epoch set", two(func(b *raw) {
			b.spoil = func(r []byte) []byte { binary.BigEndian.PutUint32(r[12:], 9); return r }
		}), nil, ok()},
		{"version 2", raw{recs: vals("a")}, func(r *Rules) { r.Version = 2 }, early(kerr.UnsupportedVersion)},
		{"too large", raw{recs: vals(repeat(3000, "x"))}, func(r *Rules) { r.MaxMessageBytes = 2000 }, early(kerr.MessageTooLarge)},
		{"too large and bad CRC", raw{recs: vals(repeat(3000, "x")), spoil: flip(17)}, func(r *Rules) { r.MaxMessageBytes = 2000 }, early(kerr.MessageTooLarge)},
		{
			"too large together",
			raw{recs: vals(repeat(900, "x"), repeat(900, "x"), repeat(900, "x"))},
			func(r *Rules) { r.MaxMessageBytes = 2000 }, early(kerr.MessageTooLarge),
		},
		{"small when packed", raw{recs: vals(repeat(5000, "x")), codec: Gzip}, func(r *Rules) { r.MaxMessageBytes = 2000 }, ok()},
		{
			"larger than a segment",
			raw{recs: vals(repeat(1<<20+100, "x"))},
			func(r *Rules) { r.SegmentBytes, r.MaxMessageBytes = 1<<20, 2_000_000 }, early(kerr.RecordListTooLarge),
		},
		{
			"larger than a segment, to be patched",
			raw{recs: vals(repeat(1<<20+100, "x"))},
			func(r *Rules) { r.SegmentBytes, r.MaxMessageBytes, r.TimestampType = 1<<20, 2_000_000, LogAppendTime }, early(kerr.RecordListTooLarge),
		},
	}
}

func headerCases() []judgeCase {
	invalid := late(kerr.InvalidRecord)
	return []judgeCase{
		{"count 0", two(func(b *raw) { b.count = ptr(int32(0)) }), nil, invalid},
		{"count -1", two(func(b *raw) { b.count = ptr(int32(-1)) }), nil, invalid},
		{"count too low", two(func(b *raw) { b.count, b.lastDelta = ptr(int32(1)), ptr(int32(0)) }), nil, invalid},
		{"count too high", two(func(b *raw) { b.count, b.lastDelta = ptr(int32(3)), ptr(int32(2)) }), nil, invalid},
		{"count enormous", two(func(b *raw) { b.count, b.lastDelta = ptr(int32(1<<31-1)), ptr(int32(1<<31-2)) }), nil, invalid},
		{"count and delta disagree", two(func(b *raw) { b.lastDelta = ptr(int32(3)) }), nil, invalid},
		{"no records, count 0", raw{lastDelta: ptr(int32(0))}, nil, invalid},
		{"no records, delta -1", raw{lastDelta: ptr(int32(-1)), count: ptr(int32(0))}, nil, invalid},
		{"control flag", two(func(b *raw) { b.attrs = controlBit }), nil, invalid},
		{"transactional flag", two(func(b *raw) { b.attrs = transactionalBit }), nil, ok()},
		{"delete horizon flag", two(func(b *raw) { b.attrs = deleteHorizonBit }), nil, ok()},
		{"unused attribute bits", two(func(b *raw) { b.attrs = 1 << 9 }), nil, ok()},
		{"sequence -1", two(func(b *raw) { b.producer = &Producer{7, 0, -1} }), nil, invalid},
		{"sequence -2", two(func(b *raw) { b.producer = &Producer{7, 0, -2} }), nil, invalid},
		{"epoch -1", two(func(b *raw) { b.producer = &Producer{7, -1, 0} }), nil, ok()},
		{"producer id -2 is none", two(func(b *raw) { b.producer = &Producer{-2, -1, -1} }), nil, ok()},
		{"highest sequence", two(func(b *raw) { b.producer = &Producer{7, 0, 1<<31 - 1} }), nil, ok()},
	}
}

func recordCases() []judgeCase {
	invalid := late(kerr.InvalidRecord)
	noKey := "Compacted topic cannot accept message without key in topic partition T-0"
	change := func(f func(plain []byte)) raw {
		return two(func(b *raw) { b.records = func(p []byte) []byte { f(p); return p } })
	}
	packed := func(b raw) raw { b.codec = Gzip; return b }
	nullKeys := func(text string, at ...int32) want {
		w := invalid
		w.message = "One or more records have been rejected due to " + text
		for _, i := range at {
			w.records = append(w.records, RecordError{i, noKey})
		}
		return w
	}
	nullHeaderKey := one(func(b *raw) {
		b.records = func(p []byte) []byte {
			return append([]byte{p[0] + 4}, append(append([]byte{}, p[1:len(p)-1]...), 2, 1, 1)...)
		}
	})
	endless := two(func(b *raw) {
		b.records = func(p []byte) []byte { return append([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, p...) }
	})
	return []judgeCase{
		{"deltas swapped", two(func(b *raw) { b.deltas = []int32{1, 0} }), nil, ok()},
		{"deltas with a gap", two(func(b *raw) { b.deltas = []int32{0, 2}; b.lastDelta = ptr(int32(2)) }), nil, invalid},
		{"delta beyond", two(func(b *raw) { b.deltas = []int32{0, 7} }), nil, ok()},
		{"packed deltas swapped", packed(two(func(b *raw) { b.deltas = []int32{1, 0} })), nil, late(kerr.UnknownServerError)},
		{"record length too long", change(func(p []byte) { p[0] += 2 }), nil, invalid},
		{"record length too short", change(func(p []byte) { p[0] -= 2 }), nil, invalid},
		{"record length negative", change(func(p []byte) { p[0] = 1 }), nil, invalid},
		{"record length endless", endless, nil, late(kerr.UnknownServerError)},
		{"packed record length endless", packed(endless), nil, invalid},
		{"packed record length too long", packed(change(func(p []byte) { p[0] += 2 })), nil, invalid},  // Kafka stores this one
		{"packed record length too short", packed(change(func(p []byte) { p[0] -= 2 })), nil, invalid}, // and this one
		{"record attributes", change(func(p []byte) { p[1] = 7 }), nil, ok()},
		{"key length too long", change(func(p []byte) { p[4] = 60 }), nil, invalid},
		{"key length -3 is null", change(func(p []byte) { p[4] = 5 }), nil, ok()},
		{"value length too long", change(func(p []byte) { p[5] = 60 }), nil, invalid},
		{"header count negative", one(func(b *raw) { b.records = func(p []byte) []byte { p[len(p)-1] = 1; return p } }), nil, invalid},
		{"header count too high", one(func(b *raw) { b.records = func(p []byte) []byte { p[len(p)-1] = 80; return p } }), nil, invalid},
		{"header with null key", nullHeaderKey, nil, invalid},
		{"packed header with null key", packed(nullHeaderKey), nil, invalid},
		{"header with null value", raw{recs: []rec{{headers: []Header{{[]byte("h"), nil}}}}}, nil, ok()},
		{"bytes behind the records", two(func(b *raw) { b.records = func(p []byte) []byte { return append(p, 0) } }), nil, invalid},
		{"packed bytes behind the records", packed(two(func(b *raw) { b.records = func(p []byte) []byte { return append(p, 0) } })), nil, invalid},
		{"compacted, null keys", raw{recs: vals("a", "b")}, compact, nullKeys("2 record errors in total, and only showing the first three errors at most: "+
			"[RecordError(batchIndex=0, message='"+noKey+"'), RecordError(batchIndex=1, message='"+noKey+"')]", 0, 1)},
		{"compacted, one null key", raw{recs: append(keyed("k", "v"), vals("x")...)}, compact, nullKeys(
			"1 record errors in total, and only showing the first three errors at most: [RecordError(batchIndex=1, message='"+noKey+"')]", 1)},
		{"compacted, packed null key", packed(raw{recs: append(keyed("k", "v"), vals("x")...)}), compact, nullKeys(
			"1 record errors in total, and only showing the first three errors at most: [RecordError(batchIndex=1, message='"+noKey+"')]", 1)},
		{"compacted, tombstone", raw{recs: []rec{{key: []byte("k")}}}, compact, ok()},
		{"compacted, empty key", raw{recs: []rec{{key: []byte{}}}}, compact, ok()},
		{"compacted, null key, then a broken record", two(func(b *raw) {
			b.records = func(p []byte) []byte { p[len(p)-1] = 1; return p }
		}), compact, invalid},
		{"compacted, header only", raw{recs: vals("a")}, func(r *Rules) { r.Compacted, r.HeaderOnly = true, true }, nullKeys(
			"1 record errors in total, and only showing the first three errors at most: [RecordError(batchIndex=0, message='"+noKey+"')]", 0)},
	}
}
