package partition

import "slices"

// follower is what a leader knows of another replica.
type follower struct {
	id          int32
	brokerEpoch int64 // the life of the broker that fetched, -1 if unknown
	leo         int64 // where it fetched last
	logStart    int64
	// lastFetch is when it fetched last and lastLeaderEnd the leader's LEO
	// then: a follower that now asks for that offset was caught up at that time.
	lastFetch, lastLeaderEnd int64
	caughtUp                 int64 // the last time it had everything
}

// caughtUpTo is Kafka's in-sync test: at the leader's end now, or not long ago.
func (f *follower) caughtUpTo(leaderEnd, now, lagMax int64) bool {
	return f.leo == leaderEnd || now-f.caughtUp <= lagMax && f.caughtUp > 0
}

// Fetched is a follower's fetch.
type Fetched struct {
	Replica          int32
	BrokerEpoch      int64 // -1 if the request carries none
	Offset, LogStart int64
	Now              int64
}

// FetchResult says what a follower's fetch did.
type FetchResult struct {
	Advanced bool      // HW moved
	Proposal *Proposal // an ISR change to send to the controller, or nil
}

// Proposal is an ISR change for the controller (AlterPartition). While it is in
// flight the machine counts on the larger of the two sets.
type Proposal struct {
	LeaderEpoch, PartitionEpoch int32
	ISR                         []int32
	BrokerEpochs                []int64 // of the members of ISR, -1 where unknown
}

// FollowerFetched takes a follower's position over: the offset it asks for is
// the end of its log. It may move HW and may propose to let the follower in.
func (p *Partition) FollowerFetched(q Fetched) (FetchResult, error) {
	if p.role != Leader {
		return FetchResult{}, ErrNotLeader
	}
	i := slices.IndexFunc(p.followers, func(f follower) bool { return f.id == q.Replica })
	if i < 0 {
		return FetchResult{}, ErrUnknownReplica
	}
	f := &p.followers[i]
	if q.BrokerEpoch != -1 && q.BrokerEpoch < f.brokerEpoch {
		return FetchResult{}, ErrStaleBrokerEpoch
	}
	if q.BrokerEpoch > f.brokerEpoch { // a new life: what the old one had says nothing
		f.leo, f.lastLeaderEnd, f.lastFetch = unknownOffset, unknownOffset, 0
		f.brokerEpoch = q.BrokerEpoch
		if !slices.Contains(p.maximal, f.id) {
			f.caughtUp = 0
		}
	}
	switch {
	case q.Offset >= p.leo:
		f.caughtUp = max(f.caughtUp, q.Now)
	case f.lastLeaderEnd != unknownOffset && q.Offset >= f.lastLeaderEnd:
		f.caughtUp = max(f.caughtUp, f.lastFetch)
	}
	f.leo, f.logStart = q.Offset, q.LogStart
	f.lastLeaderEnd, f.lastFetch = p.leo, q.Now

	var r FetchResult
	if p.proposed == nil && !slices.Contains(p.isr, f.id) && f.leo >= p.hw && f.leo >= p.epochStart {
		r.Proposal = p.propose(append(slices.Clone(p.isr), f.id))
	}
	r.Advanced = p.moveHW(q.Now)
	return r, nil
}

// LowWatermark is the lowest log start among the given live replicas, the own
// one included: what DeleteRecords promises is gone. live reports whether a
// broker is up.
func (p *Partition) LowWatermark(logStart int64, live func(broker int32) bool) int64 {
	for i := range p.followers {
		if f := &p.followers[i]; live(f.id) {
			logStart = min(logStart, f.logStart)
		}
	}
	return logStart
}

// NextDeadline is when Tick has something to look at again, and false when
// there is nothing to wait for.
func (p *Partition) NextDeadline() (at int64, ok bool) {
	if p.role != Leader || p.proposed != nil {
		return 0, false
	}
	for i := range p.followers {
		f := &p.followers[i]
		if slices.Contains(p.isr, f.id) {
			if t := f.caughtUp + p.lagMax + 1; !ok || t < at {
				at, ok = t, true
			}
		}
	}
	return at, ok
}

// Tick proposes to drop the members that fell behind, or returns nil.
func (p *Partition) Tick(now int64) *Proposal {
	if p.role != Leader || p.proposed != nil {
		return nil
	}
	stay := make([]int32, 0, len(p.isr))
	for _, id := range p.isr {
		i := slices.IndexFunc(p.followers, func(f follower) bool { return f.id == id })
		if id == p.self || i >= 0 && p.followers[i].caughtUpTo(p.leo, now, p.lagMax) {
			stay = append(stay, id)
		}
	}
	if len(stay) == len(p.isr) {
		return nil
	}
	return p.propose(stay)
}

func (p *Partition) propose(isr []int32) *Proposal {
	p.proposed = isr
	if len(isr) > len(p.isr) {
		p.maximal = isr
	}
	r := &Proposal{LeaderEpoch: p.leaderEpoch, PartitionEpoch: p.partitionEpoch, ISR: slices.Clone(isr)}
	for _, id := range isr {
		epoch := int64(-1)
		if i := slices.IndexFunc(p.followers, func(f follower) bool { return f.id == id }); i >= 0 {
			epoch = p.followers[i].brokerEpoch
		}
		r.BrokerEpochs = append(r.BrokerEpochs, epoch)
	}
	return r
}

// Accepted takes the controller's answer to a proposal over and reports whether
// HW moved. An answer to an earlier leader epoch, or an older partition epoch,
// changes nothing.
func (p *Partition) Accepted(leaderEpoch, partitionEpoch int32, isr []int32, now int64) (advanced bool) {
	if p.role != Leader || leaderEpoch != p.leaderEpoch || partitionEpoch < p.partitionEpoch ||
		partitionEpoch == p.partitionEpoch && p.proposed == nil {
		return false
	}
	p.partitionEpoch = partitionEpoch
	p.setISR(isr)
	return p.moveHW(now)
}

// Refused takes back a proposal that was surely not applied. For any other
// failure the outcome is unknown: the caller sends it again and tells nothing.
func (p *Partition) Refused(leaderEpoch int32, now int64) (advanced bool) {
	if p.role != Leader || leaderEpoch != p.leaderEpoch {
		return false
	}
	p.proposed, p.maximal = nil, p.isr
	return p.moveHW(now)
}

// Pending is the ISR change in flight, nil when there is none.
func (p *Partition) Pending() []int32 { return p.proposed }
