package replication

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// DeletePart is one partition of a DeleteRecords request.
type DeletePart struct {
	// Partition is where to delete; nil is left alone, and the results with it.
	Partition *Partition
	// Offset is the first one to keep; -1 means the high watermark.
	Offset int64

	// LowWatermark is the lowest log start of all live replicas, -1 after an
	// error.
	LowWatermark int64
	Err          error

	wanted int64
}

// Fail sets the results to an error.
func (d *DeletePart) Fail(err error) { d.Err, d.LowWatermark = err, -1 }

// DeleteRecords moves log starts. If followers have still to do so it returns
// the delayed delete, which settles the parts; else nil.
func (m *Manager) DeleteRecords(parts []DeletePart, timeout time.Duration) *DelayedDelete {
	waits := 0
	for i := range parts {
		if part := &parts[i]; part.Partition != nil {
			part.Partition.deleteRecords(part)
			if part.Err == nil && part.LowWatermark < part.wanted {
				waits++
			}
		}
	}
	if waits == 0 {
		return nil
	}
	d := &DelayedDelete{waiter: waiter{m: m, kind: delayedDelete, left: max(timeout, 0)}, parts: parts}
	for i := range parts {
		if part := &parts[i]; part.Partition != nil && part.Err == nil && part.LowWatermark < part.wanted {
			d.watches = append(d.watches, watch{p: part.Partition, offset: part.wanted})
		}
	}
	d.unmet.Store(int32(len(d.watches)))
	return d
}

func (p *Partition) deleteRecords(part *DeletePart) {
	p.role.RLock()
	defer p.role.RUnlock()
	if err := p.leadsLocked(); err != nil {
		part.Fail(err)
		return
	}
	if s := p.topic.settings.Load(); !s.Delete {
		part.Fail(kerr.PolicyViolation)
		return
	}
	hw := p.log.HighWatermark()
	offset := part.Offset
	if offset == -1 {
		offset = hw
	}
	if offset < 0 || offset > hw {
		part.Fail(kerr.OffsetOutOfRange)
		return
	}
	if err := p.log.IncrementLogStart(offset); err != nil {
		part.Fail(err)
		return
	}
	p.mu.Lock()
	part.Err, part.wanted, part.LowWatermark = nil, offset, p.lowWatermarkLocked()
	p.mu.Unlock()
}

// lowWatermarkLocked is what is gone from every replica. The caller holds role
// and mu.
func (p *Partition) lowWatermarkLocked() int64 {
	return p.state.LowWatermark(p.log.LogStartOffset(), func(int32) bool { return true })
}

// DelayedDelete is a DeleteRecords that waits for followers.
type DelayedDelete struct {
	waiter
	parts []DeletePart
}

// Start begins the wait. wake is called once, possibly before Start returns.
func (d *DelayedDelete) Start(wake func()) {
	d.start(wake)
	var k wakes
	for i := range d.watches {
		p := d.watches[i].p
		p.role.RLock()
		if p.leadsLocked() != nil {
			k.add(&d.waiter)
		} else {
			p.mu.Lock()
			p.reachedLocked(delayedDelete, p.lowWatermarkLocked(), &k)
			p.mu.Unlock()
		}
		p.role.RUnlock()
	}
	k.run()
}

// Settle fills in what became of the parts that waited. It is called once, after
// wake.
func (d *DelayedDelete) Settle() {
	d.leave()
	for i := range d.parts {
		part := &d.parts[i]
		p := part.Partition
		if p == nil || part.Err != nil || part.LowWatermark >= part.wanted {
			continue
		}
		p.role.RLock()
		if err := p.leadsLocked(); err != nil {
			part.Fail(err)
		} else {
			p.mu.Lock()
			part.LowWatermark = p.lowWatermarkLocked()
			p.mu.Unlock()
			if part.LowWatermark < part.wanted {
				part.Fail(kerr.RequestTimedOut)
			}
		}
		p.role.RUnlock()
	}
}
