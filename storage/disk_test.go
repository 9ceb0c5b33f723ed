package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/storage"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filled is a log of many segments in a real directory, stopped cleanly or not;
// record n has timestamp 2(n+1) and the value of its offset.
func filled(t *testing.T, dir string, c storage.Config, n int) *storage.Manager {
	t.Helper()
	m := open(t, dir, c)
	l, err := m.Create(topic0, [16]byte{1}, c)
	must(t, err)
	for i := range n {
		b := record.NewBuilder(record.BuilderOptions{Producer: &record.Producer{ID: 9, BaseSequence: int32(i)}})
		b.Append(2*int64(i+1), nil, fmt.Append(nil, i))
		_, err := l.AppendLeader(b.Build(), 4)
		must(t, err)
	}
	l.SetHighWatermark(l.LogEndOffset())
	return m
}

func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "t-0", pattern))
	must(t, err)
	if len(names) == 0 {
		t.Fatalf("no %s", pattern)
	}
	return names
}

// each rewrites every file that matches.
func each(t *testing.T, dir, pattern string, f func([]byte) []byte) {
	t.Helper()
	for _, name := range files(t, dir, pattern) {
		data, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(name, f(data), 0o600))
	}
}

func newest(t *testing.T, dir string, tail []byte) {
	t.Helper()
	names := files(t, dir, "*.log")
	f, err := os.OpenFile(names[len(names)-1], os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(tail)
	must(t, errors.Join(err, f.Close()))
}

func half(b []byte) []byte { return b[:len(b)/2] }
func cut12(b []byte) []byte {
	return b[:len(b)/24*12]
}
func empty([]byte) []byte { return nil }
func garbage(b []byte) []byte {
	g := make([]byte, len(b))
	for i := range g {
		g[i] = byte(i*31 + 7)
	}
	return g
}

// lies is an index whose entries all lead to the last one's batch.
func lies(b []byte) []byte {
	for i := 0; i+8 <= len(b); i += 8 {
		copy(b[i+4:i+8], b[len(b)-4:])
	}
	return b
}

// What a kill, a power cut or a careless hand leaves in the directory (C91):
// every record is there, times are found exactly, retries are recognised.
func TestADamagedDirectoryOpens(t *testing.T) {
	t.Parallel()
	const n = 600
	oneBatch := func() []byte {
		b := record.NewBuilder(record.BuilderOptions{BaseOffset: n})
		b.Append(5000, nil, []byte("half"))
		return b.Build()
	}()
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
	}{
		{"nothing", func(*testing.T, string) {}},
		{"zero tail", func(t *testing.T, d string) { newest(t, d, make([]byte, 4096)) }},
		{"half a batch", func(t *testing.T, d string) { newest(t, d, half(oneBatch)) }},
		{"a batch with a wrong checksum", func(t *testing.T, d string) {
			b := append([]byte(nil), oneBatch...)
			b[len(b)-1] ^= 1
			newest(t, d, b)
		}},
		{"offset indexes gone", func(t *testing.T, d string) { remove(t, d, "*.index") }},
		{"time indexes gone", func(t *testing.T, d string) { remove(t, d, "*.timeindex") }},
		{"offset indexes cut", func(t *testing.T, d string) { each(t, d, "*.index", half) }},
		{"time indexes cut at an entry", func(t *testing.T, d string) { each(t, d, "*.timeindex", cut12) }},
		{"indexes empty", func(t *testing.T, d string) { each(t, d, "*index", empty) }},
		{"offset indexes garbage", func(t *testing.T, d string) { each(t, d, "*.index", garbage) }},
		{"time indexes garbage", func(t *testing.T, d string) { each(t, d, "*.timeindex", garbage) }},
		{"offset indexes lie", func(t *testing.T, d string) { each(t, d, "*.index", lies) }},
		{"snapshots garbage", func(t *testing.T, d string) { each(t, d, "*.snapshot", garbage) }},
		{"snapshots gone", func(t *testing.T, d string) { remove(t, d, "*.snapshot") }},
		{"epochs garbage", func(t *testing.T, d string) {
			must(t, os.WriteFile(filepath.Join(d, "t-0", "leader-epoch-checkpoint"), []byte("x"), 0o600))
		}},
		{"checkpoints garbage", func(t *testing.T, d string) {
			for _, name := range []string{"recovery-point-offset-checkpoint", "log-start-offset-checkpoint", "replication-offset-checkpoint"} {
				must(t, os.WriteFile(filepath.Join(d, name), []byte("0\n5\n"), 0o600))
			}
		}},
		{"an empty segment in the middle", func(t *testing.T, d string) {
			must(t, os.WriteFile(filepath.Join(d, "t-0", fmt.Sprintf("%020d.log", 101)), nil, 0o600))
		}},
	} {
		for _, stop := range []string{"clean", "flushed kill", "kill"} {
			if stop == "clean" && strings.Contains(c.name, "checksum") {
				continue // nobody looks for damage after a clean stop
			}
			t.Run(c.name+"/"+stop, func(t *testing.T) {
				t.Parallel()
				dir, config := t.TempDir(), storage.DefaultConfig()
				config.SegmentBytes, config.IndexIntervalBytes, config.ProducerIDExpirationMs = 8192, 256, 1<<60
				m := filled(t, dir, config, n)
				if stop == "flushed kill" {
					m.FlushAll()
				}
				if stop == "clean" {
					must(t, m.Close())
				} else {
					must(t, m.CloseNow())
				}
				c.damage(t, dir)
				for range 2 {
					m = open(t, dir, config)
					l := m.Get(topic0)
					wholeAndExact(t, l, n)
					must(t, m.Close())
				}
			})
		}
	}
}

