package storage_test

import (
	"errors"
	"sync"
	"testing"

	"barnabas/protocol/record"
	"barnabas/storage"
	"barnabas/storage/vfs"
)

// Readers beside appends, rolls, retention, truncations and flushes see whole
// batches in order or a clear answer, never damage and never a failed disk.
func TestReadersBesideEverything(t *testing.T) {
	t.Parallel()
	c := storage.DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes, c.RetentionBytes, c.FileDeleteDelayMs = 1024, 100, 8192, 0
	m, err := openOn(vfs.NewMem(), c)
	must(t, err)
	l, err := m.Create(topic0, [16]byte{1}, c)
	must(t, err)
	var writer, readers sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for i := range 3000 {
			if _, err := l.AppendLeader(batch(t, record.Producer{ID: -1, Epoch: -1, BaseSequence: -1}, "x", "y"), 1); err != nil {
				t.Error(err)
			}
			if i%100 == 50 {
				must(t, l.TruncateTo(l.LogEndOffset()-30))
			}
			if i%20 == 0 {
				l.SetHighWatermark(l.LogEndOffset() - 40)
				m.Retain()
				must(t, l.Flush())
			}
		}
	})
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				from := (l.LogStartOffset() + l.LogEndOffset()) / 2
				r, err := l.Read(storage.ReadOptions{Offset: from, MaxBytes: 500, End: l.LogEndOffset(), MinOne: true})
				if err != nil && !errors.Is(err, storage.ErrOffsetOutOfRange) {
					t.Error(err)
				}
				if r != nil {
					data := make([]byte, 61)
					if _, err := r.ReadAt(data, 0); err == nil {
						if b := record.Batch(data); b.LastOffset() < from || b.BaseOffset() > from {
							t.Errorf("read at %d gave %d to %d", from, b.BaseOffset(), b.LastOffset())
						}
					}
					r.Release()
				}
				if _, _, _, _, err := l.OffsetForTimestamp(1000, l.LogEndOffset()); err != nil {
					t.Error(err)
				}
				if _, _, _, _, err := l.OffsetForMaxTimestamp(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writer.Wait()
	close(stop)
	readers.Wait()
	if !m.Online() {
		t.Fatal("the directory went offline")
	}
	must(t, m.Close())
}

// A topic that is deleted and made again at once inherits nothing, whatever was
// being done to it.
func TestDeleteAndCreateAgain(t *testing.T) {
	t.Parallel()
	mem, c := vfs.NewMem(), storage.DefaultConfig()
	c.SegmentBytes, c.FileDeleteDelayMs = 2048, 0
	m, err := openOn(mem, c)
	must(t, err)
	for round := range 30 {
		l, err := m.Create(topic0, [16]byte{byte(round)}, c)
		must(t, err)
		if l.LogEndOffset() != 0 || l.LogStartOffset() != 0 {
			t.Fatalf("round %d: log is %d to %d", round, l.LogStartOffset(), l.LogEndOffset())
		}
		var g sync.WaitGroup
		for _, f := range []func() error{
			func() error {
				_, err := l.AppendLeader(batch(t, record.Producer{ID: -1, Epoch: -1, BaseSequence: -1}, "x"), 1)
				return err
			},
			l.Flush,
			func() error {
				r, err := l.Read(storage.ReadOptions{MaxBytes: 100, End: 1 << 40})
				if r != nil {
					r.Release()
				}
				return err
			},
			func() error { m.Retain(); return nil },
		} {
			g.Go(func() {
				for range 50 {
					if err := f(); err != nil && !errors.Is(err, storage.ErrOffline) {
						t.Error(err)
					}
				}
			})
		}
		l.SetHighWatermark(l.LogEndOffset())
		m.FlushAll()
		must(t, m.Delete(topic0))
		if _, err = m.Create(topic0, [16]byte{99}, c); err != nil {
			t.Fatal(err)
		}
		g.Wait()
		if !m.Online() {
			t.Fatal("the directory went offline")
		}
		mem.Crash()
		if m, err = openOn(mem, c); err != nil {
			t.Fatal(err)
		}
		if l = m.Get(topic0); l != nil && l.TopicID() == [16]byte{99} && l.LogEndOffset() != 0 {
			t.Fatalf("round %d: the new log holds %d records", round, l.LogEndOffset())
		}
		must(t, m.Delete(topic0))
	}
}
