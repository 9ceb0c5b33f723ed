package replication

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/storage"
)

// The leader epochs of StopReplica that are none.
const (
	epochDuringDelete = -2 // the topic is being deleted
	epochNone         = -1 // an old controller
)

// stopOrder is what a StopReplica request says of one partition.
type stopOrder struct {
	topic  string
	number int32
	epoch  int32
	delete bool
}

// StopReplica ends this broker's part in partitions (API 5, versions 0-4): they
// stop serving, waiters are woken, and with delete set the log goes. It returns
// when that is done; files are removed later, in the background.
//
// Refused as a whole as LeaderAndISR; by partition: a leader epoch that is over
// (FENCED_LEADER_EPOCH), a failed directory (KAFKA_STORAGE_ERROR).
func (m *Manager) StopReplica(req *kmsg.StopReplicaRequest) *kmsg.StopReplicaResponse {
	resp := kmsg.NewPtrStopReplicaResponse()
	resp.Version = req.Version
	m.control.Lock()
	defer m.control.Unlock()
	brokerEpoch := req.BrokerEpoch
	if req.Version < 1 {
		brokerEpoch = -1
	}
	if err := m.fencedLocked(req.ControllerEpoch, brokerEpoch); err != nil {
		resp.ErrorCode = err.Code
		return resp
	}
	var removed []*Partition
	for _, o := range stopOrders(req) {
		p := kmsg.NewStopReplicaResponsePartition()
		p.Topic, p.Partition = o.topic, o.number
		if err := m.stopLocked(o, &removed); err != nil {
			p.ErrorCode = controlCode(err)
			m.log.Warn("StopReplica refused for a partition", zap.String("topic", o.topic), zap.Int32("partition", o.number), zap.Error(err))
		}
		resp.Partitions = append(resp.Partitions, p)
	}
	m.figures.removed(removed)
	return resp
}

func stopOrders(req *kmsg.StopReplicaRequest) []stopOrder {
	var orders []stopOrder
	for i := range req.Topics {
		t := &req.Topics[i]
		switch {
		case req.Version >= 3:
			for _, s := range t.PartitionStates {
				orders = append(orders, stopOrder{t.Topic, s.Partition, s.LeaderEpoch, s.Delete})
			}
		case req.Version >= 1:
			for _, n := range t.Partitions {
				orders = append(orders, stopOrder{t.Topic, n, epochNone, req.DeletePartitions})
			}
		default:
			orders = append(orders, stopOrder{t.Topic, t.Partition, epochNone, req.DeletePartitions})
		}
	}
	return orders
}

func (m *Manager) stopLocked(o stopOrder, removed *[]*Partition) error {
	tp := storage.TopicPartition{Topic: o.topic, Partition: o.number}
	p := m.Partition(o.topic, o.number)
	if p == nil {
		if o.delete && m.logs.Get(tp) != nil { // from before a restart
			return m.logs.Delete(tp)
		}
		return nil
	}
	var k wakes
	p.role.Lock()
	if o.epoch != epochDuringDelete && o.epoch != epochNone && o.epoch < p.state.LeaderEpoch() {
		p.role.Unlock()
		return kerr.FencedLeaderEpoch
	}
	p.mu.Lock()
	p.state.Stop()
	p.unread = nil
	p.mu.Unlock()
	if o.delete {
		p.gone, p.log = deleted, nil
	}
	p.role.Unlock()
	if !o.delete {
		p.disturb(&k)
		k.run()
		return nil
	}
	*removed = append(*removed, p)
	if p.topic.drop(p); p.topic.count == 0 {
		m.topics.remove(p.topic)
	}
	err := m.logs.Delete(tp)
	p.disturb(&k)
	k.run()
	m.log.Debug("partition deleted", zap.String("partition", p.name))
	return err
}
