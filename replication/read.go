package replication

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/replication/partition"
	"barnabas/storage"
)

// Region is a piece of a log that stays in its file: a *storage.Region.
type Region interface {
	// Len is its length in bytes.
	Len() int
	// ReadAt reads from offset off of the region.
	ReadAt(p []byte, off int64) (int, error)
	// File is where it is, for sendfile; ok is false if it has no descriptor.
	File() (fd uintptr, pos int64, ok bool)
	// Release gives it back.
	Release()
}

// FetchPart is one partition of a Fetch request: what is asked, and what was
// read.
type FetchPart struct {
	// Partition is what to read; nil is left alone, and the results with it.
	Partition *Partition
	// Offset is where to begin, MaxBytes the partition's limit.
	Offset   int64
	MaxBytes int32
	// CurrentLeaderEpoch and LastFetchedEpoch are checked unless negative.
	CurrentLeaderEpoch, LastFetchedEpoch int32
	// LogStart is the log start of a follower that fetches.
	LogStart int64

	// Err is the answer's error, nil for success. Then offsets are -1.
	Err error
	// HighWatermark, StableOffset and LogStartOffset are the log's.
	HighWatermark, StableOffset, LogStartOffset int64
	// Region holds the records, nil for none. Whoever takes the results
	// releases it.
	Region Region
	// DivergingEpoch and DivergingEnd tell a reader that its log is not a
	// prefix of ours; -1 and -1 otherwise.
	DivergingEpoch int32
	DivergingEnd   int64

	logEnd int64 // when it was read
}

// Fail sets the results to an error.
func (f *FetchPart) Fail(err error) {
	f.Err, f.HighWatermark, f.StableOffset, f.LogStartOffset = err, -1, -1, -1
	f.DivergingEpoch, f.DivergingEnd = -1, -1
}

// Bytes is how much was read.
func (f *FetchPart) Bytes() int {
	if f.Region == nil {
		return 0
	}
	return f.Region.Len()
}

// Release gives back what was read.
func (f *FetchPart) Release() {
	if f.Region != nil {
		f.Region.Release()
		f.Region = nil
	}
}

// ReadOptions go for all parts of a request.
type ReadOptions struct {
	// ReplicaID is the fetching broker, negative for a consumer; BrokerEpoch
	// is that broker's, -1 if not told.
	ReplicaID   int32
	BrokerEpoch int64
	// Committed is isolation level read_committed.
	Committed bool
	// AnyReplica lets a follower answer (consumers from version 11).
	AnyReplica bool
	// MinBytes and MaxBytes are the request's, MaxWait how long it may wait.
	MinBytes, MaxBytes int
	MaxWait            time.Duration
}

func (o *ReadOptions) follower() bool { return o.ReplicaID >= 0 }

func (o *ReadOptions) visibility() visibility {
	switch {
	case o.follower():
		return toLogEnd
	case o.Committed:
		return toStableOffset
	default:
		return toHighWatermark
	}
}

// Read reads the parts in order and fills in their results. The first part
// that has data gives at least one whole batch, whatever the limits; the others
// share what is left. If there is not enough to answer and the request may
// wait, nothing stays read and the delayed fetch is returned; else nil.
//
// now tells that there is an answer already (an error in a partition that is
// not among parts), so nothing waits.
func (m *Manager) Read(parts []FetchPart, o *ReadOptions, now bool) *DelayedFetch {
	total, urgent := m.readAll(parts, o)
	if now || urgent || o.MaxWait <= 0 || total >= o.minBytes(m) || !anyPart(parts) {
		return nil
	}
	d := newDelayedFetch(m, parts, *o, total)
	for i := range parts {
		parts[i].Release()
	}
	return d
}

func (o *ReadOptions) maxBytes(m *Manager) int { return min(o.MaxBytes, m.fetchMax) }

func (o *ReadOptions) minBytes(m *Manager) int { return min(o.MinBytes, o.maxBytes(m)) }

func anyPart(parts []FetchPart) bool {
	for i := range parts {
		if parts[i].Partition != nil {
			return true
		}
	}
	return false
}

// readAll reads every part. urgent tells that the answer cannot wait.
func (m *Manager) readAll(parts []FetchPart, o *ReadOptions) (total int, urgent bool) {
	left, minOne := o.maxBytes(m), true
	for i := range parts {
		f := &parts[i]
		if f.Partition == nil {
			continue
		}
		if f.Partition.read(f, o, min(int(f.MaxBytes), left), minOne) {
			urgent = true
		}
		if n := f.Bytes(); n > 0 {
			total, minOne = total+n, false
			left = max(left-n, 0)
		}
	}
	return total, urgent
}

