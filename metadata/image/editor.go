package image

import (
	"bytes"
	"slices"
	"strings"
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
	var put []*Topic
	gone := make(map[[16]byte]bool, len(e.topics)) // ids that end or move
	for name, t := range e.topics {
		if t != nil {
			put = append(put, t)
		}
		if old := e.next.Topic(name); old != nil {
			gone[old.ID] = true
		}
	}
	byName := func(a, b *Topic) int { return strings.Compare(a.Name, b.Name) }
	byID := func(a, b *Topic) int { return bytes.Compare(a.ID[:], b.ID[:]) }
	slices.SortFunc(put, byName)
	e.next.byName = merge(e.next.byName, put, byName, func(t *Topic) bool {
		_, replaced := e.topics[t.Name]
		return replaced
	})
	put = slices.DeleteFunc(put, func(t *Topic) bool { return t.ID == [16]byte{} })
	slices.SortFunc(put, byID)
	e.next.byID = merge(e.next.byID, put, byID, func(t *Topic) bool { return gone[t.ID] })
}

func mergeNamed(old []named, changes map[string]map[string]string) []named {
	var put []named
	for name, values := range changes {
		if values != nil {
			put = append(put, named{name, values})
		}
	}
	byName := func(a, b named) int { return strings.Compare(a.name, b.name) }
	slices.SortFunc(put, byName)
	return merge(old, put, byName, func(n named) bool {
		_, replaced := changes[n.name]
		return replaced
	})
}

// merge gives a new sorted slice: old without what is dropped, and put.
func merge[T any](old, put []T, compare func(a, b T) int, dropped func(T) bool) []T {
	out := make([]T, 0, len(old)+len(put))
	for _, o := range old {
		if dropped(o) {
			continue
		}
		for len(put) > 0 && compare(put[0], o) < 0 {
			out = append(out, put[0])
			put = put[1:]
		}
		out = append(out, o)
	}
	return append(out, put...)
}
