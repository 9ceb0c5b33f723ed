package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Sizes of a batch's fixed parts, in bytes.
const (
	// HeaderSize is the size of a batch without records.
	HeaderSize = 61
	// LogOverhead is what a batch's length field does not count: the base offset and the length itself.
	LogOverhead = 12
)

// The values that mean "none" in a batch header.
const (
	NoTimestamp     int64 = -1
	NoProducerID    int64 = -1
	NoProducerEpoch int16 = -1
	NoSequence      int32 = -1
	NoLeaderEpoch   int32 = -1
)

// Magic is the format's version, in every batch that this package reads or makes.
const Magic int8 = 2

// Where the fields of a batch start. FORMAT.md draws them.
const (
	atBaseOffset    = 0
	atLength        = 8
	atLeaderEpoch   = 12
	atMagic         = 16
	atCRC           = 17
	atAttributes    = 21
	atLastDelta     = 23
	atBaseTimestamp = 27
	atMaxTimestamp  = 35
	atProducerID    = 43
	atProducerEpoch = 51
	atBaseSequence  = 53
	atRecordCount   = 57
)

// The bits of the attributes.
const (
	codecMask         = 0x07
	appendTimeBit     = 0x08
	transactionalBit  = 0x10
	controlBit        = 0x20
	deleteHorizonBit  = 0x40
	knownAttributeSet = codecMask | appendTimeBit | transactionalBit | controlBit | deleteHorizonBit
)

// ErrCorrupt is what bytes that are no record batch give. The text of the error says what is wrong with them.
var ErrCorrupt = errors.New("corrupt record batch")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// TimestampType says what the timestamps of a batch mean.
type TimestampType int8

const (
	// CreateTime is the time that the producer gave each record.
	CreateTime TimestampType = 0
	// LogAppendTime is the time at which the leader appended the batch, the same for all its records.
	LogAppendTime TimestampType = 1
)

// String gives Kafka's name, as message.timestamp.type has it.
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Batch is one whole record batch as bytes: len(b) == b.Size(). [Next] and [Builder.Build] make sound ones; the
// getters need no more than HeaderSize bytes.
type Batch []byte

// BaseOffset is the offset of the first record (of the first there once was, if the batch was compacted).
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b[atBaseOffset:])) }

// Size is the batch's whole size in bytes as its length field has it.
func (b Batch) Size() int { return LogOverhead + int(int32(binary.BigEndian.Uint32(b[atLength:]))) }

// PartitionLeaderEpoch is the epoch of the leader that appended the batch.
func (b Batch) PartitionLeaderEpoch() int32 {
	return int32(binary.BigEndian.Uint32(b[atLeaderEpoch:]))
}

// Magic is the version of the format, 2.
func (b Batch) Magic() int8 { return int8(b[atMagic]) }

// CRC is the stored CRC-32C of everything from the attributes on.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[atCRC:]) }

// Attributes are the 16 attribute bits as stored.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[atAttributes:])) }

// Codec is how the payload is compressed. Five to seven are no codecs, see [Codec.Known].
func (b Batch) Codec() Codec { return Codec(b[atAttributes+1] & codecMask) }

// TimestampType says what the batch's timestamps mean.
func (b Batch) TimestampType() TimestampType {
	return TimestampType(b[atAttributes+1] & appendTimeBit >> 3)
}

// IsTransactional tells whether the batch belongs to a transaction.
func (b Batch) IsTransactional() bool { return b[atAttributes+1]&transactionalBit != 0 }

// IsControl tells whether the batch holds a control record, which no consumer shows.
func (b Batch) IsControl() bool { return b[atAttributes+1]&controlBit != 0 }

// DeleteHorizon gives the time in milliseconds after which the batch's tombstones may go, if one is set.
func (b Batch) DeleteHorizon() (ms int64, ok bool) {
	if b[atAttributes+1]&deleteHorizonBit == 0 {
		return 0, false
	}
	return b.BaseTimestamp(), true
}

// LastOffsetDelta is the last offset relative to the base offset.
func (b Batch) LastOffsetDelta() int32 { return int32(binary.BigEndian.Uint32(b[atLastDelta:])) }

// LastOffset is the offset of the last record. The next batch starts behind it.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// BaseTimestamp is what the records' timestamps are relative to, in milliseconds.
func (b Batch) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[atBaseTimestamp:])) }

// MaxTimestamp is the highest timestamp of the records, in milliseconds; with LogAppendTime it is that of all.
func (b Batch) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[atMaxTimestamp:])) }

// ProducerID is the producer's id, or NoProducerID.
func (b Batch) ProducerID() int64 { return int64(binary.BigEndian.Uint64(b[atProducerID:])) }

// HasProducerID tells whether an idempotent or transactional producer made the batch.
func (b Batch) HasProducerID() bool { return b.ProducerID() > NoProducerID }

// ProducerEpoch is the producer's epoch, or NoProducerEpoch.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[atProducerEpoch:])) }

