package storage_test

import (
	"errors"
	"fmt"
	"testing"

	"barnabas/storage"
	"barnabas/storage/vfs"
)

// step does one random thing to the log and its model.
func (w *world) step() {
	w.t.Helper()
	switch k := w.rand.IntN(40); {
	case k < 26:
		w.must(w.append(), "append")
	case k < 28:
		w.must(w.l.Roll(), "roll")
	case k < 30:
		w.must(w.flush(), "flush")
	case k < 31:
		w.checkpoints()
	case k < 32:
		w.must(w.truncate(), "truncate")
	case k < 33:
		w.raiseHW()
	case k < 34:
		w.must(w.deleteRecords(), "delete records")
	case k < 35:
		w.m.Retain()
	case k < 36:
		w.retries()
	case k < 37:
		w.must(w.m.Close(), "close")
		w.open(w.mem)
		w.durable, w.startDur = w.end, w.start
		w.check()
		w.retries()
	case k < 38:
		w.mem.Crash()
		w.afterCrash()
		w.retries()
	case k < 39:
		w.mem.CrashKeeping(w.rand)
		w.afterCrash()
		w.retries()
	default:
		w.check()
	}
}

// The log against a slow model: whatever is done to it and wherever it crashes,
// everything flushed is there, nothing is invented, times are found, and the
// last five batches of a producer are recognised.
func TestLogBehavesAsItsModel(t *testing.T) {
	t.Parallel()
	runs := 400
	if testing.Short() {
		runs = 60
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uint64(seed))
			for range 150 {
				w.step()
			}
			w.check()
		})
	}
}

// script is a run of all operations that write files, in a fixed order. It stops
// at the first failure, as replication does.
func (w *world) script() error {
	steps := []func() error{}
	add := func(n int, f func() error) {
		for range n {
			steps = append(steps, f)
		}
	}
	check := func() error { w.checkpoints(); return nil }
	add(25, w.append)
	add(1, w.flush)
	add(12, w.append)
	add(1, check)
	add(8, w.append)
	add(1, w.truncate)
	add(20, w.append)
	add(1, func() error { w.raiseHW(); return w.deleteRecords() })
	add(1, func() error { w.m.Retain(); return nil })
	add(1, check)
	add(10, w.append)
	add(1, w.l.Roll)
	add(3, w.append)
	add(1, w.flush)
	add(2, w.truncate)
	add(4, w.append)
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// A crash before every single file operation of append, roll, flush, checkpoint,
// truncate, delete and close, with three ideas of what the disk kept.
func TestACrashAtEveryOperationLosesNothingFlushed(t *testing.T) {
	t.Parallel()
	for kept := range 3 {
		for n, done := int64(1), false; !done; n++ {
			w := newWorld(t, 42)
			w.must(w.m.Close(), "close")
			fsys := vfs.Faulty(w.mem, vfs.CrashAt(n))
			m, err := openOn(fsys, w.c)
			if err == nil {
				w.m, w.l = m, m.Get(topic0)
				// What was being done when the machine stopped may be half there: the
				// model knows what the last finished step left.
				err = w.scriptUnsure()
			}
			if err == nil {
				before := w.end
				if err = w.m.Close(); err == nil {
					done = true
					w.durable = before
				}
			}
			if err != nil && !errors.Is(err, vfs.ErrCrashed) && !errors.Is(err, storage.ErrOffline) {
				t.Fatalf("operation %d: %v", n, err)
			}
			if kept == 0 {
				w.mem.Crash()
			} else {
				w.mem.CrashKeeping(w.rand)
			}
			w.afterCrash()
			w.retries()
			w.must(w.append(), "append after the crash")
			w.must(w.m.Close(), "close")
			w.open(w.mem)
			w.check()
			if n > 2000 {
				t.Fatal("the script never ends")
			}
		}
	}
}

// scriptUnsure runs the script. A truncation that was under way when it stopped
// may have lowered what is durable: the model takes the lower end.
func (w *world) scriptUnsure() error {
	err := w.script()
	if err != nil && w.cutting >= 0 {
		w.durable = min(w.durable, w.cutting)
	}
	if w.starting > w.start {
		w.start = w.starting
	}
	return err
}

// One failed operation, wherever it is, takes the directory offline or is told
// to the caller; it never loses what was flushed before.
func TestOneFailedOperationLosesNothingFlushed(t *testing.T) {
	t.Parallel()
	for n := int64(1); n < 250; n++ {
		w := newWorld(t, 7)
		w.must(w.m.Close(), "close")
		m, err := openOn(vfs.Faulty(w.mem, vfs.FailAt(n, errAny)), w.c)
		if err != nil {
			if !errors.Is(err, errAny) {
				t.Fatalf("operation %d: %v", n, err)
			}
			continue
		}
		w.m, w.l = m, m.Get(topic0)
		if err := w.scriptUnsure(); err != nil {
			if !errors.Is(err, storage.ErrOffline) {
				t.Fatalf("operation %d: %v, want the directory offline", n, err)
			}
			if _, err := w.l.Read(storage.ReadOptions{Offset: w.start, MaxBytes: 100, End: w.end}); !errors.Is(err, storage.ErrOffline) {
				t.Fatalf("operation %d: read after the failure: %v", n, err)
			}
		}
		w.mem.CrashKeeping(w.rand)
		w.afterCrash()
	}
}
