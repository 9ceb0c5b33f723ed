package metadata

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"barnabas/config"
	"barnabas/metadata/controller"
	"barnabas/metadata/image"
	"barnabas/metadata/znode"
)

// NewTopic is a topic to be created.
type NewTopic struct {
	Name string
	// Partitions and ReplicationFactor are -1 for the broker's defaults.
	Partitions        int32
	ReplicationFactor int32
	// Assignment is the replicas of each partition, if they are not to be chosen.
	Assignment map[int32][]int32
	// Config is its own settings.
	Config map[string]string
	// NullConfigs are settings that were given without a value, which is refused.
	NullConfigs []string
}

// CreatedTopic is what became of one.
type CreatedTopic struct {
	// Err is a *controller.Refusal, REQUEST_TIMED_OUT (the topic is there, its
	// partitions are not all led yet), or a failure.
	Err error
	// ID is zero if the topic was not created.
	ID                [16]byte
	Partitions        int32
	ReplicationFactor int32
}

// creation is a topic on its way.
type creation struct {
	topic      controller.NewTopic
	assignment map[int32][]int32
	out        *CreatedTopic
}

// CreateTopics creates topics, each on its own, and waits until their
// partitions are led and Image shows it, but no longer than timeout. With a
// timeout of 0 or less it only waits until the topics are durable. Every name
// must be there once. An error is about all.
func (m *Metadata) CreateTopics(ctx context.Context, topics []NewTopic, timeout time.Duration, validateOnly bool) ([]CreatedTopic, error) {
	out := make([]CreatedTopic, len(topics))
	var made []creation
	online, err := m.steps(ctx, func(ctx context.Context) (next func(context.Context) error, err error) {
		if made, err = m.createTopics(ctx, topics, out, validateOnly); err != nil || len(made) == 0 {
			return nil, err
		}
		return func(ctx context.Context) error { return m.bringOnline(ctx, namesOf(made)...) }, nil
	})
	if err != nil {
		return nil, err
	}
	return out, m.waitOnline(ctx, timeout, online, func(im *image.Image) (all bool) {
		all = true
		for i := range made {
			made[i].out.Err = nil
			if !m.led(im, made[i].topic.Name, len(made[i].assignment)) || timeout <= 0 {
				made[i].out.Err, all = kerr.RequestTimedOut, false
			}
		}
		return all
	})
}

func namesOf(made []creation) []string {
	names := make([]string, len(made))
	for i := range made {
		names[i] = made[i].topic.Name
	}
	return names
}

// led reports whether the first n partitions of a topic have leaders.
func (m *Metadata) led(im *image.Image, topic string, n int) bool {
	t := im.Topic(topic)
	return t != nil && len(t.Partitions) >= n && !slices.ContainsFunc(t.Partitions[:n], func(p image.Partition) bool { return p.Leader < 0 })
}

// waitOnline waits until done and then, if judge says that something is
// missing, until the time is up. judge notes what is missing when it ends.
func (m *Metadata) waitOnline(ctx context.Context, timeout time.Duration, done <-chan struct{}, judge func(*image.Image) bool) error {
	if timeout <= 0 {
		judge(m.Image())
		return nil
	}
	timer := m.o.Clock.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-done:
		if judge(m.Image()) {
			return nil
		}
	case <-timer.C:
		judge(m.Image())
		return nil
	case <-m.stopped:
		return ErrStopped
	case <-ctx.Done():
		return gone(ctx)
	}
	select {
	case <-timer.C:
		judge(m.Image())
		return nil
	case <-m.stopped:
		return ErrStopped
	case <-ctx.Done():
		return gone(ctx)
	}
}

// createTopics judges topics and writes those that are good, in one commit.
func (m *Metadata) createTopics(ctx context.Context, topics []NewTopic, out []CreatedTopic, validateOnly bool) ([]creation, error) {
	var made []creation
	var writes []controller.Write
	var ends []int // where a topic's writes end
	for i := range topics {
		c, err := m.judge(&topics[i], namesOf(made))
		if out[i].Err = err; err != nil {
			continue
		}
		out[i].Partitions, out[i].ReplicationFactor = int32(len(c.assignment)), int32(len(c.assignment[0]))
		if validateOnly {
			continue
		}
		c.out = &out[i]
		_, there, err := m.o.Store.Exists(ctx, znode.EntityConfigPath(znode.Topics, c.topic.Name), nil)
		if err != nil {
			return nil, err
		}
		made = append(made, c)
		writes = append(writes, m.machine.CreateTopic(&c.topic, c.assignment, there)...)
		ends = append(ends, len(writes))
	}
	failed, err := m.write(ctx, writes)
	if err != nil {
		return nil, err
	}
	good := made[:0]
	start := 0
	for i, c := range made {
		if err := errors.Join(failed[start:ends[i]]...); err != nil {
			c.out.Err = err
		} else {
			c.out.ID = c.topic.ID
			good = append(good, c)
			m.log.Info("topic created", zap.String("topic", c.topic.Name), zap.String("topicId", znode.FormatTopicID(c.topic.ID)),
				zap.Int32("partitions", c.out.Partitions), zap.Int32("replicationFactor", c.out.ReplicationFactor))
		}
		start = ends[i]
	}
	m.edit(func(e *editor) {
		for i := range good {
			e.SetTopicConfig(good[i].topic.Name, good[i].topic.Config)
		}
	})
	return good, nil
}

// judge checks a topic in Kafka's order and gives its replicas. planned are the
// topics before it in the same call.
func (m *Metadata) judge(t *NewTopic, planned []string) (creation, error) {
	refuse := func(code *kerr.Error, message string) (creation, error) {
		return creation{}, &controller.Refusal{Code: code, Message: message}
	}
	switch {
	case m.Image().Topic(t.Name) != nil:
		return creation{}, controller.AlreadyExists(t.Name)
	case len(t.NullConfigs) > 0:
		return refuse(kerr.InvalidConfig, "Null value not supported for topic configs: "+strings.Join(t.NullConfigs, ","))
	case len(t.Assignment) > 0 && (t.Partitions != -1 || t.ReplicationFactor != -1):
		return refuse(kerr.InvalidRequest, "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the same time.")
	}
	settings := m.o.Static.BrokerAt(m.dynamic())
	c := creation{topic: controller.NewTopic{
		Name: t.Name, ID: randomID(), Partitions: t.Partitions, ReplicationFactor: t.ReplicationFactor, Assignment: t.Assignment,
		Config: maps.Clone(t.Config), Spread: m.spread(),
	}}
	if t.Partitions == -1 {
		c.topic.Partitions = settings.NumPartitions
	}
	if t.ReplicationFactor == -1 {
		c.topic.ReplicationFactor = int32(settings.DefaultReplicationFactor)
	}
	var err error
	if c.assignment, err = m.machine.Assign(&c.topic); err != nil {
		return creation{}, err
	}
	if err := m.machine.CheckNew(t.Name, c.assignment, planned...); err != nil {
		return creation{}, err
	}
	if err := m.o.Static.ValidateTopic(m.dynamic(), c.topic.Config); err != nil {
		var invalid *config.Invalid
		if errors.As(err, &invalid) {
			return refuse(kerr.InvalidConfig, invalid.Message)
		}
		return creation{}, err
	}
	return c, nil
}

// spread is where the placement of a new topic begins: at random.
func (m *Metadata) spread() controller.Spread {
	n := max(m.Image().NumBrokers(), 1)
	return controller.Spread{Start: rand.IntN(n), Shift: rand.IntN(n)} //nolint:gosec // only for an even spread
}
