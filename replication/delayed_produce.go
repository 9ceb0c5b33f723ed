package replication

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// DelayedProduce is an acks=all produce whose records are appended but not yet
// on every in-sync replica.
type DelayedProduce struct {
	waiter
	parts []ProducePart
}

func newDelayedProduce(m *Manager, parts []ProducePart, waits int, timeout time.Duration) *DelayedProduce {
	d := &DelayedProduce{waiter: waiter{m: m, kind: delayedProduce, left: max(timeout, 0)}, parts: parts}
	d.watches = make([]watch, 0, waits)
	for i := range parts {
		part := &parts[i]
		part.Records = nil // the frame they are in goes back to its pool now
		if part.Err == nil && part.required > 0 {
			d.watches = append(d.watches, watch{p: part.Partition, offset: part.required})
		}
	}
	d.unmet.Store(int32(len(d.watches)))
	return d
}

// Start begins the wait. wake is called once, possibly before Start returns.
func (d *DelayedProduce) Start(wake func()) {
	d.start(wake)
	// What was reached before the watch was on the list woke nobody.
	var k wakes
	for i := range d.watches {
		p := d.watches[i].p
		p.role.RLock()
		if p.leadsLocked() != nil {
			k.add(&d.waiter)
		} else {
			p.mu.Lock()
			p.reachedLocked(delayedProduce, p.log.HighWatermark(), &k)
			p.mu.Unlock()
		}
		p.role.RUnlock()
	}
	k.run()
}

// Settle fills in what became of the parts that waited. It is called once, after
// wake.
func (d *DelayedProduce) Settle() {
	d.leave()
	for i := range d.parts {
		part := &d.parts[i]
		if part.Err == nil && part.required > 0 {
			part.settle()
		}
	}
}

func (part *ProducePart) settle() {
	p := part.Partition
	p.role.RLock()
	defer p.role.RUnlock()
	var err *kerr.Error
	switch gone := p.leadsLocked(); {
	case gone != nil:
		err = gone
	case p.log.HighWatermark() < part.required:
		err = kerr.RequestTimedOut
	case p.state.UnderMinISR():
		err = kerr.NotEnoughReplicasAfterAppend
	default:
		part.required = 0
		return
	}
	start := part.LogStart
	part.Fail(err)
	part.LogStart = start
}
