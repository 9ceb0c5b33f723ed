package replication

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/replication/partition"
	"barnabas/storage"
)

// order is what a LeaderAndIsr request says of one partition.
type order struct {
	topic   string
	id      [16]byte
	say     *kmsg.LeaderAndISRRequestTopicPartition
	part    *Partition
	created bool // part is new, and in the directory only if the order succeeds
	code    int16
}

// LeaderAndISR takes the controller's word on who leads which partition (API 4,
// versions 0-7). Logs that are missing are created. It returns when the new
// roles are in force.
//
// Refused as a whole: a controller epoch that is over (STALE_CONTROLLER_EPOCH),
// a broker epoch of an earlier life (STALE_BROKER_EPOCH). Refused by partition:
// a leader epoch that is not newer (STALE_CONTROLLER_EPOCH), a partition that is
// not assigned to this broker (UNKNOWN_TOPIC_OR_PARTITION), another topic id
// than the log's (INCONSISTENT_TOPIC_ID), a failed directory (KAFKA_STORAGE_ERROR).
func (m *Manager) LeaderAndISR(req *kmsg.LeaderAndISRRequest) *kmsg.LeaderAndISRResponse {
	resp := kmsg.NewPtrLeaderAndISRResponse()
	resp.Version = req.Version
	m.control.Lock()
	defer m.control.Unlock()
	if err := m.fencedLocked(req.ControllerEpoch, req.BrokerEpoch); err != nil {
		resp.ErrorCode = err.Code
		return resp
	}
	orders := ordersOf(req)
	m.prepareLocked(orders)
	m.obey(orders)
	for i := range orders {
		m.enlistLocked(&orders[i])
	}
	answer(resp, orders)
	return resp
}

// fencedLocked checks the epochs of a control request.
func (m *Manager) fencedLocked(controllerEpoch int32, brokerEpoch int64) *kerr.Error {
	if controllerEpoch < m.controllerEpoch {
		return kerr.StaleControllerEpoch
	}
	if ours := m.brokerEpoch.Load(); brokerEpoch != -1 && brokerEpoch < ours {
		return kerr.StaleBrokerEpoch
	}
	m.controllerEpoch = controllerEpoch
	return nil
}

func ordersOf(req *kmsg.LeaderAndISRRequest) []order {
	var orders []order
	for i := range req.PartitionStates {
		s := &req.PartitionStates[i]
		orders = append(orders, order{topic: s.Topic, say: s})
	}
	for i := range req.TopicStates {
		t := &req.TopicStates[i]
		for j := range t.PartitionStates {
			orders = append(orders, order{topic: t.Topic, id: t.TopicID, say: &t.PartitionStates[j]})
		}
	}
	return orders
}

// prepareLocked finds or makes the partitions that orders are about.
func (m *Manager) prepareLocked(orders []order) {
	fresh := make(map[string]*topic)
	for i := range orders {
		o := &orders[i]
		t := m.topics.name(o.topic)
		switch {
		case !slices.Contains(o.say.Replicas, m.brokerID):
			o.code = kerr.UnknownTopicOrPartition.Code
			continue
		case t != nil && t.id != [16]byte{} && o.id != [16]byte{} && t.id != o.id:
			o.code = kerr.InconsistentTopicID.Code
			continue
		case t != nil:
			o.part = t.partition(o.say.Partition)
		case fresh[o.topic] != nil:
			t = fresh[o.topic]
		default:
			t = m.newTopic(o.topic, o.id)
			fresh[t.name] = t
		}
		if o.part == nil {
			o.created = true
			o.part = newPartition(m, t, o.say.Partition, t.name+"-"+strconv.Itoa(int(o.say.Partition)))
		}
	}
}

func (m *Manager) newTopic(name string, id [16]byte) *topic {
	t := &topic{name: name, id: id, figures: m.figures.topic(name)}
	m.configure(t)
	t.parts.Store(new([]atomic.Pointer[Partition]))
	return t
}

// obey applies the orders, several at a time: creating a log waits for the disk.
func (m *Manager) obey(orders []order) {
	workers := min(len(orders), 4*runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(orders)); i = next.Add(1) - 1 {
				if o := &orders[i]; o.part != nil {
					m.apply(o)
				}
			}
		})
	}
	wg.Wait()
}

