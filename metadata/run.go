package metadata

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/metadata/controller"
	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

func (m *Metadata) now() int64 { return clock.Millis(m.o.Clock) }

// Run registers the broker, makes it controller, brings its partitions online
// and then works until ctx ends. An error means that the broker has lost its
// place and must stop.
func (m *Metadata) Run(ctx context.Context) error {
	defer close(m.stopped)
	err := m.start(ctx)
	if err == nil {
		close(m.ready)
		err = m.loop(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (m *Metadata) loop(ctx context.Context) error {
	for {
		for len(m.later) > 0 {
			f := m.later[0]
			m.later = m.later[1:]
			if err := f(ctx); err != nil {
				return err
			}
		}
		select {
		case f := <-m.work:
			if err := f(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// start takes the steps of Kafka's broker and controller start, in order.
func (m *Metadata) start(ctx context.Context) error {
	begin := m.o.Clock.Now()
	id, err := ClusterID(ctx, m.o.Store, "")
	if err != nil {
		return err
	}
	if err := store.Ensure(ctx, m.o.Store, znode.PersistentPaths()...); err != nil {
		return fmt.Errorf("make the znodes that must be there: %w", err)
	}
	if err := m.register(ctx); err != nil {
		return err
	}
	epoch, version, err := m.elect(ctx)
	if err != nil {
		return err
	}
	m.machine = controller.New(m.o.BrokerID, epoch, version)
	m.edit(func(e *editor) { e.SetCluster(id, m.o.BrokerID) })
	if err := m.load(ctx); err != nil {
		return err
	}
	m.machine.Apply(controller.BrokersChanged{Brokers: []*controller.Broker{{
		ID: m.o.BrokerID, Epoch: m.BrokerEpoch(), Endpoints: m.o.Endpoints, Rack: m.o.Rack,
	}}})
	m.machine.BrokerStarted(m.o.BrokerID)
	if err := m.bringOnline(ctx); err != nil {
		return err
	}
	im := m.Image()
	m.log.Info("this broker is the controller", zap.Int32("brokerId", m.o.BrokerID), zap.Int64("brokerEpoch", m.BrokerEpoch()),
		zap.Int32("controllerEpoch", epoch), zap.Int("topics", im.NumTopics()), zap.Duration("took", m.o.Clock.Now().Sub(begin)))
	return nil
}

// write does what the machine decided, in one commit, and lets it take in what
// succeeded. Each write has its own error; err is the failure of all.
func (m *Metadata) write(ctx context.Context, writes []controller.Write) (failed []error, err error) {
	if len(writes) == 0 {
		return nil, nil
	}
	txns := make([][]store.Op, len(writes))
	for i := range writes {
		txns[i] = writes[i].Ops
	}
	// A write that was begun is finished, so that memory and znodes agree.
	outcomes, err := m.o.Store.Pipeline(context.WithoutCancel(ctx), txns)
	if err != nil {
		return nil, err
	}
	failed = make([]error, len(writes))
	for i, o := range outcomes {
		if o.Err == nil {
			m.machine.Apply(writes[i].Change)
			continue
		}
		var op *store.OpError
		if errors.As(o.Err, &op) && op.Path == znode.ControllerEpochPath {
			return nil, fmt.Errorf("another broker has become controller: %w", o.Err)
		}
		failed[i] = o.Err
	}
	return failed, nil
}

// unclean tells whether a topic may elect leaders that are not in sync.
func (m *Metadata) unclean(topic string) bool {
	im := m.Image()
	return m.o.Static.Topic(m.dynamic(), im.TopicConfig(topic)).UncleanLeaderElection
}

// bringOnline gives partitions the leaders they can have, and tells the brokers
// what they have not been told.
func (m *Metadata) bringOnline(ctx context.Context, topics ...string) error {
	failed, err := m.write(ctx, m.machine.BringOnline(m.unclean, topics...))
	if err != nil {
		return err
	}
	for _, err := range failed {
		if err != nil && !errors.Is(err, store.ErrNodeExists) {
			m.log.Error("a partition's state could not be written", zap.Error(err))
		}
	}
	return m.tell(ctx)
}