func remove(t *testing.T, dir, pattern string) {
	t.Helper()
	for _, name := range files(t, dir, pattern) {
		must(t, os.Remove(name))
	}
}

func wholeAndExact(t *testing.T, l *storage.Log, n int) {
	t.Helper()
	if l.LogEndOffset() != int64(n) {
		t.Fatalf("log end %d, want %d", l.LogEndOffset(), n)
	}
	for i, v := range readAll(t, l, 0) {
		if v != fmt.Sprint(i) {
			t.Fatalf("offset %d holds %q", i, v)
		}
	}
	for i := range int64(n) { // exact, and between two records (C35)
		for _, ms := range []int64{2*i + 1, 2*i + 2} {
			o, ts, epoch, found, err := l.OffsetForTimestamp(ms, int64(n))
			if err != nil || !found || o != i || ts != 2*i+2 || epoch != 4 {
				t.Fatalf("time %d: offset %d, time %d, epoch %d, %v %v", ms, o, ts, epoch, found, err)
			}
		}
		r, err := l.Read(storage.ReadOptions{Offset: i, MaxBytes: 1, End: int64(n), MinOne: true})
		must(t, err)
		data := make([]byte, r.Len())
		_, err = r.ReadAt(data, 0)
		r.Release()
		must(t, err)
		if b, _, err := record.Next(data); err != nil || b.BaseOffset() != i {
			t.Fatalf("read at %d: %v", i, err)
		}
	}
	if o, ts, _, found, err := l.OffsetForMaxTimestamp(); err != nil || !found || o != int64(n-1) || ts != 2*int64(n) {
		t.Fatalf("max timestamp: offset %d, time %d, %v %v", o, ts, found, err)
	}
	if epoch, end := l.EndOffsetForEpoch(4); epoch != 4 || end != int64(n) {
		t.Fatalf("epoch 4 ends at %d (%d)", end, epoch)
	}
	for i := n - 5; i < n; i++ {
		b := record.NewBuilder(record.BuilderOptions{Producer: &record.Producer{ID: 9, BaseSequence: int32(i)}})
		b.Append(2*int64(i+1), nil, fmt.Append(nil, i))
		a, err := l.AppendLeader(b.Build(), 4)
		if err != nil || !a.Duplicate || a.BaseOffset != int64(i) {
			t.Fatalf("retry of %d: %+v %v", i, a, err)
		}
	}
}