// BaseSequence is the first record's sequence number, or NoSequence.
func (b Batch) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(b[atBaseSequence:])) }

// LastSequence is the last record's sequence number, or NoSequence. After the highest int32 comes 0.
func (b Batch) LastSequence() int32 {
	base := b.BaseSequence()
	if base == NoSequence {
		return NoSequence
	}
	return AddSequence(base, b.LastOffsetDelta())
}

// AddSequence gives the sequence number n records after s. After the highest int32 comes 0.
func AddSequence(s, n int32) int32 {
	if s > math.MaxInt32-n {
		return n - (math.MaxInt32 - s) - 1
	}
	return s + n
}

// RecordCount is the number of records that the header declares. Only a compacted batch may have none.
func (b Batch) RecordCount() int32 { return int32(binary.BigEndian.Uint32(b[atRecordCount:])) }

// Payload is what follows the header: the records, compressed as Codec says.
func (b Batch) Payload() []byte { return b[HeaderSize:] }

// ChecksumOK tells whether the stored CRC is that of the bytes.
func (b Batch) ChecksumOK() bool { return b.CRC() == b.checksum() }

func (b Batch) checksum() uint32 { return crc32.Checksum(b[atAttributes:], castagnoli) }

// SetBaseOffset moves the batch to another base offset. The CRC does not cover it.
func (b Batch) SetBaseOffset(offset int64) {
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(offset))
}

// SetPartitionLeaderEpoch sets the epoch of the leader that appends the batch. The CRC does not cover it.
func (b Batch) SetPartitionLeaderEpoch(epoch int32) {
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(epoch))
}

// SetLogAppendTime gives all records the time at which they are appended, in milliseconds, and renews the CRC.
func (b Batch) SetLogAppendTime(ms int64) { b.setMaxTimestamp(LogAppendTime, ms) }

// setMaxTimestamp stores the type and the highest timestamp as Kafka does: if one of them changes, attribute bits
// without meaning are dropped too and the CRC is renewed; otherwise not a byte is touched.
func (b Batch) setMaxTimestamp(t TimestampType, ms int64) {
	if b.TimestampType() == t && b.MaxTimestamp() == ms {
		return
	}
	bits := uint16(b[atAttributes+1]) & knownAttributeSet &^ appendTimeBit
	if t == LogAppendTime {
		bits |= appendTimeBit
	}
	binary.BigEndian.PutUint16(b[atAttributes:], bits)
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(ms))
	binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
}

// HeaderSizeOf gives the whole size of the batch that starts with head, of which the first LogOverhead bytes are
// looked at: how much to read for it. The size is between HeaderSize and 2 GiB + 11; the caller bounds it further.
// Fewer bytes give io.ErrUnexpectedEOF, an impossible length [ErrCorrupt].
func HeaderSizeOf(head []byte) (size int, err error) {
	if len(head) < LogOverhead {
		return 0, io.ErrUnexpectedEOF
	}
	n := int32(binary.BigEndian.Uint32(head[atLength:]))
	if n < HeaderSize-LogOverhead {
		return 0, fmt.Errorf("%w: length %d is below the header's %d", ErrCorrupt, n, HeaderSize-LogOverhead)
	}
	return LogOverhead + int(n), nil
}

// Next cuts the first batch off data. It looks at the structure only (the length and the magic byte), not at the CRC
// and the records. Data that ends within the batch gives io.ErrUnexpectedEOF and is returned as rest; no data is that
// too. Anything else is [ErrCorrupt].
func Next(data []byte) (b Batch, rest []byte, err error) {
	size, err := HeaderSizeOf(data)
	if err != nil {
		return nil, data, err
	}
	if len(data) > atMagic && int8(data[atMagic]) != Magic {
		return nil, data, fmt.Errorf("%w: magic %d, not %d", ErrCorrupt, int8(data[atMagic]), Magic)
	}
	if len(data) < size {
		return nil, data, io.ErrUnexpectedEOF
	}
	return Batch(data[:size:size]), data[size:], nil
}

// Check tells whether a batch that came from another broker or from the disk may be stored: the CRC is right and the
// offsets make sense. The error wraps [ErrCorrupt].
func (b Batch) Check() error {
	switch {
	case !b.ChecksumOK():
		return fmt.Errorf("%w: CRC is %#08x, of the bytes %#08x", ErrCorrupt, b.CRC(), b.checksum())
	case b.BaseOffset() < 0 || b.LastOffsetDelta() < 0 || b.LastOffset() < 0:
		return fmt.Errorf("%w: offsets %d + %d", ErrCorrupt, b.BaseOffset(), b.LastOffsetDelta())
	case b.RecordCount() < 0 || int64(b.RecordCount()) > int64(b.LastOffsetDelta())+1:
		return fmt.Errorf("%w: %d records in offsets 0 to %d", ErrCorrupt, b.RecordCount(), b.LastOffsetDelta())
	}
	return nil
}
