package record

import (
	"encoding/binary"
	"fmt"
)

// ControlType is what a control record says.
type ControlType int16

// The control records of Kafka's logs; the ones from LeaderChange on are those of KRaft's.
const (
	Abort ControlType = iota
	Commit
	LeaderChange
	SnapshotHeader
	SnapshotFooter
	KRaftVersion
	KRaftVoters
)

const (
	controlKeySize = 4
	endTxnSize     = 6
)

// AppendControlKey appends the key of a control record of version 0 to dst.
func AppendControlKey(dst []byte, t ControlType) []byte {
	dst = binary.BigEndian.AppendUint16(dst, 0)
	return binary.BigEndian.AppendUint16(dst, uint16(t))
}

// ParseControlKey reads the key of a control record. Higher versions may have more fields, which are left out; an
// unknown type is no error: whoever does not know it skips the record.
func ParseControlKey(key []byte) (ControlType, error) {
	if len(key) < controlKeySize {
		return 0, fmt.Errorf("%w: control key of %d bytes", ErrInvalidRecord, len(key))
	}
	if v := int16(binary.BigEndian.Uint16(key)); v < 0 {
		return 0, fmt.Errorf("%w: control key version %d", ErrInvalidRecord, v)
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// AppendEndTxn appends the value of an Abort or Commit record of version 0 to dst.
func AppendEndTxn(dst []byte, coordinatorEpoch int32) []byte {
	dst = binary.BigEndian.AppendUint16(dst, 0)
	return binary.BigEndian.AppendUint32(dst, uint32(coordinatorEpoch))
}

// ParseEndTxn reads the coordinator's epoch out of the value of an Abort or Commit record.
func ParseEndTxn(value []byte) (coordinatorEpoch int32, err error) {
	if len(value) < endTxnSize {
		return 0, fmt.Errorf("%w: end of transaction of %d bytes", ErrInvalidRecord, len(value))
	}
	if v := int16(binary.BigEndian.Uint16(value)); v < 0 {
		return 0, fmt.Errorf("%w: end of transaction version %d", ErrInvalidRecord, v)
	}
	return int32(binary.BigEndian.Uint32(value[2:])), nil
}

// EndTxnMarker makes the control batch that ends a producer's transaction in one partition: t is Abort or Commit.
func EndTxnMarker(t ControlType, p Producer, coordinatorEpoch int32, nowMs int64) Batch {
	p.BaseSequence = NoSequence
	b := NewBuilder(BuilderOptions{Producer: &p, Transactional: true, Control: true})
	b.Append(nowMs, AppendControlKey(nil, t), AppendEndTxn(nil, coordinatorEpoch))
	return b.Build()
}
