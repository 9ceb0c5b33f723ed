package metadata

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"barnabas/metadata/controller"
	"barnabas/metadata/image"
)

// DeleteTopics deletes topics, each on its own, and waits until they are gone,
// but no longer than timeout. The errors, one a topic: nil,
// UNKNOWN_TOPIC_OR_PARTITION, or REQUEST_TIMED_OUT (the topic is going to be
// deleted). A name may be there more than once.
func (m *Metadata) DeleteTopics(ctx context.Context, names []string, timeout time.Duration) ([]error, error) {
	out := make([]error, len(names))
	var queued []int // of names
	gone, err := m.steps(ctx, func(ctx context.Context) (next func(context.Context) error, err error) {
		if queued, err = m.queueDeletions(ctx, names, out); err != nil || len(queued) == 0 {
			return nil, err
		}
		return m.tell, nil
	})
	if err != nil {
		return nil, err
	}
	return out, m.waitOnline(ctx, timeout, gone, func(im *image.Image) (all bool) {
		all = true
		for _, i := range queued {
			out[i] = nil
			if im.Topic(names[i]) != nil || timeout <= 0 {
				out[i], all = kerr.RequestTimedOut, false
			}
		}
		return all
	})
}

func (m *Metadata) queueDeletions(ctx context.Context, names []string, out []error) ([]int, error) {
	var queued []int
	var writes []controller.Write
	asked := make(map[string]bool)
	for i, name := range names {
		t := m.machine.Topic(name)
		if t == nil {
			out[i] = kerr.UnknownTopicOrPartition
			continue
		}
		queued = append(queued, i)
		if !t.Deleting && !asked[name] {
			asked[name] = true
			writes = append(writes, m.machine.QueueDeletion(name))
			m.log.Info("topic is going to be deleted", zap.String("topic", name))
		}
	}
	failed, err := m.write(ctx, writes)
	if err != nil {
		return nil, err
	}
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return queued, nil
}
