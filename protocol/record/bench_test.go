package record

import (
	"fmt"
	"testing"
)

// batchOf makes a batch of 64 KiB of records with values of a size.
func batchOf(value int, c Codec) Batch {
	b := NewBuilder(BuilderOptions{Codec: c, Level: c.DefaultLevel(), PartitionLeaderEpoch: -1})
	data := text(value)
	for i := 0; b.Size() < 64<<10; i++ {
		b.Append(now+int64(i), fmt.Appendf(nil, "key-%d", i), data)
	}
	return b.Build()
}

var benchShapes = []struct {
	name  string
	value int
	codec Codec
}{
	{"1KB/none", 1000, None},
	{"100B/none", 100, None},
	{"10B/none", 10, None},
	{"1KB/lz4", 1000, LZ4},
	{"100B/lz4", 100, LZ4},
	{"1KB/zstd", 1000, Zstd},
	{"100B/zstd", 100, Zstd},
	{"1KB/snappy", 1000, Snappy},
	{"1KB/gzip", 1000, Gzip},
}

func BenchmarkValidateProduce(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			data := batchOf(s.value, s.codec)
			r := rules()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ValidateProduce(data, r); err != nil {
					b.Fatal(err)
				}
			}
			perRecord(b, int(data.RecordCount()))
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			data := batchOf(s.value, s.codec)
			b.ReportAllocs()
			for b.Loop() {
				if err := data.Walk(DefaultLimit, func(int64, int64) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
			perRecord(b, int(data.RecordCount()))
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	data := batchOf(100, None)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range data.Records() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	perRecord(b, int(data.RecordCount()))
}

func BenchmarkChecksum(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			data := Batch(make([]byte, HeaderSize+size))
			b.SetBytes(int64(size))
			for b.Loop() {
				data.checksum()
			}
		})
	}
}

func BenchmarkSetLogAppendTime(b *testing.B) {
	data := batchOf(1000, None)
	r := rules(appendTime)
	b.ReportAllocs()
	for b.Loop() {
		r.NowMs++
		data.setMaxTimestamp(CreateTime, now)
		if _, err := ValidateProduce(data, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRepack(b *testing.B) {
	for c := None; c <= Zstd; c++ {
		b.Run(c.String(), func(b *testing.B) {
			data := batchOf(1000, LZ4)
			r := rules(func(r *Rules) { r.Compression = Compression{Codec: c, Level: c.DefaultLevel()} })
			if c == LZ4 {
				data = batchOf(1000, None)
			}
			b.SetBytes(64 << 10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ValidateProduce(data, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func perRecord(b *testing.B, records int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}