// read reads one part and reports whether it has to be answered at once.
func (p *Partition) read(f *FetchPart, o *ReadOptions, limit int, minOne bool) (urgent bool) {
	var k wakes
	p.role.RLock()
	urgent, err := p.readLocked(f, o, limit, minOne)
	if err == nil && o.follower() && f.DivergingEnd < 0 {
		err = p.followedLocked(f, o, &k)
	}
	p.role.RUnlock()
	k.run()
	p.topic.figures.fetchRequests.Inc()
	p.m.figures.all.fetchRequests.Inc()
	if err == nil {
		return urgent
	}
	f.Release()
	f.Fail(err)
	if ke := (*kerr.Error)(nil); !errors.As(err, &ke) && !errors.Is(err, storage.ErrOffsetOutOfRange) {
		p.topic.figures.failedFetch.Inc()
		p.m.figures.all.failedFetch.Inc()
	}
	return true
}

// readLocked does what read says. The caller holds role shared.
func (p *Partition) readLocked(f *FetchPart, o *ReadOptions, limit int, minOne bool) (urgent bool, err error) {
	f.Err, f.Region, f.DivergingEpoch, f.DivergingEnd = nil, nil, -1, -1
	if gone := p.presentLocked(); gone != nil {
		return true, gone
	}
	if f.CurrentLeaderEpoch >= 0 {
		if fenced := p.fencedLocked(f.CurrentLeaderEpoch); fenced != nil {
			return true, fenced
		}
	}
	if r := p.state.Role(); r != partition.Leader && (r != partition.Follower || !o.AnyReplica) {
		return true, kerr.NotLeaderForPartition
	}
	if limit < 0 {
		return true, kerr.UnknownServerError // what Kafka makes of a negative limit
	}
	f.HighWatermark, f.LogStartOffset = p.log.HighWatermark(), p.log.LogStartOffset()
	f.StableOffset, f.logEnd = min(f.HighWatermark, p.log.LastStableOffset()), p.log.LogEndOffset()
	if f.LastFetchedEpoch >= 0 {
		if diverges, err := p.divergesLocked(f); diverges || err != nil {
			return true, err
		}
	}
	end := f.end(o.visibility())
	region, err := p.log.Read(storage.ReadOptions{Offset: f.Offset, MaxBytes: limit, End: end, MinOne: minOne})
	if err != nil {
		return true, err
	}
	if region != nil {
		f.Region = region
		if !minOne && f.startsCut(limit) {
			f.Release()
			return false, nil
		}
	}
	// More lies in the next segment than one region can give: do not wait here for it.
	return f.Region != nil && f.Offset < p.log.ActiveSegmentBase(), nil
}

// startsCut reports whether a region that its limit ended holds not even its
// first batch. A reader can do nothing with that.
func (f *FetchPart) startsCut(limit int) bool {
	n := f.Region.Len()
	if n < limit {
		return false
	}
	var head [record.LogOverhead]byte
	if n < len(head) {
		return true
	}
	if _, err := f.Region.ReadAt(head[:], 0); err != nil {
		return true
	}
	size, err := record.HeaderSizeOf(head[:])
	return err != nil || size > n
}

// divergesLocked tells whether the reader's log has an epoch that ends later
// than ours does.
func (p *Partition) divergesLocked(f *FetchPart) (bool, error) {
	epoch, end := p.log.EndOffsetForEpoch(f.LastFetchedEpoch)
	if epoch < 0 || end < 0 || f.Offset < f.LogStartOffset {
		return false, kerr.OffsetOutOfRange
	}
	if epoch < f.LastFetchedEpoch || end < f.Offset {
		f.DivergingEpoch, f.DivergingEnd = epoch, end
		return true, nil
	}
	return false, nil
}

// followedLocked takes the position of a fetching follower over.
func (p *Partition) followedLocked(f *FetchPart, o *ReadOptions, k *wakes) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.state.FollowerFetched(partition.Fetched{
		Replica: o.ReplicaID, BrokerEpoch: o.BrokerEpoch, Offset: f.Offset, LogStart: f.LogStart, Now: clock.Millis(p.m.clock),
	})
	if err != nil {
		return kerr.NotLeaderForPartition // of a replica that we do not know; Kafka says no better
	}
	if r.Proposal != nil {
		p.proposeLocked(r.Proposal)
	}
	p.movedLocked(r.Advanced && !p.m.held.Load(), 0, 0, k)
	p.reachedLocked(delayedDelete, p.lowWatermarkLocked(), k)
	return nil
}

// proposeLocked hands an ISR change to whoever sends it to the controller.
func (p *Partition) proposeLocked(change *partition.Proposal) {
	if p.m.propose == nil {
		p.state.Refused(change.LeaderEpoch, clock.Millis(p.m.clock))
		return
	}
	p.m.propose(p, change)
}
