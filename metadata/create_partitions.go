package metadata

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"barnabas/metadata/controller"
	"barnabas/metadata/image"
)

// Growth is a topic that is to have Count partitions; Assignment is the replicas
// of the new ones, nil to have them chosen.
type Growth = controller.Growth

// CreatePartitions adds partitions to topics, each on its own, and waits as
// CreateTopics does. The errors, one a topic, are as in CreatedTopic. Every topic
// must be there once.
func (m *Metadata) CreatePartitions(ctx context.Context, growths []Growth, timeout time.Duration, validateOnly bool) ([]error, error) {
	out := make([]error, len(growths))
	var grown []int // of growths
	online, err := m.steps(ctx, func(ctx context.Context) (next func(context.Context) error, err error) {
		if grown, err = m.grow(ctx, growths, out, validateOnly); err != nil || len(grown) == 0 {
			return nil, err
		}
		names := make([]string, len(grown))
		for i, g := range grown {
			names[i] = growths[g].Topic
		}
		return func(ctx context.Context) error { return m.bringOnline(ctx, names...) }, nil
	})
	if err != nil {
		return nil, err
	}
	return out, m.waitOnline(ctx, timeout, online, func(im *image.Image) (all bool) {
		all = true
		for _, g := range grown {
			out[g] = nil
			if !m.led(im, growths[g].Topic, int(growths[g].Count)) || timeout <= 0 {
				out[g], all = kerr.RequestTimedOut, false
			}
		}
		return all
	})
}

func (m *Metadata) grow(ctx context.Context, growths []Growth, out []error, validateOnly bool) ([]int, error) {
	var grown []int
	var writes []controller.Write
	for i := range growths {
		added, err := m.machine.CheckGrowth(&growths[i])
		if out[i] = err; err != nil || validateOnly {
			continue
		}
		writes = append(writes, m.machine.Grow(growths[i].Topic, added))
		grown = append(grown, i)
	}
	failed, err := m.write(ctx, writes)
	if err != nil {
		return nil, err
	}
	good := grown[:0]
	for i, g := range grown {
		if failed[i] != nil {
			out[g] = errors.Join(errors.New("grow topic "+growths[g].Topic), failed[i])
			continue
		}
		good = append(good, g)
		m.log.Info("partitions created", zap.String("topic", growths[g].Topic), zap.Int32("partitions", growths[g].Count))
	}
	return good, nil
}
