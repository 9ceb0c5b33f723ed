package record

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

const timesMessage = "One or more records have been rejected due to invalid timestamp"

func timeCases() []judgeCase {
	within := func(before, after int64) func(*Rules) {
		return func(r *Rules) { r.BeforeMaxMs, r.AfterMaxMs = before, after }
	}
	bad := func(i int32, ts, from, to int64) want {
		w := late(kerr.InvalidTimestamp)
		w.message = timesMessage
		w.records = []RecordError{{i, fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]", ts, i, from, to)}}
		return w
	}
	flagged := late(kerr.InvalidTimestamp)
	flagged.message = timesMessage
	flaggedRecord := func(name string, i int32, sizes string) RecordError {
		return RecordError{i, fmt.Sprintf("Invalid timestamp type in message %s(offset=%d, timestamp=%d, %s). Producer should not set timestamp type to LogAppendTime.", name, i, fixedTime, sizes)}
	}
	flaggedPlain, flaggedPacked := flagged, flagged
	flaggedPlain.records = []RecordError{flaggedRecord("DefaultRecord", 0, "key=0 bytes, value=1 bytes"), flaggedRecord("DefaultRecord", 1, "key=0 bytes, value=1 bytes")}
	flaggedPacked.records = []RecordError{flaggedRecord("PartialDefaultRecord", 0, "key=-1 bytes, value=1 bytes"), flaggedRecord("PartialDefaultRecord", 1, "key=-1 bytes, value=1 bytes")}
	flaggedNoTime := flagged
	flaggedNoTime.records = []RecordError{{0, "Invalid timestamp type in message DefaultRecord(offset=0, timestamp=-1, key=0 bytes, value=1 bytes). Producer should not set timestamp type to LogAppendTime."}}
	hour := int64(3_600_000)
	second := raw{recs: vals("a", "b"), ts: now}
	second.recs[1].ts = 2 * hour
	packed := func(b raw) raw { b.codec = LZ4; return b }
	wide := int64(1<<63 - 1)
	return []judgeCase{
		{"too old", raw{recs: vals("a"), ts: now - 2*hour}, within(hour, wide), bad(0, now-2*hour, now-hour, minusOne(now))},
		{"old enough to the millisecond", raw{recs: vals("a"), ts: now - hour}, within(hour, wide), ok()},
		{"far ahead, no bound", raw{recs: vals("a"), ts: 4_000_000_000_000}, nil, ok()},
		{"second record ahead", second, within(wide, 60_000), bad(1, now+2*hour, now-wide, now+60_000)},
		{"second record ahead, packed", packed(second), within(wide, 60_000), bad(1, now+2*hour, now-wide, now+60_000)},
		{"ahead to the millisecond", second, within(wide, 2*hour), ok()},
		{"time -1", raw{recs: vals("a"), ts: -1}, within(hour, hour), ok()},
		{"time -5", raw{recs: vals("a"), ts: -5}, nil, ok()},
		{"time at the very bottom wraps", raw{recs: vals("a"), ts: -1 << 63}, nil, ok()},
		{"time at the very bottom, bounded", raw{recs: vals("a"), ts: -1 << 63}, within(hour, hour), bad(0, -1<<63, now-hour, now+hour)},
		{"far ahead on an append time topic", raw{recs: vals("a"), ts: 4_000_000_000_000}, appendTime, ok()},
		{"append time flag", two(func(b *raw) { b.attrs = appendTimeBit }), nil, ok()},
		{"append time flag without a time", raw{recs: vals("a"), ts: -1, attrs: appendTimeBit}, nil, flaggedNoTime},
		{"append time flag on an append time topic", two(func(b *raw) { b.attrs = appendTimeBit }), appendTime, flaggedPlain},
		{"append time flag on an append time topic, packed", packed(two(func(b *raw) { b.attrs = appendTimeBit })), appendTime, flaggedPacked},
		{
			"append time flag on an append time topic, repacked", packed(two(func(b *raw) { b.attrs = appendTimeBit })),
			func(r *Rules) { appendTime(r); r.Compression = Compression{Codec: Gzip} }, flaggedPlain,
		},
		{"max time wrong", two(func(b *raw) { b.patch = func(r []byte) { binary.BigEndian.PutUint64(r[35:], 77) } }), nil, ok()},
		{"header only believes the header", second, func(r *Rules) { within(wide, 60_000)(r); r.HeaderOnly = true }, late(kerr.InvalidTimestamp).
			with(bad(1, now+2*hour, now-wide, now+60_000))},
	}
}

// minusOne is now + the highest number, as it wraps.
func minusOne(now int64) int64 { return now + (1<<63 - 1) }

func (w want) with(o want) want { w.message, w.records = o.message, o.records; return w }

func codecCases() []judgeCase {
	unknown := late(kerr.UnknownServerError)
	packed := func(c Codec, body string) raw {
		return two(func(b *raw) { b.codec = c; b.payload = func([]byte) []byte { return []byte(body) } })
	}
	cut := func(c Codec) raw {
		return two(func(b *raw) { b.codec = c; b.packed = func(p []byte) []byte { return p[:len(p)-3] } })
	}
	counts := func(c Codec, n int32) raw {
		return two(func(b *raw) { b.codec = c; b.count, b.lastDelta = ptr(n), ptr(n-1) })
	}
	version := func(v int16) func(*Rules) { return func(r *Rules) { r.Version = v } }
	to := func(c Codec) func(*Rules) {
		return func(r *Rules) { r.Compression = Compression{Codec: c, Level: c.DefaultLevel()} }
	}
	all := []judgeCase{
		{"codec 5", two(func(b *raw) { b.codec = 5 }), nil, unknown},
		{"codec 5 before version 7", two(func(b *raw) { b.codec = 5 }), version(6), early(kerr.UnknownServerError)},
		{"zstd before version 7", two(func(b *raw) { b.codec = Zstd }), version(6), early(kerr.UnsupportedCompressionType)},
		{"zstd in version 7", two(func(b *raw) { b.codec = Zstd }), version(7), ok()},
		{"gzip garbage", packed(Gzip, "no gzip"), nil, unknown},
		{"snappy garbage", packed(Snappy, "\xff\xff"), nil, unknown},
		{"lz4 garbage", packed(LZ4, "no lz4 at all"), nil, unknown},
		{"zstd garbage", packed(Zstd, "no zstd at all"), nil, unknown},
		{"snappy that declares 2 GiB", packed(Snappy, "\xff\xff\xff\xff\x07\x00\x00"), nil, unknown},
		{"snappy that declares too much", packed(Snappy, "\x80\x80\x80\x08\x00\x00"), nil, unknown},
		{"more than may be decompressed", raw{recs: vals(repeat(100_000, "x")), codec: Gzip}, func(r *Rules) { r.MaxDecompressed = 50_000 }, early(kerr.MessageTooLarge)},
		{"negative time to be repacked", raw{recs: vals("a"), ts: -5}, to(Gzip), unknown},
		{"transaction without producer to be repacked", two(func(b *raw) { b.attrs = transactionalBit }), to(Gzip), unknown},
		{"epoch -1 to be repacked", two(func(b *raw) { b.producer = &Producer{7, -1, 0} }), to(Gzip), unknown},
		{"producer id -2 to be repacked", two(func(b *raw) { b.producer = &Producer{-2, -1, -1} }), to(Gzip), unknown},
		{"deltas swapped to be repacked", two(func(b *raw) { b.deltas = []int32{1, 0} }), to(Gzip), ok()},
		{
			"too large once repacked",
			raw{recs: vals(repeat(5000, "x")), codec: Gzip},
			func(r *Rules) { to(None)(r); r.MaxMessageBytes = 2000 }, early(kerr.MessageTooLarge),
		},
		{
			"too large for a segment once repacked",
			raw{recs: vals(repeat(5000, "x")), codec: Gzip},
			func(r *Rules) { to(None)(r); r.SegmentBytes = 2000 }, early(kerr.RecordListTooLarge),
		},
	}
	for c := Gzip; c <= Zstd; c++ {
		all = append(all,
			judgeCase{c.String(), two(func(b *raw) { b.codec = c }), nil, ok()},
			judgeCase{c.String() + " cut", cut(c), nil, unknown},

			judgeCase{c.String() + " count too high", counts(c, 3), nil, late(kerr.InvalidRecord)},
			judgeCase{c.String() + " count too low", counts(c, 1), nil, late(kerr.InvalidRecord)},
			judgeCase{c.String() + " append time", two(func(b *raw) { b.codec = c }), appendTime, ok()},
		)
		for d := None; d <= Zstd; d++ {
			all = append(all, judgeCase{c.String() + " to " + d.String(), two(func(b *raw) { b.codec = c }), to(d), ok()})
		}
	}
	return all
}

// TestStored shows which header fields are stored for a batch that is accepted in place.
func TestStored(t *testing.T) {
	t.Parallel()
	late := raw{recs: vals("a", "b", "c"), ts: now}
	late.recs[1].ts = 5
	wrongMax := func(b raw) raw {
		b.patch = func(r []byte) { binary.BigEndian.PutUint64(r[35:], 77) }
		return b
	}
	with := func(b raw, bits uint16, c Codec) raw { b.attrs, b.codec = bits, c; return b }
	for _, c := range []struct {
		name      string
		batch     raw
		rules     func(*Rules)
		max       int64
		bits      int16
		untouched bool
		answer    int64
	}{
		{"good", late, nil, now + 5, 0, true, -1},
		{"max time wrong", wrongMax(late), nil, now + 5, 0, false, -1},
		{"max time wrong, packed", wrongMax(with(late, 0, LZ4)), nil, now + 5, 3, false, -1},
		{"max time wrong, header only", wrongMax(late), func(r *Rules) { r.HeaderOnly = true }, 77, 0, true, -1},
		{"unused bits stay", with(late, 1<<9|1<<7, None), nil, now + 5, 1<<9 | 1<<7, true, -1},
		{"unused bits go with a patch", wrongMax(with(late, 1<<9|1<<7|transactionalBit|deleteHorizonBit, None)), nil, now + 5, transactionalBit | deleteHorizonBit, false, -1},
		{"all times below -1", raw{recs: vals("a"), ts: -5}, nil, -1, 0, false, -1},
		{"append time", late, appendTime, now, appendTimeBit, false, now},
		{"append time, packed", with(late, 0, Zstd), appendTime, now, appendTimeBit | 4, false, now},
		{"append time flag is dropped", with(late, appendTimeBit, None), nil, now + 5, 0, false, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := c.batch.encode()
			sent := string(data)
			r := rules()
			if c.rules != nil {
				c.rules(r)
			}
			v, err := ValidateProduce(data, r)
			if err != nil {
				t.Fatal(err)
			}
			b := v.Batch
			if b.MaxTimestamp() != c.max || b.Attributes() != c.bits || v.LogAppendTimeMs != c.answer {
				t.Fatalf("max %d, attributes %#x, answer %d; want %d, %#x, %d", b.MaxTimestamp(), b.Attributes(), v.LogAppendTimeMs, c.max, c.bits, c.answer)
			}
			if !b.ChecksumOK() || &b[0] != &data[0] {
				t.Fatal("not patched in place, or a wrong CRC")
			}
			if c.untouched != (sent == string(data)) {
				t.Fatalf("untouched %v, want %v", sent == string(data), c.untouched)
			}
		})
	}
}
