package znode

import (
	"fmt"
	"strconv"
)

// Recovery says whether a leader was elected without being in sync.
type Recovery int8

// The states of recovery.
const (
	Recovered  Recovery = 0
	Recovering Recovery = 1
)

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1

// PartitionState is a partition's leader and ISR. The version of its znode is
// the partition epoch.
type PartitionState struct {
	Leader          int32
	LeaderEpoch     int32
	ControllerEpoch int32
	ISR             []int32
	Recovery        Recovery
}

// Encode writes the document, version 1.
func (s *PartitionState) Encode() []byte {
	b := make([]byte, 0, 80+8*len(s.ISR))
	b = append(b, `{"controller_epoch":`...)
	b = strconv.AppendInt(b, int64(s.ControllerEpoch), 10)
	b = append(b, `,"leader":`...)
	b = strconv.AppendInt(b, int64(s.Leader), 10)
	b = append(b, `,"version":1,"leader_epoch":`...)
	b = strconv.AppendInt(b, int64(s.LeaderEpoch), 10)
	b = append(b, `,"isr":`...)
	b = appendIDs(b, s.ISR)
	if s.Recovery != Recovered {
		b = append(b, `,"leader_recovery_state":`...)
		b = strconv.AppendInt(b, int64(s.Recovery), 10)
	}
	return append(b, '}')
}

// DecodePartitionState reads the document.
func DecodePartitionState(data []byte) (*PartitionState, error) {
	var doc struct {
		Leader          *int32  `json:"leader"`
		LeaderEpoch     *int32  `json:"leader_epoch"`
		ControllerEpoch *int32  `json:"controller_epoch"`
		ISR             []int32 `json:"isr"`
		Recovery        int8    `json:"leader_recovery_state"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	switch {
	case doc.Leader == nil, doc.LeaderEpoch == nil, doc.ControllerEpoch == nil, doc.ISR == nil:
		return nil, fmt.Errorf("%w: a partition state needs leader, leader_epoch, controller_epoch and isr", ErrMalformed)
	case doc.Recovery != int8(Recovered) && doc.Recovery != int8(Recovering):
		return nil, fmt.Errorf("%w: leader_recovery_state %d", ErrMalformed, doc.Recovery)
	}
	return &PartitionState{*doc.Leader, *doc.LeaderEpoch, *doc.ControllerEpoch, doc.ISR, Recovery(doc.Recovery)}, nil
}
