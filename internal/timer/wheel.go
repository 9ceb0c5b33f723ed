package timer

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"barnabas/internal/clock"
)

const (
	// slots is the size of the wheel, a power of two. Deadlines further away
	// than slots ticks go round more than once.
	slots = 512
	words = slots / 64
)

// Expirer is what an entry's deadline calls. Expire must not block.
type Expirer interface{ Expire() }

// Entry is one deadline, embedded in what waits for it. The zero value is
// ready. It must not be copied while it is in a wheel.
type Entry struct {
	next, prev *Entry // ring of its slot; nil when in no slot
	tick       int64  // due at this tick
	target     Expirer
}

// Wheel holds entries until their deadline. Create it with [New].
type Wheel struct {
	clock clock.Clock
	tick  time.Duration
	start time.Time
	wake  chan struct{} // a shorter deadline than the one Run sleeps for

	// mu guards what follows and the links of every entry in the wheel.
	mu     sync.Mutex
	ring   [slots]Entry  // list heads
	filled [words]uint64 // one bit a slot that holds entries
	len    int
	done   int64 // all ticks up to here are served
	sleeps int64 // tick for which Run sleeps; maxTick when it sleeps for good
}

const maxTick = int64(1) << 62

// New makes a wheel whose deadlines are exact to one tick, counted from now.
func New(c clock.Clock, tick time.Duration) *Wheel {
	w := &Wheel{clock: c, tick: tick, start: c.Now(), wake: make(chan struct{}, 1), sleeps: maxTick}
	for i := range w.ring {
		h := &w.ring[i]
		h.next, h.prev = h, h
	}
	return w
}

// Add calls x.Expire after at least d, unless e is cancelled first. An entry
// that is in the wheel already is moved.
func (w *Wheel) Add(e *Entry, d time.Duration, x Expirer) {
	due := w.ceil(w.clock.Now().Sub(w.start) + d)
	w.mu.Lock()
	if e.next != nil {
		w.unlinkLocked(e)
	}
	due = max(due, w.done+1)
	e.tick, e.target = due, x
	i := due & (slots - 1)
	h := &w.ring[i]
	e.prev, e.next = h.prev, h
	h.prev.next, h.prev = e, e
	w.filled[i>>6] |= 1 << (i & 63)
	w.len++
	early := due < w.sleeps
	if early {
		w.sleeps = due // only the first of several early ones has to wake Run
	}
	w.mu.Unlock()
	if early {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// Cancel takes e out. It reports false when e is not in the wheel: never added,
// expired, about to expire, or cancelled before.
func (w *Wheel) Cancel(e *Entry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.next == nil {
		return false
	}
	w.unlinkLocked(e)
	return true
}

// Len is the number of entries in the wheel.
func (w *Wheel) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.len
}

func (w *Wheel) unlinkLocked(e *Entry) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.next, e.prev = nil, nil
	w.len--
	i := e.tick & (slots - 1)
	if h := &w.ring[i]; h.next == h {
		w.filled[i>>6] &^= 1 << (i & 63)
	}
}

// ceil is the first tick at or after d.
func (w *Wheel) ceil(d time.Duration) int64 {
	return int64((d + w.tick - 1) / w.tick)
}

// Run serves deadlines until ctx ends. What is still in the wheel then stays
// there, unserved.
func (w *Wheel) Run(ctx context.Context) error {
	var timer *time.Timer
	var due <-chan time.Time
	for {
		var after time.Duration
		pending := w.serve()
		w.mu.Lock()
		if pending {
			w.sleeps = w.nextLocked()
			after = time.Duration(w.sleeps)*w.tick - w.clock.Now().Sub(w.start)
		} else if w.sleeps = maxTick; w.len > 0 { // added since serve looked
			w.mu.Unlock()
			continue
		}
		w.mu.Unlock()
		switch {
		case !pending:
			due = nil
		case timer == nil:
			timer = w.clock.NewTimer(after)
			defer timer.Stop()
			due = timer.C
		default:
			timer.Reset(after)
			due = timer.C
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		case <-due:
		}
	}
}

// serve expires what is due and reports whether anything is left.
func (w *Wheel) serve() bool {
	now := int64(w.clock.Now().Sub(w.start) / w.tick)
	w.mu.Lock()
	if now > w.done+slots {
		w.done = now - slots // one round looks at every slot
	}
	for w.len > 0 && w.done < now {
		w.done++
		w.expireSlotLocked(w.done&(slots-1), now)
	}
	w.done = max(w.done, now)
	left := w.len > 0
	w.mu.Unlock()
	return left
}

// expireSlotLocked calls Expire of the slot's entries that are due. It gives
// the lock up around each call, so the list is read anew from its head.
func (w *Wheel) expireSlotLocked(slot, now int64) {
	h := &w.ring[slot]
	for e := h.next; e != h; {
		if e.tick > now {
			e = e.next
			continue
		}
		target := e.target
		e.target = nil
		w.unlinkLocked(e)
		w.mu.Unlock()
		target.Expire()
		w.mu.Lock()
		e = h.next
	}
}

// nextLocked is the tick at which the first filled slot comes round. Entries
// of a later round wake Run in vain once a round, which costs less than a sort.
func (w *Wheel) nextLocked() int64 {
	from := w.done + 1
	at := int(from & (slots - 1))
	for n := 0; n <= words; n++ {
		i := (at>>6 + n) % words
		set := w.filled[i]
		switch n {
		case 0:
			set &= ^uint64(0) << (at & 63)
		case words:
			set &= 1<<(at&63) - 1
		}
		if set != 0 {
			slot := i<<6 + bits.TrailingZeros64(set)
			return from + int64((slot-at)&(slots-1))
		}
	}
	return maxTick
}
