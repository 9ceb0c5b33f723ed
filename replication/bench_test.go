package replication_test

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"barnabas/protocol/record"
	"barnabas/replication"
)

// bench64K is a batch of about 64 KB in records of 1 KB.
func bench64K() []byte {
	b := record.NewBuilder(record.BuilderOptions{})
	value := make([]byte, 1000)
	for i := range 63 {
		b.Append(int64(1_600_000_000_000+i), nil, value)
	}
	return b.Build()
}

// BenchmarkAppend64K is a produce of one partition below the server: checks,
// CRC, one write, high watermark. Compare it with BenchmarkBareAppend64K.
func BenchmarkAppend64K(b *testing.B) {
	r := newRig(b, b.TempDir())
	r.lead("t", 1)
	data := bench64K()
	parts := make([]replication.ProducePart, 1)
	opts := &replication.AppendOptions{Version: 9, Acks: -1}
	p := r.m.Partition("t", 0)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		record.Batch(data).SetBaseOffset(0)
		parts[0] = replication.ProducePart{Partition: p, Records: data}
		if r.m.Append(parts, opts) != nil || parts[0].Err != nil {
			b.Fatal(parts[0].Err)
		}
	}
}

// BenchmarkBareAppend64K is the least that a broker has to do: one CRC and one
// write at the end of a file.
func BenchmarkBareAppend64K(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := bench64K()
	table := crc32.MakeTable(crc32.Castagnoli)
	at := int64(0)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if crc32.Checksum(data[21:], table) == 0 {
			b.Fatal("checksum")
		}
		n, err := f.WriteAt(data, at)
		if err != nil {
			b.Fatal(err)
		}
		at += int64(n)
	}
}

// BenchmarkReadTail is a fetch of the last batch, without sending it.
func BenchmarkReadTail(b *testing.B) {
	r := newRig(b, b.TempDir())
	r.lead("t", 1)
	last := r.put("t", bench64K())
	parts := make([]replication.FetchPart, 1)
	opts := &replication.ReadOptions{ReplicaID: -1, MinBytes: 1, MaxBytes: 1 << 20}
	p := r.m.Partition("t", 0)
	b.ReportAllocs()
	for b.Loop() {
		parts[0] = replication.FetchPart{Partition: p, Offset: last, MaxBytes: 1 << 20, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1}
		r.m.Read(parts, opts, false)
		if parts[0].Err != nil || parts[0].Region == nil {
			b.Fatal(parts[0].Err)
		}
		parts[0].Release()
	}
}

// BenchmarkLongPoll is an idle consumer's round: read nothing, wait, be woken.
func BenchmarkLongPoll(b *testing.B) {
	r := newRig(b, b.TempDir())
	r.lead("t", 1)
	b.ReportAllocs()
	for b.Loop() {
		_, w := r.fetch("t", 0)
		w.Start(func() {})
		w.Cancel()
	}
}
