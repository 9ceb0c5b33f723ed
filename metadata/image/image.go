package image

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// The leaders that are none.
const (
	NoLeader           int32 = -1 // nobody leads
	LeaderDuringDelete int32 = -2 // the topic is being deleted
)

// Image is one snapshot. The zero value is an empty cluster.
type Image struct {
	// ClusterID is the cluster's id.
	ClusterID string
	// ControllerID is the broker that is controller, -1 if none is known.
	ControllerID int32

	brokers []*Broker // by id
	byName  []*Topic
	byID    []*Topic // those that have an id
	topics  []named  // settings of topics, by name
	config  []named  // settings of brokers, by name
}

// named is the settings of one entity.
type named struct {
	name   string
	values map[string]string
}

// Broker is a broker that is alive.
type Broker struct {
	ID int32
	// Epoch is that of its registration, -1 if unknown.
	Epoch     int64
	Endpoints []Endpoint
	// Rack is empty if the broker has none.
	Rack string
}

// Endpoint is where a broker is reached by one listener.
type Endpoint struct {
	Listener, SecurityProtocol, Host string
	Port                             int32
}

// Endpoint gives the broker's address on a listener; ok is false if it has none.
func (b *Broker) Endpoint(listener string) (e Endpoint, ok bool) {
	for _, e := range b.Endpoints {
		if e.Listener == listener {
			return e, true
		}
	}
	return Endpoint{}, false
}

// Topic is one topic. Partitions are indexed by their number.
type Topic struct {
	Name       string
	ID         [16]byte // zero if it has none
	Partitions []Partition
}

// Partition is one partition's state.
type Partition struct {
	Leader, LeaderEpoch             int32
	PartitionEpoch, ControllerEpoch int32
	ISR, Replicas, Offline          []int32
}

// Known reports whether the controller has said anything of the partition yet:
// one whose replicas were never alive is only a place in the slice.
func (p *Partition) Known() bool { return p.Replicas != nil }

// Unknown is a place of a partition that is not Known.
func Unknown() Partition {
	return Partition{Leader: NoLeader, LeaderEpoch: -1, PartitionEpoch: -1, ControllerEpoch: -1}
}

// Broker finds a live broker, nil if there is none.
func (im *Image) Broker(id int32) *Broker {
	if i, ok := slices.BinarySearchFunc(im.brokers, id, cmpBrokerID); ok {
		return im.brokers[i]
	}
	return nil
}

// Brokers lists the live brokers by id.
func (im *Image) Brokers() iter.Seq[*Broker] { return slices.Values(im.brokers) }

// NumBrokers is how many brokers are alive.
func (im *Image) NumBrokers() int { return len(im.brokers) }

// Topic finds a topic by name, nil if there is none.
func (im *Image) Topic(name string) *Topic {
	if i, ok := slices.BinarySearchFunc(im.byName, name, cmpTopicName); ok {
		return im.byName[i]
	}
	return nil
}

// TopicByID finds a topic by its id, nil if there is none.
func (im *Image) TopicByID(id [16]byte) *Topic {
	if i, ok := slices.BinarySearchFunc(im.byID, id, cmpTopicID); ok {
		return im.byID[i]
	}
	return nil
}

// Topics lists the topics by name.
func (im *Image) Topics() iter.Seq[*Topic] { return slices.Values(im.byName) }

// TopicsFrom lists the topics from a name on, by name.
func (im *Image) TopicsFrom(name string) iter.Seq[*Topic] {
	i, _ := slices.BinarySearchFunc(im.byName, name, cmpTopicName)
	return slices.Values(im.byName[i:])
}

// NumTopics is how many topics there are.
func (im *Image) NumTopics() int { return len(im.byName) }

// TopicConfig is a topic's own settings, nil if it has none.
func (im *Image) TopicConfig(name string) map[string]string { return find(im.topics, name) }

// BrokerConfig is a broker's settings, or with the empty name those of all
// brokers; nil if there are none.
func (im *Image) BrokerConfig(id string) map[string]string { return find(im.config, id) }

func find(all []named, name string) map[string]string {
	if i, ok := slices.BinarySearchFunc(all, name, cmpNamed); ok {
		return all[i].values
	}
	return nil
}

func cmpBrokerID(b *Broker, id int32) int    { return int(b.ID) - int(id) }
func cmpTopicName(t *Topic, name string) int { return strings.Compare(t.Name, name) }
func cmpTopicID(t *Topic, id [16]byte) int   { return bytes.Compare(t.ID[:], id[:]) }
func cmpNamed(n named, name string) int      { return strings.Compare(n.name, name) }
