package controller

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// ISRRequest is an AlterPartition on its way: the writes that it takes, and, once
// they are done, its answer.
type ISRRequest struct {
	Writes []Write
	resp   *kmsg.AlterPartitionResponse
	slots  []slot // one a write
}

// slot is where the answer about a write stands.
type slot struct {
	topic, partition int
	state            znode.PartitionState
	epoch            int32
}

// Answer gives the response; failed has the error of each write.
func (r *ISRRequest) Answer(failed []error) *kmsg.AlterPartitionResponse {
	for i, s := range r.slots {
		if failed != nil && failed[i] != nil {
			continue // INVALID_UPDATE_VERSION stays: somebody else wrote the state
		}
		fillISR(&r.resp.Topics[s.topic].Partitions[s.partition], &s.state, s.epoch)
	}
	return r.resp
}

func fillISR(out *kmsg.AlterPartitionResponseTopicPartition, s *znode.PartitionState, epoch int32) {
	out.ErrorCode, out.LeaderID, out.LeaderEpoch, out.ISR = 0, s.Leader, s.LeaderEpoch, s.ISR
	out.LeaderRecoveryState, out.PartitionEpoch = int8(s.Recovery), epoch
}

// AlterPartition judges the ISRs that a leader proposes (API 56, versions 0-3).
// What is accepted raises the partition epoch, not the leader epoch. A proposal
// of what is there already succeeds: an answer may have been lost.
//
// Refused as a whole: STALE_BROKER_EPOCH. By partition: UNKNOWN_TOPIC_OR_PARTITION
// or UNKNOWN_TOPIC_ID, NOT_CONTROLLER (the leader has newer epochs than we),
// FENCED_LEADER_EPOCH, INVALID_UPDATE_VERSION, INVALID_REQUEST,
// INELIGIBLE_REPLICA (before version 2 OPERATION_NOT_ATTEMPTED).
func (m *Machine) AlterPartition(req *kmsg.AlterPartitionRequest) *ISRRequest {
	r := &ISRRequest{resp: req.ResponseKind().(*kmsg.AlterPartitionResponse)}
	if b := m.brokers[req.BrokerID]; b == nil || b.Epoch != req.BrokerEpoch {
		r.resp.ErrorCode = kerr.StaleBrokerEpoch.Code
		return r
	}
	for i := range req.Topics {
		in := &req.Topics[i]
		out := kmsg.NewAlterPartitionResponseTopic()
		out.Topic, out.TopidID = in.Topic, in.TopicID
		r.resp.Topics = append(r.resp.Topics, out)
		t, unknown := m.topics[in.Topic], kerr.UnknownTopicOrPartition
		if req.Version >= 2 {
			t, unknown = m.topicByID(in.TopicID), kerr.UnknownTopicID
		}
		for j := range in.Partitions {
			ask := &in.Partitions[j]
			p := kmsg.NewAlterPartitionResponseTopicPartition()
			p.Partition = ask.Partition
			if t == nil {
				p.ErrorCode = unknown.Code
			}
			r.resp.Topics[i].Partitions = append(r.resp.Topics[i].Partitions, p)
			if t != nil {
				m.alter(r, &proposal{req.BrokerID, req.Version, t, ask}, slot{topic: i, partition: j})
			}
		}
	}
	return r
}

func (m *Machine) topicByID(id znode.TopicID) *Topic {
	for _, t := range m.topics {
		if t.ID == id && id != (znode.TopicID{}) {
			return t
		}
	}
	return nil
}

// proposal is what a leader wants of one partition.
type proposal struct {
	broker  int32
	version int16
	topic   *Topic
	ask     *kmsg.AlterPartitionRequestTopicPartition
}

func (a *proposal) isr() []int32 {
	if a.version < 3 {
		return slices.Clone(a.ask.NewISR)
	}
	out := make([]int32, len(a.ask.NewEpochISR))
	for i := range out {
		out[i] = a.ask.NewEpochISR[i].BrokerID
	}
	return out
}

// same tells whether the partition is as it is wanted, by this very proposal or
// by an earlier sending of it.
func (a *proposal) same(p *Partition, isr []int32) bool {
	return slices.Equal(p.State.ISR, isr) && int8(p.State.Recovery) == a.ask.LeaderRecoveryState &&
		(a.ask.PartitionEpoch == p.Epoch || a.ask.PartitionEpoch == p.Epoch-1)
}

func (m *Machine) alter(r *ISRRequest, a *proposal, at slot) {
	out := &r.resp.Topics[at.topic].Partitions[at.partition]
	p, isr := m.partition(a.topic, a.ask.Partition), a.isr()
	if err := m.judge(a, p, isr); err != nil {
		out.ErrorCode = err.Code
		return
	}
	if a.same(p, isr) {
		fillISR(out, &p.State, p.Epoch)
		return
	}
	out.ErrorCode = kerr.InvalidUpdateVersion.Code // until it is written
	at.state, at.epoch = p.State, p.Epoch+1
	at.state.ISR, at.state.Recovery, at.state.ControllerEpoch = isr, znode.Recovery(a.ask.LeaderRecoveryState), m.epoch
	r.slots = append(r.slots, at)
	r.Writes = append(r.Writes, m.fenced(
		ISRChanged{a.topic.Name, a.ask.Partition, at.epoch, at.state},
		store.Set(znode.PartitionStatePath(a.topic.Name, a.ask.Partition), at.state.Encode(), p.Epoch),
	))
}

// judge says why a proposal is refused.
func (m *Machine) judge(a *proposal, p *Partition, isr []int32) *kerr.Error {
	recovering := a.ask.LeaderRecoveryState == int8(znode.Recovering)
	switch {
	case p == nil, a.topic.Deleting, p.Epoch < 0:
		return kerr.UnknownTopicOrPartition
	case a.ask.LeaderEpoch > p.State.LeaderEpoch:
		return kerr.NotController
	case a.ask.LeaderEpoch < p.State.LeaderEpoch:
		return kerr.FencedLeaderEpoch
	case a.same(p, isr):
		return nil
	case a.ask.PartitionEpoch > p.Epoch:
		return kerr.NotController
	case a.ask.PartitionEpoch < p.Epoch:
		return kerr.InvalidUpdateVersion
	case a.broker != p.State.Leader, !slices.Contains(isr, p.State.Leader), repeats(isr):
		return kerr.InvalidRequest
	case recovering && (len(isr) > 1 || p.State.Recovery == znode.Recovered):
		return kerr.InvalidRequest
	}
	for i, id := range isr {
		ok := slices.Contains(p.Replicas, id) && m.alive(a.topic, a.ask.Partition, id)
		if ok && a.version >= 3 {
			epoch := a.ask.NewEpochISR[i].BrokerEpoch
			ok = epoch == -1 || epoch == m.brokers[id].Epoch
		}
		switch {
		case ok:
		case a.version >= 2:
			return kerr.IneligibleReplica
		default:
			return kerr.OperationNotAttempted
		}
	}
	return nil
}
