package znode

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// TopicID is a topic's id; the zero value is none.
type TopicID = [16]byte

// FormatTopicID gives an id as Kafka writes it: 22 characters of base64url.
func FormatTopicID(id TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseTopicID reads an id.
func ParseTopicID(s string) (TopicID, error) {
	var id TopicID
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return TopicID{}, fmt.Errorf("%w: topic id %q", ErrMalformed, s)
	}
	copy(id[:], b)
	return id, nil
}

// Topic is the assignment of a topic's partitions, at /brokers/topics/T.
type Topic struct {
	// ID is zero if the topic's znode is from before Kafka 2.8.
	ID TopicID
	// Partitions are the replicas by partition; while they are being reassigned
	// the target first, then those that leave.
	Partitions map[int32][]int32
	// Adding and Removing are what a reassignment in progress adds and removes.
	Adding, Removing map[int32][]int32
}

// Encode writes the document, version 3.
func (t *Topic) Encode() []byte {
	b := make([]byte, 0, 96+16*len(t.Partitions))
	b = append(b, `{"version":3`...)
	if t.ID != (TopicID{}) {
		b = append(b, `,"topic_id":"`...)
		b = append(b, FormatTopicID(t.ID)...)
		b = append(b, '"')
	}
	b = append(b, `,"partitions":`...)
	b = appendPartitions(b, t.Partitions)
	b = append(b, `,"adding_replicas":`...)
	b = appendPartitions(b, t.Adding)
	b = append(b, `,"removing_replicas":`...)
	b = appendPartitions(b, t.Removing)
	return append(b, '}')
}

// DecodeTopic reads the document, of any version. A replica list that is null
// counts as empty.
func DecodeTopic(data []byte) (*Topic, error) {
	var doc struct {
		TopicID    *string           `json:"topic_id"`
		Partitions map[int32][]int32 `json:"partitions"`
		Adding     map[int32][]int32 `json:"adding_replicas"`
		Removing   map[int32][]int32 `json:"removing_replicas"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	t := &Topic{Partitions: doc.Partitions, Adding: doc.Adding, Removing: doc.Removing}
	for _, m := range []map[int32][]int32{t.Partitions, t.Adding, t.Removing} {
		for n := range m {
			if n < 0 {
				return nil, fmt.Errorf("%w: partition %d", ErrMalformed, n)
			}
		}
	}
	if doc.TopicID != nil {
		id, err := ParseTopicID(*doc.TopicID)
		if err != nil {
			return nil, err
		}
		t.ID = id
	}
	return t, nil
}

// Numbers lists the partitions in order.
func (t *Topic) Numbers() []int32 {
	out := make([]int32, 0, len(t.Partitions))
	for n := range t.Partitions {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
