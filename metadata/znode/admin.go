package znode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// EncodePartitions writes a list of partitions, version 1: what
// /admin/preferred_replica_election and a notification of ISR changes hold.
func EncodePartitions(parts []TopicPartition) []byte {
	if parts == nil {
		parts = []TopicPartition{}
	}
	return encode(struct {
		Version    int              `json:"version"`
		Partitions []TopicPartition `json:"partitions"`
	}{1, parts})
}

// DecodePartitions reads it.
func DecodePartitions(data []byte) ([]TopicPartition, error) {
	var doc struct {
		Partitions []TopicPartition `json:"partitions"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	return doc.Partitions, nil
}

// Reassignment is what /admin/reassign_partitions asks for one partition.
type Reassignment struct {
	TopicPartition
	Replicas []int32 `json:"replicas"`
}

// EncodeReassignments writes /admin/reassign_partitions, sorted.
func EncodeReassignments(all []Reassignment) []byte {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Reassignment) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	if all == nil {
		all = []Reassignment{}
	}
	return encode(struct {
		Version    int            `json:"version"`
		Partitions []Reassignment `json:"partitions"`
	}{1, all})
}

// DecodeReassignments reads it.
func DecodeReassignments(data []byte) ([]Reassignment, error) {
	var doc struct {
		Partitions []Reassignment `json:"partitions"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	return doc.Partitions, nil
}

// LogDirEvent is a notification of a broker's log directories.
type LogDirEvent struct {
	BrokerID int32 `json:"broker"`
	// Event is 1: a directory failed.
	Event int `json:"event"`
}

// Encode writes it, version 1.
func (e *LogDirEvent) Encode() []byte {
	return fmt.Appendf(nil, `{"version":1,"broker":%d,"event":%d}`, e.BrokerID, e.Event)
}

// DecodeLogDirEvent reads it.
func DecodeLogDirEvent(data []byte) (*LogDirEvent, error) {
	doc := LogDirEvent{BrokerID: -1}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.BrokerID < 0 {
		return nil, fmt.Errorf("%w: log directory event %q", ErrMalformed, data)
	}
	return &doc, nil
}
