package storage_test

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/storage"
)

func openBench(b *testing.B, dir string) *storage.Manager {
	b.Helper()
	m, err := storage.Open(context.Background(), storage.Options{
		Dirs: []string{dir}, Clock: clock.System(), Logger: zap.NewNop(), BrokerID: 1, ClusterID: "c",
	})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func benchBatch(size int) record.Batch {
	x := record.NewBuilder(record.BuilderOptions{})
	x.Append(1000, nil, make([]byte, size-80))
	return x.Build()
}

// BenchmarkAppend is the produce path behind validation: one batch, one pwrite.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			m := openBench(b, b.TempDir())
			defer m.CloseNow()
			c := storage.DefaultConfig()
			c.SegmentBytes, c.RetentionBytes, c.FileDeleteDelayMs = 128<<20, 256<<20, 0
			l, err := m.Create(topic0, [16]byte{1}, c)
			if err != nil {
				b.Fatal(err)
			}
			batch := benchBatch(size)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				a, err := l.AppendLeader(batch, 1)
				if err != nil {
					b.Fatal(err)
				}
				if n%8192 == 8191 { // keep the disk small
					b.StopTimer()
					l.SetHighWatermark(a.LastOffset + 1)
					m.Retain()
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkRead finds a region: at the tail, as a consumer that keeps up, and at
// random offsets of sealed segments.
func BenchmarkRead(b *testing.B) {
	m := openBench(b, b.TempDir())
	defer m.CloseNow()
	c := storage.DefaultConfig()
	c.SegmentBytes = 16 << 20
	l, err := m.Create(topic0, [16]byte{1}, c)
	if err != nil {
		b.Fatal(err)
	}
	batch := benchBatch(1 << 10)
	for range 64 << 10 {
		if _, err := l.AppendLeader(batch, 1); err != nil {
			b.Fatal(err)
		}
	}
	end := l.LogEndOffset()
	for _, c := range []struct {
		name   string
		offset func(n int64) int64
	}{
		{"tail", func(int64) int64 { return end - 1 }},
		{"middle", func(n int64) int64 { return n * 7919 % (end * 3 / 4) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := int64(0); b.Loop(); n++ {
				r, err := l.Read(storage.ReadOptions{Offset: c.offset(n), MaxBytes: 1 << 20, End: end})
				if err != nil || r == nil {
					b.Fatal(r, err)
				}
				r.Release()
			}
		})
	}
}

func createMany(b *testing.B, m *storage.Manager, n int) {
	b.Helper()
	c := storage.DefaultConfig()
	for p := range n {
		if _, err := m.Create(storage.TopicPartition{Topic: "many", Partition: int32(p)}, [16]byte{1}, c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreate5000 makes the logs of a topic of 5,000 partitions.
func BenchmarkCreate5000(b *testing.B) {
	for b.Loop() {
		m := openBench(b, b.TempDir())
		createMany(b, m, 5000)
		b.StopTimer()
		if err := m.CloseNow(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// Benchmark10000 stops and starts a broker with 10,000 logs of one batch each.
func Benchmark10000(b *testing.B) {
	for _, what := range []string{"close", "open"} {
		b.Run(what, func(b *testing.B) {
			dir := b.TempDir()
			m := openBench(b, dir)
			createMany(b, m, 10_000)
			batch := benchBatch(1 << 10)
			for b.Loop() {
				b.StopTimer()
				for l := range m.Logs() {
					if _, err := l.AppendLeader(batch, 1); err != nil {
						b.Fatal(err)
					}
				}
				if what == "close" {
					b.StartTimer()
				}
				if err := m.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if what == "close" {
					b.StopTimer()
				}
				m = openBench(b, dir)
				b.StartTimer()
			}
			b.StopTimer()
			if err := m.CloseNow(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
