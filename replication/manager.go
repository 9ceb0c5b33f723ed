package replication

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/internal/timer"
	"barnabas/protocol/record"
	"barnabas/replication/partition"
	"barnabas/storage"
)

// TopicSettings are the settings of a topic that act here. A value is immutable.
type TopicSettings struct {
	// MaxMessageBytes is max.message.bytes, SegmentBytes segment.bytes.
	MaxMessageBytes, SegmentBytes int32
	// MinISR is min.insync.replicas.
	MinISR int
	// TimestampType is message.timestamp.type; BeforeMaxMs and AfterMaxMs are
	// message.timestamp.before.max.ms and after.max.ms.
	TimestampType           record.TimestampType
	BeforeMaxMs, AfterMaxMs int64
	// Compact and Delete are the words of cleanup.policy.
	Compact, Delete bool
	// Compression is compression.type with its level.
	Compression record.Compression
}

// Options are what a Manager is built from.
type Options struct {
	// Logs are the log directories. Needed.
	Logs *storage.Manager
	// BrokerID is this broker's id.
	BrokerID int32
	// LogConfig gives the settings of a topic's logs, Topic its other ones.
	// Both are needed, are asked again at ConfigChanged, and may be called from
	// any goroutine.
	LogConfig func(topic string) storage.Config
	Topic     func(topic string) TopicSettings
	// FetchMaxBytes is fetch.max.bytes. 0 is Kafka's 57,671,680.
	FetchMaxBytes int
	// ReplicaLagTimeMax is replica.lag.time.max.ms. 0 is Kafka's 30 seconds.
	ReplicaLagTimeMax time.Duration
	// Propose sends an ISR change to the controller. It must not block. While
	// it is nil, changes are not proposed.
	Propose func(p *Partition, change *partition.Proposal)
	// Clock tells the time; nil is the system's.
	Clock clock.Clock
	// Logger takes one line a change of state; nil is silence.
	Logger *zap.Logger
	// Metrics takes the figures; nil keeps them to themselves.
	Metrics *metrics.Registry
}

// Manager holds this broker's replicas. Create it with [New]; nothing waits
// with a deadline until [Manager.Run] runs.
type Manager struct {
	logs      *storage.Manager
	brokerID  int32
	logConfig func(string) storage.Config
	settings  func(string) TopicSettings
	propose   func(*Partition, *partition.Proposal)
	clock     clock.Clock
	log       *zap.Logger
	metrics   *metrics.Registry
	lagMaxMs  int64
	fetchMax  int

	topics  *directory
	wheel   *timer.Wheel
	waiting [purposes]atomic.Int64
	held    atomic.Bool // see HoldHighWatermark
	figures *figures

	// control serves the controller's requests one at a time and guards what
	// follows, and every write to topics.
	control         sync.Mutex
	controllerEpoch int32
	brokerEpoch     atomic.Int64 // -1 while this broker is not registered
}

// tick is how exact deadlines in the purgatory are.
const tick = 10 * time.Millisecond

// New makes a manager that holds no partition yet.
func New(o Options) *Manager {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.FetchMaxBytes == 0 {
		o.FetchMaxBytes = 55 << 20
	}
	if o.ReplicaLagTimeMax == 0 {
		o.ReplicaLagTimeMax = 30 * time.Second
	}
	m := &Manager{
		logs: o.Logs, brokerID: o.BrokerID, logConfig: o.LogConfig, settings: o.Topic, propose: o.Propose,
		clock: o.Clock, log: o.Logger, metrics: o.Metrics,
		lagMaxMs: o.ReplicaLagTimeMax.Milliseconds(), fetchMax: o.FetchMaxBytes,
		topics: newDirectory(), wheel: timer.New(o.Clock, tick),
	}
	m.brokerEpoch.Store(-1)
	m.figures = newFigures(m)
	return m
}

// Run serves deadlines until ctx ends. Shrinking the ISR on time is not its
// work yet: nothing proposes ISR changes while a cluster has one broker.
func (m *Manager) Run(ctx context.Context) error { return m.wheel.Run(ctx) }

// SetBrokerEpoch tells under which epoch this broker is registered (the czxid
// of its znode). Orders meant for an earlier life are refused from then on.
func (m *Manager) SetBrokerEpoch(epoch int64) { m.brokerEpoch.Store(epoch) }

// ConfigChanged asks for a topic's settings again and puts them in force on its
// open logs; with "", for every topic's.
func (m *Manager) ConfigChanged(topic string) {
	if topic != "" {
		if t := m.topics.name(topic); t != nil {
			m.configChanged(t)
		}
		return
	}
	for t := range m.topics.all {
		m.configChanged(t)
	}
}

// configure asks for a topic's settings.
func (m *Manager) configure(t *topic) {
	s, c := m.settings(t.name), m.logConfig(t.name)
	t.settings.Store(&s)
	t.config.Store(&c)
}

func (m *Manager) configChanged(t *topic) {
	m.configure(t)
	m.logs.SetConfig(t.name, *t.config.Load())
	s := t.settings.Load()
	parts := *t.parts.Load()
	for i := range parts {
		if p := parts[i].Load(); p != nil {
			p.setMinISR(s.MinISR)
		}
	}
}

func (p *Partition) setMinISR(n int) {
	var k wakes
	p.role.Lock()
	p.mu.Lock()
	if moved := p.state.SetMinISR(n, clock.Millis(p.m.clock)); moved && p.log != nil && !p.m.held.Load() {
		p.movedLocked(true, 0, 0, &k)
	}
	p.mu.Unlock()
	p.role.Unlock()
	k.run()
}

// HoldHighWatermark is a test's seam: appends no longer move high watermarks
// until release is called, as if a follower of every partition did not answer.
func (m *Manager) HoldHighWatermark() (release func()) {
	m.held.Store(true)
	return func() {
		m.held.Store(false)
		for p := range m.Partitions {
			p.catchUp()
		}
	}
}

// catchUp tells the replica state where the log ends.
func (p *Partition) catchUp() {
	var k wakes
	p.role.RLock()
	if p.leadsLocked() == nil {
		p.mu.Lock()
		_, _ = p.state.Appended(p.log.LogEndOffset(), clock.Millis(p.m.clock)) // it leads: no error
		p.movedLocked(p.state.HighWatermark() > p.log.HighWatermark(), 0, 0, &k)
		p.mu.Unlock()
	}
	p.role.RUnlock()
	k.run()
}
