package metadata

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// producerBlock is how many producer ids are claimed at once.
const producerBlock = 1000

// producerIDs is the block of producer ids that this broker gives out. What is
// left of it when the broker stops is lost: an id is never given out twice.
type producerIDs struct {
	mu       sync.Mutex
	claiming chan struct{} // closed when the claim in flight is done; nil: none
	next     int64         // of the block
	end      int64         // behind the block
}

// NextProducerID gives a producer id that nobody had before.
func (m *Metadata) NextProducerID(ctx context.Context) (int64, error) {
	p := &m.producers
	for {
		p.mu.Lock()
		if p.next < p.end {
			id := p.next
			p.next++
			p.mu.Unlock()
			return id, nil
		}
		claiming, mine := p.claiming, false
		if claiming == nil {
			claiming, mine = make(chan struct{}), true
			p.claiming = claiming
		}
		p.mu.Unlock()
		if !mine {
			if err := m.wait(ctx, claiming); err != nil {
				return 0, err
			}
			continue
		}
		// For others too, so it goes on if this caller gives up.
		block, err := m.claimProducerIDs(context.WithoutCancel(ctx))
		p.mu.Lock()
		if err == nil {
			p.next, p.end = block.First, block.Last+1
		}
		p.claiming = nil
		p.mu.Unlock()
		close(claiming)
		if err != nil {
			return 0, err
		}
	}
}

// claimProducerIDs claims the next block, by compare and set.
func (m *Metadata) claimProducerIDs(ctx context.Context) (*znode.ProducerIDBlock, error) {
	for {
		n, err := m.o.Store.Get(ctx, znode.ProducerIDBlockPath, nil)
		if err != nil {
			return nil, fmt.Errorf("claim producer ids: %w", err)
		}
		last, err := znode.DecodeProducerIDBlock(n.Data)
		if err != nil {
			return nil, fmt.Errorf("claim producer ids: %w", err)
		}
		next := znode.ProducerIDBlock{BrokerID: m.o.BrokerID}
		if last != nil {
			if last.Last > math.MaxInt64-producerBlock {
				return nil, errors.New("claim producer ids: there are none left")
			}
			next.First = last.Last + 1
		}
		next.Last = next.First + producerBlock - 1
		_, err = store.Do(ctx, m.o.Store, store.Set(znode.ProducerIDBlockPath, next.Encode(), n.Stat.Version))
		if err == nil {
			return &next, nil
		}
		if !errors.Is(err, store.ErrBadVersion) {
			return nil, fmt.Errorf("claim producer ids: %w", err)
		}
	}
}
