package handlers

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// What handlers of partition APIs share.

// adminClientID is the client id that Kafka's own admin code uses; it may write
// to internal topics.
const adminClientID = "__admin_client"

// isInternalTopic reports whether a topic is the broker's own.
func isInternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state"
}

// absent is the error of a partition that this broker does not hold: another
// broker's, or nobody's.
func (h *Handlers) absent(t topicKey, byID bool, partition int32) *kerr.Error {
	img := h.meta.Image()
	topic := img.Topic(t.name)
	if byID {
		topic = img.TopicByID(t.id)
	}
	switch {
	case topic != nil && partition >= 0 && int(partition) < len(topic.Partitions):
		return kerr.NotLeaderForPartition
	case topic == nil && byID:
		return kerr.UnknownTopicID
	}
	return kerr.UnknownTopicOrPartition
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

// leaderHint says who leads a partition now, as far as this broker knows.
func (h *Handlers) leaderHint(listener, topic string, partition int32) (leaderHint, bool) {
	t := h.meta.Image().Topic(topic)
	if t == nil || partition < 0 || int(partition) >= len(t.Partitions) {
		return leaderHint{}, false
	}
	p := &t.Partitions[partition]
	hint := leaderHint{leader: p.Leader, epoch: p.LeaderEpoch}
	_ = listener
	return hint, true
}
