package record

import (
	"encoding/binary"
	"fmt"
)

// Producer is who made a batch: an idempotent or transactional producer.
type Producer struct {
	ID           int64
	Epoch        int16
	BaseSequence int32
}

// BuilderOptions say what a batch is apart from its records. The zero value is a plain batch at offset 0 from no
// producer, with timestamps of the records.
type BuilderOptions struct {
	BaseOffset           int64
	PartitionLeaderEpoch int32
	Codec                Codec
	Level                int           // Kafka's number for the codec
	DefaultLevel         bool          // compress with the codec's default level instead of Level
	TimestampType        TimestampType // LogAppendTime stores AppendTimeMs
	AppendTimeMs         int64
	Producer             *Producer // nil: none
	Transactional        bool
	Control              bool
}

// Builder makes one batch after the other. It is not for several goroutines.
type Builder struct {
	opts    BuilderOptions
	payload []byte
	count   int32
	last    int32 // offset delta
	first   int64 // timestamp
	max     int64
}

// NewBuilder gives a builder. It panics if the codec is none: that is a mistake of the program.
func NewBuilder(opts BuilderOptions) *Builder {
	if !opts.Codec.Known() {
		panic("record: builder with " + opts.Codec.String())
	}
	b := &Builder{opts: opts}
	b.Reset()
	return b
}

// Reset drops all records and keeps the options.
func (b *Builder) Reset() {
	b.payload, b.count, b.last, b.first, b.max = b.payload[:0], 0, -1, NoTimestamp, NoTimestamp
}

// Append adds a record at the next offset. Nil is null. The bytes are copied.
func (b *Builder) Append(timestampMs int64, key, value []byte, headers ...Header) {
	b.AppendAt(b.last+1, timestampMs, key, value, headers...)
}

// AppendAt adds a record at an offset relative to the base offset: a compacted batch has gaps. Kafka expects the
// offsets to grow.
func (b *Builder) AppendAt(offsetDelta int32, timestampMs int64, key, value []byte, headers ...Header) {
	if b.count == 0 {
		b.first = timestampMs
	}
	r := Record{TimestampDelta: timestampMs - b.first, OffsetDelta: offsetDelta, Key: key, Value: value, Headers: headers}
	b.payload = r.append(b.payload)
	b.count++
	b.last = max(b.last, offsetDelta)
	b.max = max(b.max, timestampMs)
}

// appendTail adds a record at the next offset whose key, value and headers are already bytes.
func (b *Builder) appendTail(timestampMs int64, tail []byte) {
	if b.count == 0 {
		b.first = timestampMs
	}
	b.last++
	delta := timestampMs - b.first
	size := 1 + sizeOfVarint(delta) + sizeOfVarint(int64(b.last)) + len(tail)
	b.payload = binary.AppendVarint(b.payload, int64(size))
	b.payload = append(b.payload, 0)
	b.payload = binary.AppendVarint(b.payload, delta)
	b.payload = binary.AppendVarint(b.payload, int64(b.last))
	b.payload = append(b.payload, tail...)
	b.count++
	b.max = max(b.max, timestampMs)
}

// Count is the number of records so far.
func (b *Builder) Count() int { return int(b.count) }

// Size is the size of the batch so far, before compression.
func (b *Builder) Size() int { return HeaderSize + len(b.payload) }

// Build gives the batch, in memory of its own. The builder keeps its records: Reset starts another batch. A batch
// without records has the last offset delta 0 and no timestamps.
func (b *Builder) Build() Batch {
	level := b.opts.Level
	if b.opts.DefaultLevel {
		level = b.opts.Codec.DefaultLevel()
	}
	out := make([]byte, HeaderSize, HeaderSize+len(b.payload))
	out, err := Compress(out, b.opts.Codec, level, b.payload)
	if err != nil {
		panic(fmt.Sprintf("record: %v", err)) // NewBuilder has looked at the codec
	}
	h := header{
		opts: b.opts, lastDelta: max(b.last, 0), count: b.count, baseTimestamp: b.first, maxTimestamp: b.max,
	}
	if b.opts.TimestampType == LogAppendTime {
		h.maxTimestamp = b.opts.AppendTimeMs
	}
	return h.write(out)
}

// header is what the fields of a batch header are made of.
type header struct {
	opts          BuilderOptions
	lastDelta     int32
	count         int32
	baseTimestamp int64
	maxTimestamp  int64
}

// write fills in the header of the batch whose payload stands at b[HeaderSize:], CRC included.
func (h *header) write(b []byte) Batch {
	bits := uint16(h.opts.Codec)
	if h.opts.TimestampType == LogAppendTime {
		bits |= appendTimeBit
	}
	if h.opts.Transactional {
		bits |= transactionalBit
	}
	if h.opts.Control {
		bits |= controlBit
	}
	p := Producer{NoProducerID, NoProducerEpoch, NoSequence}
	if h.opts.Producer != nil {
		p = *h.opts.Producer
	}
	e := binary.BigEndian
	e.PutUint64(b[atBaseOffset:], uint64(h.opts.BaseOffset))
	e.PutUint32(b[atLength:], uint32(len(b)-LogOverhead))
	e.PutUint32(b[atLeaderEpoch:], uint32(h.opts.PartitionLeaderEpoch))
	b[atMagic] = byte(Magic)
	e.PutUint16(b[atAttributes:], bits)
	e.PutUint32(b[atLastDelta:], uint32(h.lastDelta))
	e.PutUint64(b[atBaseTimestamp:], uint64(h.baseTimestamp))
	e.PutUint64(b[atMaxTimestamp:], uint64(h.maxTimestamp))
	e.PutUint64(b[atProducerID:], uint64(p.ID))
	e.PutUint16(b[atProducerEpoch:], uint16(p.Epoch))
	e.PutUint32(b[atBaseSequence:], uint32(p.BaseSequence))
	e.PutUint32(b[atRecordCount:], uint32(h.count))
	e.PutUint32(b[atCRC:], Batch(b).checksum())
	return b
}
