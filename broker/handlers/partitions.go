package handlers

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/metadata/image"
)

// What handlers of partition APIs share.

// adminClientID is the client id that Kafka's own admin code uses; it may write
// to internal topics.
const adminClientID = "__admin_client"

// isInternalTopic reports whether a topic is the broker's own.
func isInternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state"
}

// image is the cluster as this broker knows it now. Without metadata, as in
// tests of these APIs, nothing is known.
func (h *Handlers) image() *image.Image {
	if h.meta == nil {
		return new(image.Image)
	}
	return h.meta.Image()
}

// absent is the error of a partition that this broker does not hold.
func (h *Handlers) absent(t topicKey, byID bool, partition int32) *kerr.Error {
	return absentFrom(h.image(), t, byID, partition)
}

// absentFrom tells another broker's partition from nobody's.
func absentFrom(im *image.Image, t topicKey, byID bool, partition int32) *kerr.Error {
	topic := im.Topic(t.name)
	if byID {
		topic = im.TopicByID(t.id)
	}
	switch {
	case topic == nil && byID:
		return kerr.UnknownTopicID
	case partitionOf(topic, partition) == nil:
		return kerr.UnknownTopicOrPartition
	}
	return kerr.NotLeaderForPartition
}

// partitionOf is a topic's partition, nil if there is none.
func partitionOf(t *image.Topic, partition int32) *image.Partition {
	if t == nil || partition < 0 || int(partition) >= len(t.Partitions) || !t.Partitions[partition].Known() {
		return nil
	}
	return &t.Partitions[partition]
}

// leaderHint is where a partition's leader is (KIP-951).
type leaderHint struct {
	leader, epoch int32
	known         bool // and it has an endpoint on the client's listener
	host          string
	port          int32
	rack          *string
}

// partitionCode is the code of an error of one partition. UNKNOWN_SERVER_ERROR
// may be an answer here, not only a bug.
func (h *Handlers) partitionCode(err error, doing string) int16 {
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke.Code
	}
	return h.errorCode(err, doing)
}

// leaderHint says who leads a partition now, as far as this broker knows, and
// where a client of the listener reaches it.
func (h *Handlers) leaderHint(listener, topic string, partition int32) (leaderHint, bool) {
	return hintFrom(h.image(), listener, topic, partition)
}

func hintFrom(im *image.Image, listener, topic string, partition int32) (leaderHint, bool) {
	p := partitionOf(im.Topic(topic), partition)
	if p == nil {
		return leaderHint{}, false
	}
	hint := leaderHint{leader: p.Leader, epoch: p.LeaderEpoch}
	b := im.Broker(p.Leader)
	if b == nil {
		return hint, true
	}
	e, ok := b.Endpoint(listener)
	hint.known, hint.host, hint.port = ok, e.Host, e.Port
	if b.Rack != "" {
		hint.rack = &b.Rack
	}
	return hint, true
}