// apply brings one partition to what the order says.
func (m *Manager) apply(o *order) {
	var k wakes
	p := o.part
	p.role.Lock()
	err := p.applyLocked(o, &k)
	p.role.Unlock()
	if err != nil {
		o.code = controlCode(err)
		m.log.Warn("LeaderAndIsr refused for a partition", zap.String("partition", p.name), zap.Int32("leaderEpoch", o.say.LeaderEpoch), zap.Error(err))
		return
	}
	p.disturb(&k)
	k.run()
	m.log.Debug("partition has a new state", zap.String("partition", p.name), zap.Int32("leader", o.say.Leader),
		zap.Int32("leaderEpoch", o.say.LeaderEpoch), zap.Int32s("isr", o.say.ISR))
}

// applyLocked does it. The caller holds role, and runs k after giving it up.
func (p *Partition) applyLocked(o *order, k *wakes) error {
	s := o.say
	if p.gone == deleted {
		return kerr.UnknownTopicOrPartition
	}
	if s.LeaderEpoch <= p.state.LeaderEpoch() {
		return partition.ErrStaleEpoch // before a log is created for nothing
	}
	if p.log == nil {
		log, err := p.m.logs.Create(storage.TopicPartition{Topic: p.topic.name, Partition: p.number}, o.id, *p.topic.config.Load())
		if err != nil {
			p.gone = offline
			return err
		}
		p.log, p.gone = log, here
	}
	u := &partition.Update{
		Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, PartitionEpoch: s.ZKVersion, Replicas: s.Replicas, ISR: s.ISR,
		LEO: p.log.LogEndOffset(), HW: p.log.HighWatermark(), Now: clock.Millis(p.m.clock),
	}
	if s.Leader == p.m.brokerID {
		// Before the first append of the epoch.
		if err := p.log.AssignEpoch(s.LeaderEpoch, u.LEO); err != nil {
			p.gone, p.log = offline, nil
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.state.Apply(u); err != nil {
		return err
	}
	hw := p.state.HighWatermark()
	p.unread = p.unread[:0]
	p.log.SetHighWatermark(hw)
	p.reachedLocked(delayedProduce, hw, k)
	return nil
}

// enlistLocked makes a new partition findable, and teaches a topic its id.
func (m *Manager) enlistLocked(o *order) {
	if o.part == nil || o.code != 0 && o.code != kerr.KafkaStorageError.Code {
		return
	}
	t := o.part.topic
	known := m.topics.name(t.name)
	if t.id == ([16]byte{}) && o.id != ([16]byte{}) {
		m.rename(t, o.id)
	}
	if !o.created {
		return
	}
	t.reserve(o.part.number + 1)
	t.put(o.part)
	m.figures.added(o.part)
	if known == nil {
		m.topics.set(t)
	}
}

// rename gives a topic that had none its id.
func (m *Manager) rename(t *topic, id [16]byte) {
	t.id = id
	if m.topics.name(t.name) == t {
		m.topics.set(t)
	}
}

// controlCode is the error code of a partition in a control response.
func controlCode(err error) int16 {
	var ke *kerr.Error
	switch {
	case errors.As(err, &ke):
		return ke.Code
	case errors.Is(err, partition.ErrStaleEpoch):
		return kerr.StaleControllerEpoch.Code
	case errors.Is(err, storage.ErrInconsistentTopicID):
		return kerr.InconsistentTopicID.Code
	default:
		return kerr.KafkaStorageError.Code
	}
}

// answer fills the response: by topic id from version 5 on.
func answer(resp *kmsg.LeaderAndISRResponse, orders []order) {
	for i := range orders {
		o := &orders[i]
		p := kmsg.NewLeaderAndISRResponseTopicPartition()
		p.Topic, p.Partition, p.ErrorCode = o.topic, o.say.Partition, o.code
		if resp.Version < 5 {
			resp.Partitions = append(resp.Partitions, p)
			continue
		}
		if n := len(resp.Topics); n == 0 || resp.Topics[n-1].TopicID != o.id {
			t := kmsg.NewLeaderAndISRResponseTopic()
			t.TopicID = o.id
			resp.Topics = append(resp.Topics, t)
		}
		t := &resp.Topics[len(resp.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
}