// Times are found per record, in one batch and in many (C34, C36).
func TestTimesAreFoundPerRecord(t *testing.T) {
	t.Parallel()
	for _, perBatch := range []int{1, 7, 50} {
		t.Run(fmt.Sprint(perBatch, " a batch"), func(t *testing.T) {
			t.Parallel()
			m := open(t, t.TempDir(), storage.DefaultConfig())
			l, err := m.Create(topic0, [16]byte{1}, storage.DefaultConfig())
			must(t, err)
			if _, _, _, found, err := l.OffsetForTimestamp(1, 0); found || err != nil {
				t.Fatal(found, err)
			}
			b := record.NewBuilder(record.BuilderOptions{})
			for ts := int64(1); ts <= 50; ts++ {
				b.Append(ts, nil, nil)
				if b.Count() == perBatch || ts == 50 {
					_, err := l.AppendLeader(b.Build(), 0)
					must(t, err)
					b.Reset()
				}
			}
			for ts := int64(1); ts <= 51; ts++ {
				o, at, _, found, err := l.OffsetForTimestamp(ts, 50)
				if err != nil || found != (ts <= 50) || (found && (o != ts-1 || at != ts)) {
					t.Fatalf("time %d: offset %d, time %d, %v %v", ts, o, at, found, err)
				}
			}
			l.SetHighWatermark(50)
			must(t, l.IncrementLogStart(50))
			if _, _, _, found, err := l.OffsetForTimestamp(1, 50); found || err != nil {
				t.Fatal("found in an emptied log", found, err)
			}
			must(t, m.Close())
		})
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*storage.Config)
		start  int64 // delete records up to here first
		check  func(l *storage.Log) bool
	}{
		{
			"by time: all, the active segment too (C88)", func(c *storage.Config) { c.RetentionMs = 1000 }, 0,
			func(l *storage.Log) bool {
				return l.LogStartOffset() == 600 && l.LogEndOffset() == 600 && l.Size() == 0
			},
		},
		{
			"by size", func(c *storage.Config) { c.RetentionBytes = 20_000 }, 0,
			func(l *storage.Log) bool {
				return l.Size() >= 20_000 && l.Size() < 20_000+8192 && l.LogStartOffset() > 0
			},
		},
		{
			"by log start", func(*storage.Config) {}, 300,
			func(l *storage.Log) bool {
				return l.LogStartOffset() == 300 && l.FirstSegmentBase() > 100 && l.FirstSegmentBase() <= 300
			},
		},
		{
			"never without delete", func(c *storage.Config) { c.Delete, c.RetentionMs, c.RetentionBytes = false, 1, 1 }, 0,
			func(l *storage.Log) bool { return l.LogStartOffset() == 0 && l.FirstSegmentBase() == 0 },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, config := t.TempDir(), storage.DefaultConfig()
			config.SegmentBytes, config.RetentionMs, config.FileDeleteDelayMs = 8192, -1, 0
			m := filled(t, dir, config, 600)
			l := m.Get(topic0)
			c.change(&config)
			m.SetConfig("t", config)
			must(t, l.IncrementLogStart(c.start))
			held, err := l.Read(storage.ReadOptions{Offset: c.start, MaxBytes: 100, End: 600, MinOne: true})
			must(t, err)
			before := make([]byte, held.Len())
			_, err = held.ReadAt(before, 0)
			must(t, err)
			m.Retain()
			if !c.check(l) {
				t.Fatalf("start %d, end %d, first segment %d, %d bytes", l.LogStartOffset(), l.LogEndOffset(), l.FirstSegmentBase(), l.Size())
			}
			after := make([]byte, held.Len()) // the region outlives its segment
			if _, err := held.ReadAt(after, 0); err != nil || string(after) != string(before) {
				t.Fatal("a held region changed", err)
			}
			held.Release()
			for i, v := range readAll(t, l, l.LogStartOffset()) {
				if v != fmt.Sprint(int64(i)+l.LogStartOffset()) {
					t.Fatalf("offset %d holds %q", int64(i)+l.LogStartOffset(), v)
				}
			}
			if l.LogStartOffset() > 0 {
				if _, err := l.Read(storage.ReadOptions{Offset: l.LogStartOffset() - 1, End: 600}); !errors.Is(err, storage.ErrOffsetOutOfRange) {
					t.Fatal(err)
				}
			}
			must(t, m.Close())
			m = open(t, dir, config)
			if !c.check(m.Get(topic0)) {
				t.Fatal("after a restart:", m.Get(topic0).LogStartOffset())
			}
			must(t, m.Close())
		})
	}
}

