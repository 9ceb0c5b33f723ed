package controller

import (
	"maps"
	"slices"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// Alive tells whether a broker can serve a replica.
type Alive func(broker int32) bool

// ElectNew chooses the leader and the ISR of a partition that never had any: the
// first live replica, and all live ones. ok is false if none is alive.
func ElectNew(replicas []int32, alive Alive) (leader int32, isr []int32, ok bool) {
	for _, r := range replicas {
		if alive(r) {
			isr = append(isr, r)
		}
	}
	if len(isr) == 0 {
		return znode.NoLeader, nil, false
	}
	return isr[0], isr, true
}

// ElectOffline chooses a leader where there is none: the first replica that is
// alive and in the ISR, which loses its dead members; if there is none and unclean
// is allowed, the first live replica, alone.
func ElectOffline(replicas, isr []int32, alive Alive, unclean bool) (leader int32, newISR []int32, recovery znode.Recovery, ok bool) {
	for _, r := range isr {
		if alive(r) {
			newISR = append(newISR, r)
		}
	}
	for _, r := range replicas {
		if alive(r) && slices.Contains(isr, r) {
			return r, newISR, znode.Recovered, true
		}
	}
	if unclean {
		for _, r := range replicas {
			if alive(r) {
				return r, []int32{r}, znode.Recovering, true
			}
		}
	}
	return znode.NoLeader, nil, znode.Recovered, false
}

// ElectPreferred chooses the first replica if it is alive and in the ISR.
func ElectPreferred(replicas, isr []int32, alive Alive) (leader int32, ok bool) {
	if len(replicas) > 0 && alive(replicas[0]) && slices.Contains(isr, replicas[0]) {
		return replicas[0], true
	}
	return znode.NoLeader, false
}

// ElectReassigned chooses the first replica of the target that is alive and in
// the ISR.
func ElectReassigned(target, isr []int32, alive Alive) (leader int32, ok bool) {
	for _, r := range target {
		if alive(r) && slices.Contains(isr, r) {
			return r, true
		}
	}
	return znode.NoLeader, false
}

// ElectShutdown chooses a leader that is not about to stop, and an ISR without
// those that are.
func ElectShutdown(replicas, isr []int32, alive, stopping Alive) (leader int32, newISR []int32, ok bool) {
	for _, r := range isr {
		if !stopping(r) {
			newISR = append(newISR, r)
		}
	}
	for _, r := range replicas {
		if alive(r) && !stopping(r) && slices.Contains(isr, r) {
			return r, newISR, true
		}
	}
	return znode.NoLeader, nil, false
}

// Unclean tells whether a topic may elect a leader that is not in sync.
type Unclean func(topic string) bool

// BringOnline elects leaders for the partitions of topics that have none and
// can have one. No names means all topics.
func (m *Machine) BringOnline(unclean Unclean, topics ...string) []Write {
	if len(topics) == 0 {
		topics = slices.Sorted(maps.Keys(m.topics))
	}
	var writes []Write
	for _, name := range topics {
		t := m.topics[name]
		if t == nil || t.Deleting {
			continue
		}
		fresh := true // no partition of it ever had a state
		for i := range t.Partitions {
			fresh = fresh && t.Partitions[i].Epoch < 0
		}
		for i := range t.Partitions {
			p := &t.Partitions[i]
			switch {
			case p.Online() && m.present(t, int32(i), p.State.Leader): // also one that is about to leave leads until it is gone
			case p.Epoch < 0:
				if w, ok := m.firstState(t, int32(i)); ok {
					if fresh {
						fresh = false
						writes = append(writes, m.fenced(nil, store.Create(znode.PartitionsPath(name), nil, store.Persistent)))
					}
					writes = append(writes, w)
				}
			default:
				if w, ok := m.nextState(t, int32(i), unclean(name)); ok {
					writes = append(writes, w)
				}
			}
		}
	}
	return writes
}

func (m *Machine) firstState(t *Topic, n int32) (Write, bool) {
	p := &t.Partitions[n]
	leader, isr, ok := ElectNew(p.Replicas, func(b int32) bool { return m.alive(t, n, b) })
	if !ok {
		return Write{}, false
	}
	s := znode.PartitionState{Leader: leader, ControllerEpoch: m.epoch, ISR: isr}
	return m.fenced(
		StateChanged{t.Name, n, 0, s, true},
		store.Create(znode.PartitionPath(t.Name, n), nil, store.Persistent),
		store.Create(znode.PartitionStatePath(t.Name, n), s.Encode(), store.Persistent),
	), true
}

// nextState elects a leader for a partition whose leader is gone; if nobody
// can lead, that is its state.
func (m *Machine) nextState(t *Topic, n int32, unclean bool) (Write, bool) {
	p := &t.Partitions[n]
	leader, isr, recovery, ok := ElectOffline(p.Replicas, p.State.ISR, func(b int32) bool { return m.alive(t, n, b) }, unclean)
	if !ok {
		if p.State.Leader < 0 {
			return Write{}, false
		}
		leader, isr = znode.NoLeader, p.State.ISR
	}
	if recovery == znode.Recovered { // a clean election does not end a recovery: the leader does
		recovery = p.State.Recovery
	}
	return m.newState(t, n, znode.PartitionState{Leader: leader, ISR: isr, Recovery: recovery}), true
}

// newState writes a partition's next state: every one bumps the leader epoch.
func (m *Machine) newState(t *Topic, n int32, s znode.PartitionState) Write {
	p := &t.Partitions[n]
	s.LeaderEpoch, s.ControllerEpoch = p.State.LeaderEpoch+1, m.epoch
	return m.fenced(StateChanged{t.Name, n, p.Epoch + 1, s, false}, store.Set(znode.PartitionStatePath(t.Name, n), s.Encode(), p.Epoch))
}

// Shrink takes brokers that died out of the ISRs of partitions that others
// lead. A partition whose leader died is for BringOnline.
func (m *Machine) Shrink() []Write {
	var writes []Write
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		t := m.topics[name]
		for i := range t.Partitions {
			p, n := &t.Partitions[i], int32(i)
			if t.Deleting || !p.Online() || !m.present(t, n, p.State.Leader) {
				continue
			}
			isr := slices.DeleteFunc(slices.Clone(p.State.ISR), func(b int32) bool { return !m.present(t, n, b) })
			if len(isr) < len(p.State.ISR) && len(isr) > 0 {
				writes = append(writes, m.newState(t, n, znode.PartitionState{Leader: p.State.Leader, ISR: isr, Recovery: p.State.Recovery}))
			}
		}
	}
	return writes
}

// ReplicasOffline notes replicas that a broker cannot serve because their log
// directory failed. BringOnline and Shrink act on it.
func (m *Machine) ReplicasOffline(broker int32, topic string, partitions []int32) {
	t := m.topics[topic]
	if t == nil || len(partitions) == 0 {
		return
	}
	if m.offline[topic] == nil {
		m.offline[topic] = make(map[replica]bool)
	}
	for _, n := range partitions {
		m.offline[topic][replica{n, broker}] = true
		m.pending.changed(t, n, false)
	}
}

// BrokerStarted notes that a broker came (again): all it has is to be told to
// it, and its directories may be well again.
func (m *Machine) BrokerStarted(id int32) {
	for name, off := range m.offline {
		maps.DeleteFunc(off, func(r replica, _ bool) bool { return r.broker == id })
		if len(off) == 0 {
			delete(m.offline, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		t := m.topics[name]
		if t.Deleting {
			m.pending.stop(t)
			continue
		}
		for i := range t.Partitions {
			if t.Partitions[i].Epoch >= 0 {
				m.pending.changed(t, int32(i), false)
			}
		}
	}
	m.pending.brokers = true
}
