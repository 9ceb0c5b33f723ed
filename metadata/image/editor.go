package image

import (
	"bytes"
	"maps"
	"slices"
)

// Editor makes the next snapshot of one. Not safe for concurrent use.
type Editor struct {
	next    Image
	topics  map[string]*Topic            // nil: removed
	configs map[string]map[string]string // of topics; nil: removed
}

// Edit begins the next snapshot.
func (im *Image) Edit() *Editor {
	return &Editor{next: *im, topics: make(map[string]*Topic), configs: make(map[string]map[string]string)}
}

// SetCluster names the cluster and its controller.
func (e *Editor) SetCluster(id string, controller int32) {
	e.next.ClusterID, e.next.ControllerID = id, controller
}

// SetBrokers replaces all brokers.
func (e *Editor) SetBrokers(brokers []*Broker) {
	e.next.brokers = slices.SortedFunc(slices.Values(brokers), func(a, b *Broker) int { return int(a.ID) - int(b.ID) })
}

// Topic gives a topic as it is so far, nil if there is none.
func (e *Editor) Topic(name string) *Topic {
	if t, ok := e.topics[name]; ok {
		return t
	}
	return e.next.Topic(name)
}

// PutTopic adds a topic or replaces it.
func (e *Editor) PutTopic(t *Topic) { e.topics[t.Name] = t }

// RemoveTopic removes a topic. Its settings stay until they are removed.
func (e *Editor) RemoveTopic(name string) { e.topics[name] = nil }

// SetTopicConfig replaces a topic's own settings; none removes them.
func (e *Editor) SetTopicConfig(name string, values map[string]string) {
	if len(values) == 0 {
		values = nil
	}
	e.configs[name] = values
}

// SetBrokerConfig replaces a broker's settings, or with the empty id those of
// all brokers.
func (e *Editor) SetBrokerConfig(id string, values map[string]string) {
	if len(values) == 0 {
		values = nil
	}
	e.next.config = mergeNamed(e.next.config, map[string]map[string]string{id: values})
}

// Done gives the snapshot. The editor must not be used afterwards.
func (e *Editor) Done() *Image {
	if len(e.topics) > 0 {
		e.mergeTopics()
	}
	if len(e.configs) > 0 {
		e.next.topics = mergeNamed(e.next.topics, e.configs)
	}
	return &e.next
}

func (e *Editor) mergeTopics() {
	ids := make(map[[16]byte]*Topic, len(e.topics)) // nil: no topic has it any more
	for name := range e.topics {
		if old := e.next.Topic(name); old != nil {
			ids[old.ID] = nil
		}
	}
	for _, t := range e.topics {
		if t != nil {
			ids[t.ID] = t
		}
	}
	delete(ids, [16]byte{})
	e.next.byName = splice(e.next.byName, slices.Sorted(maps.Keys(e.topics)), cmpTopicName, func(name string) (*Topic, bool) {
		return e.topics[name], e.topics[name] != nil
	})
	byID := slices.SortedFunc(maps.Keys(ids), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	e.next.byID = splice(e.next.byID, byID, cmpTopicID, func(id [16]byte) (*Topic, bool) { return ids[id], ids[id] != nil })
}

func mergeNamed(old []named, changes map[string]map[string]string) []named {
	return splice(old, slices.Sorted(maps.Keys(changes)), cmpNamed, func(name string) (named, bool) {
		return named{name, changes[name]}, changes[name] != nil
	})
}

// splice gives a new sorted slice: old with what value says at the keys, which
// are sorted: an element, or none. What lies between is copied as it is.
func splice[T, K any](old []T, keys []K, compare func(T, K) int, value func(K) (T, bool)) []T {
	out := make([]T, 0, len(old)+len(keys))
	for _, k := range keys {
		at, found := slices.BinarySearchFunc(old, k, compare)
		out = append(out, old[:at]...)
		if v, ok := value(k); ok {
			out = append(out, v)
		}
		if found {
			at++
		}
		old = old[at:]
	}
	return append(out, old...)
}