// A producer whose records are all deleted goes on where it was (C23).
func TestAProducerOutlivesItsRecords(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		dir, c := t.TempDir(), storage.DefaultConfig()
		c.ProducerIDExpirationMs = 1 << 60
		m := filled(t, dir, c, 5)
		l := m.Get(topic0)
		must(t, l.IncrementLogStart(5))
		m.Retain()
		for i := 5; i < 7; i++ {
			a, err := l.AppendLeader(batch(t, record.Producer{ID: 9, BaseSequence: int32(i)}, "x"), 4)
			if err != nil || a.BaseOffset != int64(i) {
				t.Fatalf("sequence %d: %+v %v", i, a, err)
			}
			m.FlushAll()
			if kill {
				must(t, m.CloseNow())
			} else {
				must(t, m.Close())
			}
			m = open(t, dir, c)
			l = m.Get(topic0)
			if l.LogStartOffset() != 5 {
				t.Fatalf("log start %d", l.LogStartOffset())
			}
		}
		must(t, m.Close())
	}
}

// The window of five (C21).
func TestSequences(t *testing.T) {
	t.Parallel()
	m := filled(t, t.TempDir(), storage.DefaultConfig(), 6)
	l := m.Get(topic0)
	for _, c := range []struct {
		epoch    int16
		sequence int32
		want     error
		base     int64
	}{
		{0, 3, nil, 3},
		{0, 0, storage.ErrOutOfOrderSequence, 0},
		{0, 9, storage.ErrOutOfOrderSequence, 0},
		{1, 2, storage.ErrOutOfOrderSequence, 0},
		{1, 0, nil, 6},
		{0, 6, storage.ErrInvalidProducerEpoch, 0},
	} {
		a, err := l.AppendLeader(batch(t, record.Producer{ID: 9, Epoch: c.epoch, BaseSequence: c.sequence}, "x"), 4)
		if !errors.Is(err, c.want) || (err == nil && a.BaseOffset != c.base) {
			t.Errorf("epoch %d, sequence %d: %+v %v, want %v", c.epoch, c.sequence, a, err, c.want)
		}
	}
	if l.LogEndOffset() != 7 {
		t.Errorf("log end %d", l.LogEndOffset())
	}
	must(t, m.Close())
}

func TestADirectoryOfAnotherIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, meta, want string }{
		{"broker", "version=0\nbroker.id=2\n", "--override broker.id=2"},
		{"cluster", "#x\nversion=0\nbroker.id=1\ncluster.id=other\n", "cluster.id=other"},
		{"KRaft", "version=1\nnode.id=1\n", "log.dirs"},
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "meta.properties"), []byte(c.meta), 0o600))
		_, err := storage.Open(context.Background(), storage.Options{Dirs: []string{dir}, Clock: clock.System(), Logger: zap.NewNop(), BrokerID: 1, ClusterID: "c"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	dir := t.TempDir()
	m := open(t, dir, storage.DefaultConfig())
	_, err := storage.Open(context.Background(), storage.Options{Dirs: []string{dir}, Clock: clock.System(), Logger: zap.NewNop(), BrokerID: 1, ClusterID: "c"})
	if err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("lock: %v", err)
	}
	must(t, m.Close())
}

// A full disk refuses appends, keeps the log, and lets it go on when there is
// room.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for range 30 {
		w.must(w.append(), "append")
	}
	_, usable, err := w.mem.Usage(memDir)
	must(t, err)
	w.mem.SetLimit(1<<40 - usable + 300)
	for err = nil; err == nil; {
		err = w.append()
	}
	if !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("append: %v", err)
	}
	w.m.FlushAll()
	if !w.m.Online() {
		t.Fatal("a full disk took the directory offline")
	}
	w.check()
	w.mem.SetLimit(0)
	for range 30 {
		w.must(w.append(), "append with room")
	}
	w.must(w.m.Close(), "close")
	w.open(w.mem)
	w.check()
}
