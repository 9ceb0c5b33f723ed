package metadata

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/config"
	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/metadata/controller"
	"barnabas/metadata/image"
	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// Endpoint is where clients reach this broker by one listener.
type Endpoint = znode.Endpoint

// LocalBroker takes the controller's orders for this broker's replicas. Both
// calls return when the orders are in force.
type LocalBroker interface {
	LeaderAndISR(*kmsg.LeaderAndISRRequest) *kmsg.LeaderAndISRResponse
	StopReplica(*kmsg.StopReplicaRequest) *kmsg.StopReplicaResponse
}

// Options are what a Metadata is built from. All are needed but Rack, OnConfig
// and Metrics.
type Options struct {
	Store    store.Store
	BrokerID int32
	// Endpoints are advertised, in the order of the listeners.
	Endpoints []Endpoint
	Rack      string
	Local     LocalBroker
	Static    *config.Static
	// OnConfig is called after Image shows changed settings: kind is topics or
	// brokers, name the entity's ("<default>" for all brokers). It must not call
	// Metadata, but for Image.
	OnConfig func(kind, name string)
	Clock    clock.Clock
	Logger   *zap.Logger
	Metrics  *metrics.Registry
}

// ErrStopped: the broker is stopping. Clients are told NOT_CONTROLLER, and ask
// another broker or again.
var ErrStopped = fmt.Errorf("the metadata has stopped: %w", kerr.NotController)

// gone is the error of a caller who does not wait any longer.
func gone(ctx context.Context) error {
	return fmt.Errorf("%w: %w", kerr.RequestTimedOut, context.Cause(ctx))
}

// Metadata is the broker's place in the cluster.
type Metadata struct {
	o     Options
	log   *zap.Logger
	image atomic.Pointer[image.Image]
	epoch atomic.Int64 // of this broker

	work    chan func(context.Context) error
	ready   chan struct{}
	stopped chan struct{}

	producers producerIDs

	// The goroutine of Run alone uses these.
	machine *controller.Machine
	later   []func(context.Context) error // to be done before the next command
	changes []configChange                // notifications that are still there
}

// New builds it. Nothing happens until Run.
func New(o Options) *Metadata {
	if o.OnConfig == nil {
		o.OnConfig = func(string, string) {}
	}
	m := &Metadata{
		o: o, log: o.Logger, work: make(chan func(context.Context) error),
		ready: make(chan struct{}), stopped: make(chan struct{}),
	}
	m.epoch.Store(-1)
	m.image.Store(&image.Image{ControllerID: -1})
	m.figures()
	return m
}

// Image is the newest snapshot of the cluster, never nil.
func (m *Metadata) Image() *image.Image { return m.image.Load() }

// BrokerEpoch is the epoch of this broker's registration, -1 before it.
func (m *Metadata) BrokerEpoch() int64 { return m.epoch.Load() }

// Ready is closed once the broker is registered, a controller is there, and the
// broker leads what it leads.
func (m *Metadata) Ready() <-chan struct{} { return m.ready }

// do has f run by the goroutine of Run and returns when it has begun. f's error
// is fatal.
func (m *Metadata) do(ctx context.Context, f func(context.Context) error) error {
	select {
	case m.work <- f:
		return nil
	case <-m.stopped:
		return ErrStopped
	case <-ctx.Done():
		return gone(ctx)
	}
}

// wait waits for a channel to be closed.
func (m *Metadata) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-m.stopped:
		return ErrStopped
	case <-ctx.Done():
		return gone(ctx)
	}
}

// steps has a command run in two steps: first, and then, before any other
// command, what first returns. It returns when first is done; done is closed when
// all is.
func (m *Metadata) steps(ctx context.Context, first func(context.Context) (next func(context.Context) error, err error)) (done <-chan struct{}, err error) {
	begun, all := make(chan struct{}), make(chan struct{})
	var fatal error
	err = m.do(ctx, func(ctx context.Context) error {
		defer close(begun)
		var next func(context.Context) error
		if next, fatal = first(ctx); fatal != nil || next == nil {
			close(all)
			return fatal
		}
		m.later = append(m.later, func(ctx context.Context) error {
			defer close(all)
			return next(ctx)
		})
		return nil
	})
	if err == nil {
		err = m.wait(ctx, begun)
	}
	if err != nil {
		return nil, err
	}
	return all, fatal
}

// dynamic is what the metadata says about this broker's settings.
func (m *Metadata) dynamic() config.Dynamic {
	im := m.Image()
	return config.Dynamic{Broker: im.BrokerConfig(decimal(m.o.BrokerID)), Default: im.BrokerConfig("")}
}

// figures are the controller's metrics under the names that the JMX exporter
// gives Kafka's.
func (m *Metadata) figures() {
	gauge := func(name, help string, value func(*image.Image) int) {
		m.o.Metrics.GaugeFunc("kafka_controller_kafkacontroller_"+name, help, func() float64 { return float64(value(m.Image())) })
	}
	partitions := func(counts func(*image.Partition) bool) func(*image.Image) int {
		return func(im *image.Image) (n int) {
			for t := range im.Topics() {
				for i := range t.Partitions {
					if counts(&t.Partitions[i]) {
						n++
					}
				}
			}
			return n
		}
	}
	gauge("activecontrollercount", "1 if this broker is the controller.", func(im *image.Image) int {
		if im.ControllerID == m.o.BrokerID {
			return 1
		}
		return 0
	})
	gauge("activebrokercount", "Brokers that are alive.", (*image.Image).NumBrokers)
	gauge("globaltopiccount", "Topics.", (*image.Image).NumTopics)
	gauge("globalpartitioncount", "Partitions.", partitions(func(*image.Partition) bool { return true }))
	gauge("offlinepartitionscount", "Partitions without a leader.", partitions(func(p *image.Partition) bool { return p.Leader < 0 }))
	gauge("preferredreplicaimbalancecount", "Partitions whose leader is not the first replica.", partitions(func(p *image.Partition) bool {
		return p.Known() && len(p.Replicas) > 0 && p.Leader != p.Replicas[0]
	}))
}
