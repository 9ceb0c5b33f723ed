package controller

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/metadata/znode"
)

// Stopping notes that a broker is about to leave, and gives the writes that move
// what it leads to others and take it out of ISRs. Once they are done, Leave
// answers it. epoch is the broker's own, -1 if it does not say; an error is
// BROKER_NOT_AVAILABLE or STALE_BROKER_EPOCH.
func (m *Machine) Stopping(broker int32, epoch int64) ([]Write, *kerr.Error) {
	b := m.brokers[broker]
	switch {
	case b == nil:
		return nil, kerr.BrokerNotAvailable
	case epoch >= 0 && epoch < b.Epoch:
		return nil, kerr.StaleBrokerEpoch
	}
	m.stopping[broker] = true
	var writes []Write
	m.replicasOf(broker, func(t *Topic, n int32, p *Partition) {
		if len(p.Replicas) < 2 || !slices.Contains(p.State.ISR, broker) {
			return
		}
		if p.State.Leader == broker {
			alive := func(b int32) bool { return m.alive(t, n, b) }
			leader, isr, ok := ElectShutdown(p.Replicas, p.State.ISR, alive, func(b int32) bool { return m.stopping[b] })
			if ok {
				writes = append(writes, m.newState(t, n, znode.PartitionState{Leader: leader, ISR: isr, Recovery: p.State.Recovery}))
			}
			return
		}
		if isr := slices.DeleteFunc(slices.Clone(p.State.ISR), func(b int32) bool { return b == broker }); len(isr) > 0 {
			writes = append(writes, m.newState(t, n, znode.PartitionState{Leader: p.State.Leader, ISR: isr, Recovery: p.State.Recovery}))
		}
	})
	return writes, nil
}

// Leave lets a stopping broker go: its followers are to be stopped, and the
// answer lists what it still leads because nobody else can.
func (m *Machine) Leave(broker int32) []kmsg.ControlledShutdownResponsePartitionsRemaining {
	var remaining []kmsg.ControlledShutdownResponsePartitionsRemaining
	m.replicasOf(broker, func(t *Topic, n int32, p *Partition) {
		switch {
		case p.State.Leader != broker:
			if m.pending.leaving == nil {
				m.pending.leaving = make(map[int32][]place)
			}
			m.pending.leaving[broker] = append(m.pending.leaving[broker], place{t.Name, n})
		case len(p.Replicas) > 1:
			r := kmsg.NewControlledShutdownResponsePartitionsRemaining()
			r.Topic, r.Partition = t.Name, n
			remaining = append(remaining, r)
		}
	})
	return remaining
}

// replicasOf calls f for every partition with a state that a broker has a
// replica of, in order, but for topics that are being deleted.
func (m *Machine) replicasOf(broker int32, f func(t *Topic, n int32, p *Partition)) {
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		t := m.topics[name]
		for i := range t.Partitions {
			p := &t.Partitions[i]
			if !t.Deleting && p.Epoch >= 0 && slices.Contains(p.Replicas, broker) {
				f(t, int32(i), p)
			}
		}
	}
}

// stopLeaving adds the replicas that a broker is to stop and to keep.
func (m *Machine) stopLeaving(req *kmsg.StopReplicaRequest, places []place) {
	for _, l := range places {
		p := m.partition(m.topics[l.topic], l.partition)
		if p == nil {
			continue
		}
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != l.topic {
			stop := kmsg.NewStopReplicaRequestTopic()
			stop.Topic = l.topic
			req.Topics = append(req.Topics, stop)
		}
		s := kmsg.NewStopReplicaRequestTopicPartitionState()
		s.Partition, s.LeaderEpoch = l.partition, p.State.LeaderEpoch
		t := &req.Topics[len(req.Topics)-1]
		t.PartitionStates = append(t.PartitionStates, s)
	}
}

// Preferred gives partitions back to their first replicas, where those can lead,
// of brokers that lead too few: more than percentage of the partitions that
// prefer them are led by others.
func (m *Machine) Preferred(percentage int32) []Write {
	prefer := make(map[int32]int)
	away := make(map[int32][]Write)
	lost := make(map[int32]int)
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		t := m.topics[name]
		for i := range t.Partitions {
			p, n := &t.Partitions[i], int32(i)
			if t.Deleting || p.Epoch < 0 || len(p.Replicas) == 0 {
				continue
			}
			first := p.Replicas[0]
			prefer[first]++
			if p.State.Leader == first {
				continue
			}
			lost[first]++
			leader, ok := ElectPreferred(p.Replicas, p.State.ISR, func(b int32) bool { return m.alive(t, n, b) })
			if ok && len(p.Adding)+len(p.Removing) == 0 {
				away[first] = append(away[first], m.newState(t, n, znode.PartitionState{Leader: leader, ISR: p.State.ISR, Recovery: p.State.Recovery}))
			}
		}
	}
	var writes []Write
	for _, id := range slices.Sorted(maps.Keys(away)) {
		if lost[id]*100 > int(percentage)*prefer[id] {
			writes = append(writes, away[id]...)
		}
	}
	return writes
}
