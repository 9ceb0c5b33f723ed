package replication

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/internal/clock"
	"barnabas/replication/partition"
	"barnabas/storage"
)

// Partition is one replica on this broker: its log and its replica state. All
// methods may be called from any goroutine.
type Partition struct {
	m      *Manager
	topic  *topic
	number int32
	name   string // "topic-0"

	// role is held shared by whatever relies on the role and its epoch, and
	// exclusively by whoever changes them. It guards log, gone, and of state
	// the role, epochs, replicas, committed ISR and min ISR.
	role sync.RWMutex
	log  *storage.Log // nil while gone or offline
	gone gone

	// mu guards the rest of state (followers, proposal, LEO, HW) and the lists.
	mu      sync.Mutex
	state   *partition.Partition
	waiting [purposes]watchList
	unread  []chunk // appended, and above the high watermark; in order of end
}

// gone says why a partition has no log.
type gone int8

const (
	here    gone = iota
	deleted      // the replica was deleted; the handle is dead for good
	offline      // its log directory failed
)

func newPartition(m *Manager, t *topic, number int32, name string) *Partition {
	p := &Partition{m: m, topic: t, number: number, name: name}
	p.state = partition.New(m.brokerID, t.settings.Load().MinISR, m.lagMaxMs)
	for i := range p.waiting {
		p.waiting[i].init()
	}
	return p
}

// Topic is the topic's name. It may be kept.
func (p *Partition) Topic() string { return p.topic.name }

// TopicID is the topic's id.
func (p *Partition) TopicID() [16]byte { return p.topic.id }

// Number is the partition's number within its topic.
func (p *Partition) Number() int32 { return p.number }

// Settings are the topic's settings in force. The caller must not change them.
func (p *Partition) Settings() *TopicSettings { return p.topic.settings.Load() }

// Deleted reports whether the replica is gone for good: a handle that was kept
// has to be looked up again.
func (p *Partition) Deleted() bool {
	p.role.RLock()
	defer p.role.RUnlock()
	return p.gone == deleted
}

// Leader is the leader this replica was told of last and its epoch.
func (p *Partition) Leader() (broker, epoch int32) {
	p.role.RLock()
	defer p.role.RUnlock()
	return p.state.LeaderID(), p.state.LeaderEpoch()
}

// Log is the replica's log, nil while there is none.
func (p *Partition) Log() *storage.Log {
	p.role.RLock()
	defer p.role.RUnlock()
	return p.log
}

// presentLocked is the error of a replica without a log. The caller holds role.
func (p *Partition) presentLocked() *kerr.Error {
	switch {
	case p.gone == deleted:
		return kerr.UnknownTopicOrPartition
	case p.log == nil:
		return kerr.KafkaStorageError
	}
	return nil
}

// leadsLocked is the error of a replica that may not answer as leader. The
// caller holds role.
func (p *Partition) leadsLocked() *kerr.Error {
	if err := p.presentLocked(); err != nil {
		return err
	}
	if p.state.Role() != partition.Leader {
		return kerr.NotLeaderForPartition
	}
	return nil
}

// fencedLocked compares a request's current leader epoch with ours. Whether an
// epoch was given at all is the caller's to know. The caller holds role.
func (p *Partition) fencedLocked(epoch int32) *kerr.Error {
	switch ours := p.state.LeaderEpoch(); {
	case epoch < ours:
		return kerr.FencedLeaderEpoch
	case epoch > ours:
		return kerr.UnknownLeaderEpoch
	}
	return nil
}

// endLocked is the end of what a reader may see. The caller holds role.
func (p *Partition) endLocked(v visibility) int64 {
	switch v {
	case toLogEnd:
		return p.log.LogEndOffset()
	case toStableOffset:
		return min(p.log.HighWatermark(), p.log.LastStableOffset())
	default:
		return p.log.HighWatermark()
	}
}

// appendedLocked takes a new log end over: the high watermark may move, and
// waiters may have what they want. size is the number of bytes appended. The
// caller holds role and runs k after giving it up.
func (p *Partition) appendedLocked(end int64, size int, k *wakes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved := false
	if !p.m.held.Load() {
		moved, _ = p.state.Appended(end, clock.Millis(p.m.clock))
	}
	readable := size
	if p.state.HighWatermark() < end {
		p.addUnread(end, size)
		readable = 0
	}
	p.movedLocked(moved, size, readable, k)
}

// movedLocked follows a change of the high watermark, if there was one, or of
// the log's end. written and readable are the bytes that became readable for
// followers and for consumers. The caller holds role and mu.
func (p *Partition) movedLocked(moved bool, written, readable int, k *wakes) {
	hw := p.state.HighWatermark()
	readable += p.takeUnread(hw)
	if moved {
		p.log.SetHighWatermark(hw)
		p.reachedLocked(delayedProduce, hw, k)
	}
	l := &p.waiting[delayedFetch]
	for e := l.head.next; e != &l.head; e = e.next {
		size := readable
		if e.end == toLogEnd {
			size = written
		}
		if w := e.w; size > 0 && !w.done.Load() && p.endLocked(e.end) > e.offset && w.enough(min(size, e.limit)) {
			k.add(w)
		}
	}
}

// enough counts bytes that became readable.
func (w *waiter) enough(size int) bool { return w.bytes.Add(int64(size)) >= int64(w.minBytes) }

// chunk is appended data that the high watermark has not passed yet.
type chunk struct {
	end  int64
	size int
}

// maxUnread bounds how finely a partition remembers what waits for its high
// watermark; beyond it the last chunks become one.
const maxUnread = 128

func (p *Partition) addUnread(end int64, size int) {
	if n := len(p.unread); n == maxUnread {
		last := &p.unread[n-1]
		last.end, last.size = max(last.end, end), last.size+size
		return
	}
	p.unread = append(p.unread, chunk{end, size})
}

// takeUnread gives the bytes that the high watermark passed.
func (p *Partition) takeUnread(hw int64) (size int) {
	n := 0
	for n < len(p.unread) && p.unread[n].end <= hw {
		size += p.unread[n].size
		n++
	}
	if n > 0 {
		p.unread = append(p.unread[:0], p.unread[n:]...)
	}
	return size
}

// reachedLocked ticks the watches off that wait for an offset up to at.
func (p *Partition) reachedLocked(kind purpose, at int64, k *wakes) {
	l := &p.waiting[kind]
	for e := l.head.next; e != &l.head; e = e.next {
		if !e.met && e.offset <= at {
			e.met = true
			if e.w.unmet.Add(-1) == 0 {
				k.add(e.w)
			}
		}
	}
}

// disturb wakes the waiters of a partition that got a new state: all of them
// when this broker does not lead it any more, else the fetches, whose epoch may
// be over now. A produce waits on under the same leader.
func (p *Partition) disturb(k *wakes) {
	p.role.RLock()
	leads := p.leadsLocked() == nil
	p.role.RUnlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind := range purposes {
		if leads && kind != delayedFetch {
			continue
		}
		l := &p.waiting[kind]
		for e := l.head.next; e != &l.head; e = e.next {
			k.add(e.w)
		}
	}
}
