package fetchsession

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Target is one partition to read.
type Target struct {
	Topic     string // "" from version 13 until the caller resolved the id
	TopicID   [16]byte
	Partition int32

	Offset             int64
	LogStart           int64 // the follower's, -1 from a consumer
	MaxBytes           int32
	CurrentLeaderEpoch int32
	LastFetchedEpoch   int32

	// Handle is whatever the caller found under the name. A session keeps it
	// for its next fetch; the caller checks that it is still good.
	Handle any

	slot int32 // in the session
	life uint32
}

// Outcome is what reading a target gave.
type Outcome struct {
	Failed    bool // has an error code
	Preferred bool // sends the client to another replica
	Diverging bool // tells the client to truncate
	HW        int64
	LogStart  int64
	Bytes     int

	// Include is Finish's answer: the response carries this partition.
	Include bool
}

// kind is how a fetch relates to a session.
type kind int8

const (
	sessionless kind = iota
	opening
	incremental
)

// Fetch is one fetch request against the cache. The zero value is ready, and
// may be used again after Finish: its slice is kept.
type Fetch struct {
	// Targets are the partitions to read, in order. The caller may resolve
	// names and handles in place, and must make Topic its own before Finish
	// when it pointed into the request's frame.
	Targets []Target

	cache      *Cache
	session    *session
	kind       kind
	privileged bool
	byID       bool
	index      map[key]int32 // reused; only for requests with many partitions
}

// key names a partition: by topic id if there is one.
type key struct {
	topic     string
	id        [16]byte
	partition int32
}

func keyOf(t *Target, byID bool) key {
	if byID {
		return key{id: t.TopicID, partition: t.Partition}
	}
	return key{topic: t.Topic, partition: t.Partition}
}

// fewTargets is how many targets are searched one by one; above that a map is
// made, so that a request that repeats itself costs no square.
const fewTargets = 16

// Reset drops what the fetch points to but keeps its memory.
func (f *Fetch) Reset() {
	clear(f.Targets)
	clear(f.index)
	*f = Fetch{Targets: f.Targets[:0], index: f.index}
}

// Incremental reports whether the response names only what changed.
func (f *Fetch) Incremental() bool { return f.kind == incremental }

// addAll takes every partition of the request over. One that is named twice
// keeps the first place and takes the last values, as Kafka has it.
func (f *Fetch) addAll(req *kmsg.FetchRequest) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			target := targetOf(t, &t.Partitions[j])
			if at := f.find(&target); at >= 0 {
				f.Targets[at] = target
				continue
			}
			f.Targets = append(f.Targets, target)
			f.note()
		}
	}
}

func targetOf(t *kmsg.FetchRequestTopic, p *kmsg.FetchRequestTopicPartition) Target {
	return Target{
		Topic: t.Topic, TopicID: t.TopicID, Partition: p.Partition,
		Offset: p.FetchOffset, LogStart: p.LogStartOffset, MaxBytes: p.PartitionMaxBytes,
		CurrentLeaderEpoch: p.CurrentLeaderEpoch, LastFetchedEpoch: p.LastFetchedEpoch,
	}
}

func (f *Fetch) find(t *Target) int {
	if len(f.Targets) > fewTargets {
		if at, ok := f.index[keyOf(t, f.byID)]; ok {
			return int(at)
		}
		return -1
	}
	for i := range f.Targets {
		if s := &f.Targets[i]; s.Partition == t.Partition && s.Topic == t.Topic && s.TopicID == t.TopicID {
			return i
		}
	}
	return -1
}

// note keeps the index in step with the target just added.
func (f *Fetch) note() {
	n := len(f.Targets)
	if n <= fewTargets {
		return
	}
	if f.index == nil {
		f.index = make(map[key]int32)
	}
	from := n - 1
	if n == fewTargets+1 {
		from = 0
	}
	for i := from; i < n; i++ {
		f.index[keyOf(&f.Targets[i], f.byID)] = int32(i)
	}
}

// Finish ends the fetch: it marks the outcomes, one a target, that the response
// carries, and returns the response's session id. A session that the request
// asked for begins here, if there is a slot.
func (f *Fetch) Finish(out []Outcome) (sessionID int32) {
	if f.kind == incremental {
		return f.session.finish(f.Targets, out)
	}
	for i := range out {
		out[i].Include = true
	}
	if f.kind == sessionless {
		return 0
	}
	return f.cache.create(f, out)
}

// own makes a target's name independent of the request's frame.
func own(t Target) Target {
	t.Topic = strings.Clone(t.Topic)
	return t
}
