package replication

import (
	"hash/maphash"
	"maps"
	"sync/atomic"

	"barnabas/storage"
)

// directory finds topics by name and by id without a lock. It is split into
// shards that are copied when they change, so that creating the ten-thousandth
// topic copies a few dozen entries and not ten thousand. Only the holder of
// Manager.control writes.
type directory struct {
	seed   maphash.Seed
	byName [shards]atomic.Pointer[map[string]*topic]
	byID   [shards]atomic.Pointer[map[[16]byte]*topic]
}

const shards = 256

func newDirectory() *directory {
	d := &directory{seed: maphash.MakeSeed()}
	for i := range shards {
		d.byName[i].Store(new(map[string]*topic))
		d.byID[i].Store(new(map[[16]byte]*topic))
	}
	return d
}

func (d *directory) nameShard(name string) *atomic.Pointer[map[string]*topic] {
	return &d.byName[maphash.String(d.seed, name)%shards]
}

func (d *directory) idShard(id [16]byte) *atomic.Pointer[map[[16]byte]*topic] {
	return &d.byID[id[3]^id[15]] // a random UUID is its own hash
}

func (d *directory) name(name string) *topic { return (*d.nameShard(name).Load())[name] }

func (d *directory) id(id [16]byte) *topic { return (*d.idShard(id).Load())[id] }

// set adds a topic, or one more key of it.
func (d *directory) set(t *topic) {
	replace(d.nameShard(t.name), func(m map[string]*topic) { m[t.name] = t })
	if id := t.id; id != ([16]byte{}) {
		replace(d.idShard(id), func(m map[[16]byte]*topic) { m[id] = t })
	}
}

func (d *directory) remove(t *topic) {
	replace(d.nameShard(t.name), func(m map[string]*topic) {
		if m[t.name] == t {
			delete(m, t.name)
		}
	})
	replace(d.idShard(t.id), func(m map[[16]byte]*topic) { delete(m, t.id) })
}

func replace[K comparable](p *atomic.Pointer[map[K]*topic], change func(map[K]*topic)) {
	m := maps.Clone(*p.Load())
	if m == nil {
		m = make(map[K]*topic, 1)
	}
	change(m)
	p.Store(&m)
}

// all yields every topic.
func (d *directory) all(yield func(*topic) bool) {
	for i := range shards {
		for _, t := range *d.byName[i].Load() {
			if !yield(t) {
				return
			}
		}
	}
}

// topic is what the partitions of a topic share.
type topic struct {
	name     string
	id       [16]byte // written before the topic is in the directory
	settings atomic.Pointer[TopicSettings]
	config   atomic.Pointer[storage.Config]
	parts    atomic.Pointer[[]atomic.Pointer[Partition]] // by partition number
	count    int                                         // of partitions held; under Manager.control
	figures  *topicFigures
}

func (t *topic) partition(i int32) *Partition {
	parts := *t.parts.Load()
	if i < 0 || int(i) >= len(parts) {
		return nil
	}
	return parts[i].Load()
}

// reserve makes room for partitions below n. The caller holds Manager.control.
func (t *topic) reserve(n int32) {
	old := *t.parts.Load()
	if int(n) <= len(old) {
		return
	}
	grown := make([]atomic.Pointer[Partition], max(n, int32(2*len(old))))
	for i := range old {
		grown[i].Store(old[i].Load())
	}
	t.parts.Store(&grown)
}

func (t *topic) put(p *Partition) {
	(*t.parts.Load())[p.number].Store(p)
	t.count++
}

func (t *topic) drop(p *Partition) {
	(*t.parts.Load())[p.number].Store(nil)
	t.count--
}

// Partition finds a partition this broker holds by its topic's name, or nil.
func (m *Manager) Partition(topic string, number int32) *Partition {
	if t := m.topics.name(topic); t != nil {
		return t.partition(number)
	}
	return nil
}

// PartitionByID finds a partition this broker holds by its topic's id, or nil.
func (m *Manager) PartitionByID(id [16]byte, number int32) *Partition {
	if t := m.topics.id(id); t != nil {
		return t.partition(number)
	}
	return nil
}

// Partitions yields every partition this broker holds, in no order.
func (m *Manager) Partitions(yield func(*Partition) bool) {
	for t := range m.topics.all {
		parts := *t.parts.Load()
		for i := range parts {
			if p := parts[i].Load(); p != nil && !yield(p) {
				return
			}
		}
	}
}
