package replication

import (
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/timer"
)

// purpose is what a waiter waits for.
type purpose int8

const (
	delayedProduce purpose = iota
	delayedFetch
	delayedDelete
	purposes
)

// waiter is a request in the purgatory. It is embedded in the delayed produce,
// fetch and delete, which are what the server sees as a server.Wait.
//
//	pending --complete, deadline, Cancel--> done
//
// Whoever makes it done calls wake; nothing else happens there. The lists are
// left by the waiter's own goroutine, in Reply or Cancel.
type waiter struct {
	entry timer.Entry
	m     *Manager
	wake  func()
	left  time.Duration // until the deadline, from Start
	done  atomic.Bool
	late  atomic.Bool // the deadline came first
	kind  purpose

	minBytes int          // delayed fetch: answer from here on
	bytes    atomic.Int64 // delayed fetch: readable so far
	unmet    atomic.Int32 // others: watches that still wait

	// lists guards listed: Start enters the lists while a wake may already
	// make another goroutine leave them.
	lists   sync.Mutex
	listed  bool
	watches []watch
	ready   *waiter // chain of waiters to wake, see wakes
}

// watch is a waiter's place on one partition's list. The partition's lock
// guards everything but p and w.
type watch struct {
	next, prev *watch
	p          *Partition
	w          *waiter
	end        visibility
	offset     int64 // what has to be reached (produce, delete) or passed (fetch)
	limit      int   // fetch: bytes of this partition that count
	met        bool
}

// visibility says up to where a reader may see.
type visibility int8

const (
	toHighWatermark visibility = iota
	toStableOffset
	toLogEnd
)

// watchList is a ring of watches.
type watchList struct{ head watch }

func (l *watchList) init() { l.head.next, l.head.prev = &l.head, &l.head }

func (l *watchList) add(e *watch) {
	e.prev, e.next = l.head.prev, &l.head
	l.head.prev.next, l.head.prev = e, e
}

func (e *watch) unlink() {
	if e.next != nil {
		e.prev.next, e.next.prev = e.next, e.prev
		e.next, e.prev = nil, nil
	}
}

// wakes collects waiters under a partition's lock, to be woken outside of it.
type wakes struct{ first *waiter }

// add makes w done, unless somebody was faster.
func (k *wakes) add(w *waiter) {
	if w.done.CompareAndSwap(false, true) {
		w.ready, k.first = k.first, w
	}
}

// run wakes what was collected. The caller holds no lock.
func (k *wakes) run() {
	for w := k.first; w != nil; {
		next := w.ready
		w.ready = nil
		w.wake()
		w = next
	}
}

// complete makes w done and wakes it, unless that happened before.
func (w *waiter) complete() {
	if w.done.CompareAndSwap(false, true) {
		w.wake()
	}
}

// Expire is the deadline.
func (w *waiter) Expire() {
	w.late.Store(true)
	w.m.figures.expired[w.kind].Inc()
	w.complete()
}

// start puts w on its partitions' lists and on the wheel. The caller checks
// the condition again afterwards.
func (w *waiter) start(wake func()) {
	w.wake = wake
	w.lists.Lock()
	defer w.lists.Unlock()
	w.listed = true
	w.m.waiting[w.kind].Add(1)
	for i := range w.watches {
		e := &w.watches[i]
		e.w = w
		e.p.mu.Lock()
		e.p.waiting[w.kind].add(e)
		e.p.mu.Unlock()
	}
	w.m.wheel.Add(&w.entry, w.left, w)
}

// leave takes w off every list. The second time it does nothing.
func (w *waiter) leave() {
	w.lists.Lock()
	defer w.lists.Unlock()
	if !w.listed {
		return
	}
	w.listed = false
	w.m.wheel.Cancel(&w.entry)
	for i := range w.watches {
		e := &w.watches[i]
		e.p.mu.Lock()
		e.unlink()
		e.p.mu.Unlock()
	}
	w.m.waiting[w.kind].Add(-1)
}

// Cancel gives the wait up: the connection is gone or the server stops. wake is
// not called any more, unless it is being called already.
func (w *waiter) Cancel() {
	w.done.Store(true)
	w.leave()
}
