package timer_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/clock"
	"barnabas/internal/timer"
)

// waiter notes when its deadline came.
type waiter struct {
	timer.Entry
	at    time.Time
	fired atomic.Int32
	then  func()
}

func (w *waiter) Expire() {
	w.at = time.Now()
	w.fired.Add(1)
	if w.then != nil {
		w.then()
	}
}

const tick = 10 * time.Millisecond

// start runs a wheel for the rest of the test's bubble.
func start(t *testing.T) *timer.Wheel {
	t.Helper()
	w := timer.New(clock.System(), tick)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return w
}

func TestExpiresNeitherEarlyNorMuchLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		begin := time.Now()
		delays := []time.Duration{
			0, -time.Second, 1, time.Millisecond, 10 * time.Millisecond, 11 * time.Millisecond, 499 * time.Millisecond,
			5119 * time.Millisecond, 5120 * time.Millisecond, 5121 * time.Millisecond, 7 * time.Second, time.Minute,
		}
		ws := make([]waiter, len(delays))
		for i, d := range delays {
			w.Add(&ws[i].Entry, d, &ws[i])
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for i, d := range delays {
			if n := ws[i].fired.Load(); n != 1 {
				t.Errorf("deadline in %v fired %d times, want once", d, n)
				continue
			}
			took := ws[i].at.Sub(begin)
			if took < d || took > max(d, 0)+2*tick {
				t.Errorf("deadline in %v fired after %v", d, took)
			}
		}
		if n := w.Len(); n != 0 {
			t.Errorf("%d entries left, want none", n)
		}
	})
}

func TestShorterDeadlineWakesASleepingWheel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		var long, short waiter
		w.Add(&long.Entry, time.Hour, &long)
		synctest.Wait()
		begin := time.Now()
		w.Add(&short.Entry, 30*time.Millisecond, &short)
		time.Sleep(time.Second)
		synctest.Wait()
		if short.fired.Load() != 1 || short.at.Sub(begin) > 50*time.Millisecond {
			t.Errorf("fired %d times, last after %v; want once within 50ms", short.fired.Load(), short.at.Sub(begin))
		}
		if long.fired.Load() != 0 {
			t.Error("the entry due in an hour fired")
		}
		if !w.Cancel(&long.Entry) {
			t.Error("Cancel of a waiting entry said false")
		}
	})
}

func TestCancelledEntryNeverFires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		var a waiter
		if w.Cancel(&a.Entry) {
			t.Error("Cancel of an entry never added said true")
		}
		w.Add(&a.Entry, time.Second, &a)
		if !w.Cancel(&a.Entry) || w.Cancel(&a.Entry) {
			t.Error("want true from the first Cancel and false from the second")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if a.fired.Load() != 0 {
			t.Error("a cancelled entry fired")
		}
		w.Add(&a.Entry, time.Second, &a)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if a.fired.Load() != 1 || w.Cancel(&a.Entry) {
			t.Error("an entry added again should fire once, and then not be cancellable")
		}
	})
}

func TestAddingAgainMovesTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		var a waiter
		begin := time.Now()
		w.Add(&a.Entry, time.Second, &a)
		w.Add(&a.Entry, 3*time.Second, &a)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := a.at.Sub(begin); a.fired.Load() != 1 || got < 3*time.Second {
			t.Errorf("fired %d times, last after %v; want once after 3s", a.fired.Load(), got)
		}
	})
}

func TestEntryMayAddItselfAndCancelOthersWhileExpiring(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		var first, second waiter
		first.then = func() {
			w.Cancel(&second.Entry)
			if first.fired.Load() < 3 {
				w.Add(&first.Entry, time.Second, &first)
			}
		}
		w.Add(&first.Entry, time.Second, &first)
		w.Add(&second.Entry, time.Second, &second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if first.fired.Load() != 3 || second.fired.Load() != 0 {
			t.Errorf("fired %d and %d times, want 3 and 0", first.fired.Load(), second.fired.Load())
		}
	})
}

// countingClock counts the timers that are started.
type countingClock struct {
	clock.Clock
	timers atomic.Int32
}

func (c *countingClock) NewTimer(d time.Duration) *time.Timer {
	c.timers.Add(1)
	return c.Clock.NewTimer(d)
}

func TestEmptyWheelStartsNoTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &countingClock{Clock: clock.System()}
		w := timer.New(c, tick)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := c.timers.Load(); n != 0 {
			t.Errorf("%d timers started by an empty wheel, want none", n)
		}
		cancel()
		<-done
	})
}

func TestAddAndCancelFromManyGoroutines(t *testing.T) {
	t.Parallel()
	w := timer.New(clock.System(), time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var run, wg sync.WaitGroup
	run.Go(func() { _ = w.Run(ctx) })
	var fired, cancelled atomic.Int64
	const goroutines, rounds = 8, 500
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				e := &waiter{then: func() { fired.Add(1) }}
				w.Add(&e.Entry, time.Duration(i%7)*time.Millisecond, e)
				if (i+g)%3 == 0 && w.Cancel(&e.Entry) {
					cancelled.Add(1)
				}
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for w.Len() > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	cancel()
	run.Wait()
	if got := fired.Load() + cancelled.Load(); got != goroutines*rounds {
		t.Errorf("%d fired and %d cancelled of %d", fired.Load(), cancelled.Load(), goroutines*rounds)
	}
}

func BenchmarkAddCancel(b *testing.B) {
	w := timer.New(clock.System(), tick)
	ctx, cancel := context.WithCancel(b.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = w.Run(ctx) })
	var e waiter
	b.ReportAllocs()
	for b.Loop() {
		w.Add(&e.Entry, 500*time.Millisecond, &e)
		w.Cancel(&e.Entry)
	}
	cancel()
	run.Wait()
}
