package replication

import "slices"

// DelayedFetch is a fetch that has too few bytes to be answered.
type DelayedFetch struct {
	waiter
	parts []FetchPart
	opts  ReadOptions
}

func newDelayedFetch(m *Manager, parts []FetchPart, o ReadOptions, total int) *DelayedFetch {
	d := &DelayedFetch{
		waiter: waiter{m: m, kind: delayedFetch, left: o.MaxWait, minBytes: o.minBytes(m)},
		parts:  parts, opts: o,
	}
	d.bytes.Store(int64(total))
	d.watches = make([]watch, 0, len(parts))
	v := o.visibility()
	for i := range parts {
		f := &parts[i]
		if f.Partition == nil {
			continue
		}
		// Data up to here is counted in total already; only what comes after counts.
		seen := max(f.Offset, f.end(v))
		d.watches = append(d.watches, watch{p: f.Partition, offset: seen, end: v, limit: int(f.MaxBytes)})
	}
	return d
}

// end is what was visible when the part was read.
func (f *FetchPart) end(v visibility) int64 {
	switch v {
	case toStableOffset:
		return f.StableOffset
	case toHighWatermark:
		return f.HighWatermark
	default:
		return f.logEnd
	}
}

// Start begins the wait. wake is called once, possibly before Start returns.
func (d *DelayedFetch) Start(wake func()) {
	counted := d.bytes.Load()
	d.start(wake)
	// What became readable before a watch was on its list woke nobody.
	moved := false
	for i := range d.watches {
		e := &d.watches[i]
		moved = e.p.movedPast(e.end, e.offset) || moved
	}
	if !moved {
		return
	}
	// Bytes that were appended while we measure may count twice. Then the
	// answer is a little early, which is allowed.
	total, urgent := d.measure()
	if urgent || d.enough(total-int(counted)) {
		d.complete()
	}
}

// movedPast reports whether there is more to read than up to offset, or nothing
// any more.
func (p *Partition) movedPast(v visibility, offset int64) bool {
	p.role.RLock()
	defer p.role.RUnlock()
	return p.presentLocked() != nil || p.endLocked(v) > offset
}

// measure reads on a copy of the parts and gives everything back.
func (d *DelayedFetch) measure() (total int, urgent bool) {
	parts := slices.Clone(d.parts)
	total, urgent = d.m.readAll(parts, &d.opts)
	for i := range parts {
		parts[i].Release()
	}
	return total, urgent
}

// Finish reads again and fills in the parts' results. It is called once, after
// wake.
func (d *DelayedFetch) Finish() {
	d.leave()
	d.m.readAll(d.parts, &d.opts)
}
