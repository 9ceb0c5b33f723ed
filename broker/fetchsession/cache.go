package fetchsession

import (
	"math/rand/v2"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/clock"
	"barnabas/internal/metrics"
)

// Options say how many sessions there may be.
type Options struct {
	// Slots is max.incremental.fetch.session.cache.slots. 0 means that every
	// fetch is a full one.
	Slots int
	// EvictAfterMs is how long a session must have lived, or been idle, before
	// another client may take its slot. Kafka's is 120,000; 0 means that.
	EvictAfterMs int64
	// Clock tells the time; nil is the system's.
	Clock clock.Clock
	// Metrics takes the figures; nil keeps them to [Cache.Stats].
	Metrics *metrics.Registry
}

// Cache holds the sessions of a broker.
type Cache struct {
	slots   int
	evictMs int64
	clock   clock.Clock

	// mu guards what follows, and every session's used and size.
	mu         sync.Mutex
	sessions   map[int32]*session
	partitions int
	evictions  int64
}

// New makes an empty cache.
func New(o Options) *Cache {
	if o.EvictAfterMs == 0 {
		o.EvictAfterMs = 120_000
	}
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	c := &Cache{slots: o.Slots, evictMs: o.EvictAfterMs, clock: o.Clock, sessions: make(map[int32]*session)}
	c.publish(o.Metrics)
	return c
}

// publish names the figures as the JMX exporter names Kafka's.
func (c *Cache) publish(r *metrics.Registry) {
	gauge := func(name, help string, get func(Stats) float64) {
		r.GaugeFunc("kafka_server_fetchsessioncache_"+name, help, func() float64 { return get(c.Stats()) })
	}
	gauge("numincrementalfetchsessions", "Fetch sessions.", func(s Stats) float64 { return float64(s.Sessions) })
	gauge("numincrementalfetchpartitionscached", "Partitions in fetch sessions.", func(s Stats) float64 { return float64(s.Partitions) })
	gauge("incrementalfetchsessionevictions_total", "Sessions that gave their slot to another.", func(s Stats) float64 { return float64(s.Evictions) })
}

// Stats are the figures of Kafka's FetchSessionCache metrics.
type Stats struct {
	Sessions, Partitions int
	Evictions            int64
}

// Stats reads the figures.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Sessions: len(c.sessions), Partitions: c.partitions, Evictions: c.evictions}
}

// The session epochs that are none.
const (
	initialEpoch = 0  // a full fetch that asks for a session
	finalEpoch   = -1 // a full fetch that wants none
)

// Open looks at a request's session id and epoch and fills f.Targets with what
// is to be read. privileged is true for a follower: its session gives way to no
// consumer's. The error, if any, is the answer's top-level code, and the answer
// has no partitions.
//
// Targets of a full fetch point into the request's frame.
func (c *Cache) Open(req *kmsg.FetchRequest, privileged bool, f *Fetch) *kerr.Error {
	f.cache, f.privileged, f.byID = c, privileged, req.Version >= 13
	if req.Version < 7 {
		f.addAll(req)
		return nil
	}
	if req.SessionEpoch == initialEpoch || req.SessionEpoch == finalEpoch {
		c.remove(req.SessionID)
		if req.SessionEpoch == initialEpoch {
			f.kind = opening
		}
		f.addAll(req)
		return nil
	}
	return c.continued(req, f)
}

// continued is an incremental fetch.
func (c *Cache) continued(req *kmsg.FetchRequest, f *Fetch) *kerr.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[req.SessionID]
	if s == nil {
		return kerr.FetchSessionIDNotFound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != req.SessionEpoch {
		return kerr.InvalidFetchSessionEpoch
	}
	if s.byID != f.byID {
		return kerr.FetchSessionTopicIDError
	}
	s.update(req)
	if s.count == 0 {
		c.removeLocked(s)
		return nil // nothing to read, and no session
	}
	c.partitions += s.count - s.size
	s.size = s.count
	s.used = clock.Millis(c.clock)
	s.epoch = advance(s.epoch)
	f.kind, f.session = incremental, s
	f.Targets = s.targets(f.Targets)
	return nil
}

func (c *Cache) remove(id int32) {
	if id == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		c.removeLocked(s)
	}
}

func (c *Cache) removeLocked(s *session) {
	delete(c.sessions, s.id)
	c.partitions -= s.size
}

// create begins a session with the targets and outcomes of a full fetch and
// returns its id, or 0 if every slot is taken by a session with a better claim.
func (c *Cache) create(f *Fetch, out []Outcome) int32 {
	now := clock.Millis(c.clock)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sessions) >= c.slots && !c.evictLocked(f.privileged, len(f.Targets), now) {
		return 0
	}
	s := newSession(f.privileged, f.byID, now)
	s.parts = make([]entry, 0, len(f.Targets))
	for i := range f.Targets {
		hw := out[i].HW
		if out[i].Failed {
			hw = -1
		}
		s.add(f.Targets[i], hw, out[i].LogStart)
	}
	s.size = s.count
	for s.id == 0 || c.sessions[s.id] != nil {
		s.id = rand.Int32()
	}
	c.sessions[s.id] = s
	c.partitions += s.size
	return s.id
}

// evictLocked frees a slot for a new session. The one that was idle for too
// long goes first; else the least of those that have to give way: a consumer's
// to a follower at any time, one that lived long enough to a larger one.
func (c *Cache) evictLocked(privileged bool, size int, now int64) bool {
	var idle, least *session
	for _, s := range c.sessions {
		if idle == nil || s.used < idle.used || s.used == idle.used && s.id < idle.id {
			idle = s
		}
		aged := now-s.created > c.evictMs
		if !aged && (!privileged || s.privileged) || s.privileged && !privileged {
			continue
		}
		if least == nil || lessClaim(s, least) {
			least = s
		}
	}
	switch {
	case idle == nil:
		return false // no slots at all
	case now-idle.used > c.evictMs:
		c.removeLocked(idle)
	case least != nil && (privileged && !least.privileged || least.size < size):
		c.removeLocked(least)
	default:
		return false
	}
	c.evictions++
	return true
}

// lessClaim orders sessions by how soon they give way.
func lessClaim(a, b *session) bool {
	if a.privileged != b.privileged {
		return !a.privileged
	}
	if a.size != b.size {
		return a.size < b.size
	}
	return a.id < b.id
}
