package server

import (
	"container/list"
	"context"
	"sync"
)

// budget bounds the bytes that requests in flight may take. Who asks for more
// than there is waits in turn; a connection that waits is not read, so its client
// feels it.
//
// There are two: one for frames and one for what decoding takes. Whoever holds
// from the second never waits for the first, so they cannot block each other.
type budget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waiting list.List // of *ticket
}

type ticket struct {
	n     int64
	ready chan struct{}
}

func newBudget(limit int64) *budget { return &budget{limit: limit} }

// acquire takes n bytes, waiting for them; a charge above the limit is the whole
// limit. It answers what was taken.
func (b *budget) acquire(ctx context.Context, n int64) (int64, error) {
	n = min(n, b.limit)
	b.mu.Lock()
	if b.waiting.Len() == 0 && b.used+n <= b.limit {
		b.used += n
		b.mu.Unlock()
		return n, nil
	}
	t := &ticket{n: n, ready: make(chan struct{})}
	place := b.waiting.PushBack(t)
	b.mu.Unlock()
	select {
	case <-t.ready:
		return n, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-t.ready: // granted meanwhile
		b.used -= n
	default:
		b.waiting.Remove(place)
	}
	b.grantLocked()
	return 0, ctx.Err()
}

func (b *budget) release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.grantLocked()
}

func (b *budget) grantLocked() {
	for e := b.waiting.Front(); e != nil; e = b.waiting.Front() {
		t := e.Value.(*ticket)
		if b.used+t.n > b.limit {
			return
		}
		b.used += t.n
		b.waiting.Remove(e)
		close(t.ready)
	}
}

// contended tells whether somebody waits.
func (b *budget) contended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len() > 0
}

// inUse is how many bytes are taken.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
