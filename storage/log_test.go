package storage_test

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/zap/zaptest"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/storage"
)

var topic0 = storage.TopicPartition{Topic: "t", Partition: 0}

func open(t *testing.T, dir string, c storage.Config) *storage.Manager {
	t.Helper()
	m, err := storage.Open(context.Background(), storage.Options{
		Dirs: []string{dir}, Clock: clock.System(), Logger: zaptest.NewLogger(t), BrokerID: 1, ClusterID: "c",
		LogConfig: func(string) storage.Config { return c },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func batch(t *testing.T, producer record.Producer, values ...string) record.Batch {
	t.Helper()
	b := record.NewBuilder(record.BuilderOptions{Producer: &producer})
	for i, v := range values {
		b.Append(1000+int64(i), nil, []byte(v))
	}
	return b.Build()
}

func read(t *testing.T, l *storage.Log, from int64) (values []string) {
	t.Helper()
	for from < l.LogEndOffset() {
		r, err := l.Read(storage.ReadOptions{Offset: from, MaxBytes: 1 << 20, End: l.LogEndOffset(), MinOne: true})
		if err != nil || r == nil {
			t.Fatalf("read at %d: %v %v", from, r, err)
		}
		data := make([]byte, r.Len())
		if _, err := r.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		r.Release()
		for len(data) > 0 {
			b, rest, err := record.Next(data)
			if err != nil {
				break
			}
			for rec, err := range b.Records() {
				if err != nil {
					t.Fatal(err)
				}
				if b.OffsetOf(&rec) >= from {
					values = append(values, string(rec.Value))
				}
			}
			from, data = b.LastOffset()+1, rest
		}
	}
	return values
}

func TestWhatWasAppendedIsReadAfterStopAndCrash(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprint("crash=", crash), func(t *testing.T) {
			t.Parallel()
			dir, c := t.TempDir(), storage.DefaultConfig()
			c.SegmentBytes = 4096
			m := open(t, dir, c)
			l, err := m.Create(topic0, [16]byte{1}, c)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range 500 {
				v := fmt.Sprint("value-", i)
				want = append(want, v)
				a, err := l.AppendLeader(batch(t, record.Producer{ID: 7, BaseSequence: int32(i)}, v), 3)
				if err != nil || a.BaseOffset != int64(i) {
					t.Fatalf("append %d: %+v %v", i, a, err)
				}
			}
			if l.Segments() < 3 {
				t.Fatalf("%d segments", l.Segments())
			}
			if crash {
				err = m.CloseNow()
			} else {
				err = m.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			m = open(t, dir, c)
			l = m.Get(topic0)
			if got := read(t, l, 0); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("read %d values, want %d", len(got), len(want))
			}
			for i := 495; i < 500; i++ {
				a, err := l.AppendLeader(batch(t, record.Producer{ID: 7, BaseSequence: int32(i)}, want[i]), 3)
				if err != nil || !a.Duplicate || a.BaseOffset != int64(i) {
					t.Fatalf("retry of %d: %+v %v", i, a, err)
				}
			}
			if err := l.TruncateTo(123); err != nil {
				t.Fatal(err)
			}
			if got := read(t, l, 0); len(got) != 123 || l.LogEndOffset() != 123 {
				t.Fatalf("after truncation: %d values, end %d", len(got), l.LogEndOffset())
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
