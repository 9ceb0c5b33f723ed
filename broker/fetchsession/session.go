package fetchsession

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// session is what one client fetches, and what it was told last.
type session struct {
	id         int32
	privileged bool // a follower's
	byID       bool // topics by id (version 13 and up)
	created    int64

	// used and size are guarded by the cache's lock.
	used int64
	size int

	// mu guards what follows.
	mu    sync.Mutex
	epoch int32 // of the next request
	parts []entry
	index map[key]int32 // nil while there are few
	first int32         // reading order, -1 when empty
	last  int32
	free  int32 // forgotten entries, linked by next
	count int
	lives uint32
}

// entry is a partition of a session. Its target has the request's last
// parameters for it.
type entry struct {
	target     Target
	hw         int64 // as told last; -1 after an error
	logStart   int64
	next, prev int32
	live       bool
}

const none int32 = -1

func newSession(privileged, byID bool, now int64) *session {
	return &session{privileged: privileged, byID: byID, created: now, used: now, epoch: 1, first: none, last: none, free: none}
}

// advance is the epoch after e. It never is 0 or -1, which mean something else.
func advance(e int32) int32 {
	if e == 1<<31-1 {
		return 1
	}
	return e + 1
}

// add puts a partition at the end of the reading order.
func (s *session) add(t Target, hw, logStart int64) {
	i := s.free
	if i == none {
		i = int32(len(s.parts))
		s.parts = append(s.parts, entry{})
	} else {
		s.free = s.parts[i].next
	}
	s.lives++
	t.slot, t.life = i, s.lives
	s.parts[i] = entry{target: t, hw: hw, logStart: logStart, live: true}
	s.link(i)
	s.count++
	s.noteAdded(i)
}

func (s *session) noteAdded(i int32) {
	switch {
	case s.index != nil:
		s.index[keyOf(&s.parts[i].target, s.byID)] = i
	case s.count > fewTargets:
		s.index = make(map[key]int32, 2*s.count)
		for j := s.first; j != none; j = s.parts[j].next {
			s.index[keyOf(&s.parts[j].target, s.byID)] = j
		}
	}
}

func (s *session) find(k key) int32 {
	if s.index != nil {
		if i, ok := s.index[k]; ok {
			return i
		}
		return none
	}
	for i := s.first; i != none; i = s.parts[i].next {
		if keyOf(&s.parts[i].target, s.byID) == k {
			return i
		}
	}
	return none
}

func (s *session) link(i int32) {
	e := &s.parts[i]
	e.prev, e.next = s.last, none
	if s.last == none {
		s.first = i
	} else {
		s.parts[s.last].next = i
	}
	s.last = i
}

func (s *session) unlink(i int32) {
	e := &s.parts[i]
	if e.prev == none {
		s.first = e.next
	} else {
		s.parts[e.prev].next = e.next
	}
	if e.next == none {
		s.last = e.prev
	} else {
		s.parts[e.next].prev = e.prev
	}
}

func (s *session) forget(k key) {
	i := s.find(k)
	if i == none {
		return
	}
	s.unlink(i)
	if s.index != nil {
		delete(s.index, k)
	}
	s.parts[i] = entry{next: s.free}
	s.free = i
	s.count--
}

// update applies an incremental request: changed and new partitions, then the
// forgotten ones.
func (s *session) update(req *kmsg.FetchRequest) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			target := targetOf(t, &t.Partitions[j])
			if at := s.find(keyOf(&target, s.byID)); at != none {
				e := &s.parts[at].target
				e.Offset, e.LogStart, e.MaxBytes = target.Offset, target.LogStart, target.MaxBytes
				e.CurrentLeaderEpoch, e.LastFetchedEpoch = target.CurrentLeaderEpoch, target.LastFetchedEpoch
				continue
			}
			s.add(own(target), -1, -1)
		}
	}
	for i := range req.ForgottenTopics {
		t := &req.ForgottenTopics[i]
		for _, p := range t.Partitions {
			s.forget(keyOf(&Target{Topic: t.Topic, TopicID: t.TopicID, Partition: p}, s.byID))
		}
	}
}

// targets appends the session's partitions in reading order.
func (s *session) targets(dst []Target) []Target {
	for i := s.first; i != none; i = s.parts[i].next {
		dst = append(dst, s.parts[i].target)
	}
	return dst
}

// finish notes what the client is told and marks what it has to be told.
func (s *session) finish(targets []Target, out []Outcome) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range out {
		o, t := &out[i], &targets[i]
		o.Include = o.Bytes > 0 || o.Preferred || o.Failed || o.Diverging
		if int(t.slot) >= len(s.parts) {
			continue
		}
		e := &s.parts[t.slot]
		if !e.live || e.target.life != t.life {
			continue // forgotten meanwhile by a request on another connection
		}
		e.target.Handle = t.Handle
		if t.Topic != "" {
			e.target.Topic = t.Topic
		}
		if o.HW != e.hw || o.LogStart != e.logStart {
			o.Include = true
		}
		e.hw, e.logStart = o.HW, o.LogStart
		if o.Failed {
			e.hw = -1 // so that the next good answer is told as well
		}
		if o.Bytes > 0 {
			s.unlink(t.slot)
			s.link(t.slot)
		}
	}
	return s.id
}
