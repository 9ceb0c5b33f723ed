package record

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// What a leader checks, in Kafka's order, which shows in the answer to a batch that is wrong in two ways:
//
//	form       one batch, magic 2, zstd only from version 7 on     87, 76, 2   form.go
//	batch      base offset 0                                       87
//	           size                                                10
//	           CRC                                                 2
//	           codec                                               -1
//	header     offset range, count, no control batch, sequence     87
//	records    structure, count, nothing left over                 87, -1      walk.go
//	each       key on a compacted topic, timestamp                 87, 32      judge.go
//	rebuild    if another codec is wanted                          -1, 10      rebuild.go
//	segment    size                                                18
//
// -1 is UNKNOWN_SERVER_ERROR: where Kafka does not expect an exception (a payload that does not decompress), that is
// what it answers.

// ValidateProduce judges the records of one partition of a Produce request of version 3 or higher. The batch it gives
// is the first of data, patched in place where that suffices (the highest timestamp, the type of the timestamps, the
// CRC), or a new one if the topic compresses otherwise. The caller sets base offset and partition leader epoch.
//
// The error is a [*Refusal]; data is then as it was. Requests below version 3, whose message sets may be of an older
// format, are refused for now.
func ValidateProduce(data []byte, r *Rules) (Validated, error) {
	if r.Version < 3 {
		return Validated{}, refuse(kerr.UnsupportedVersion, "message sets of Produce version %d", r.Version).beforeLog()
	}
	size, bad := form(data, r.Version)
	if bad != nil {
		return Validated{}, bad
	}
	b := Batch(data[:size:size])
	if bad := checkBatch(b, r); bad != nil {
		return Validated{}, bad
	}
	if bad := checkHeader(b, r); bad != nil {
		return Validated{}, bad
	}
	b, maxTimestamp, bad := checkRecords(b, r)
	if bad != nil {
		return Validated{}, bad
	}
	if len(b) > int(r.SegmentBytes) {
		return Validated{}, refuse(kerr.RecordListTooLarge, "Message batch size is %d bytes in append to partition %s, which exceeds "+
			"the maximum configured segment size of %d.", len(b), r.TopicPartition, r.SegmentBytes).beforeLog()
	}
	b.setMaxTimestamp(r.TimestampType, maxTimestamp)
	v := Validated{Batch: b, LogAppendTimeMs: NoTimestamp}
	if r.TimestampType == LogAppendTime {
		v.LogAppendTimeMs = r.NowMs
	}
	return v, nil
}

// checkBatch looks at the batch as bytes.
func checkBatch(b Batch, r *Rules) *Refusal {
	if o := b.BaseOffset(); o != 0 {
		return refuse(kerr.InvalidRecord, "The baseOffset of the record batch in the append to %s should be 0, but it is %d", r.TopicPartition, o)
	}
	if len(b) < atBaseTimestamp { // Kafka reads the last offset past the end
		return refuse(kerr.UnknownServerError, "record batch of %d bytes in topic partition %s", len(b), r.TopicPartition)
	}
	if len(b) > int(r.MaxMessageBytes) {
		return refuse(kerr.MessageTooLarge, "The record batch size in the append to %s is %d bytes which exceeds the maximum configured value of %d.",
			r.TopicPartition, len(b), r.MaxMessageBytes).beforeLog()
	}
	if len(b) < HeaderSize || !b.ChecksumOK() {
		return refuse(kerr.CorruptMessage, "Record is corrupt (stored crc = %d) in topic partition %s.", b.CRC(), r.TopicPartition).beforeLog()
	}
	if c := b.Codec(); !c.Known() {
		return refuse(kerr.UnknownServerError, "Unknown compression type id: %d", int8(c))
	}
	return nil
}

// checkHeader looks at the fields of the header.
func checkHeader(b Batch, r *Rules) *Refusal {
	offsets, count := int64(b.LastOffsetDelta())+1, int64(b.RecordCount())
	switch {
	case offsets <= 0:
		return refuse(kerr.InvalidRecord, "Batch has an invalid offset range: [0, %d] in topic partition %s", offsets-1, r.TopicPartition)
	case count <= 0:
		return refuse(kerr.InvalidRecord, "Invalid reported count for record batch: %d in topic partition %s", count, r.TopicPartition)
	case offsets != count:
		return refuse(kerr.InvalidRecord, "Inconsistent batch offset range [0, %d] and count of records %d in topic partition %s",
			offsets-1, count, r.TopicPartition)
	case b.IsControl():
		return refuse(kerr.InvalidRecord, "Clients are not allowed to write control records in topic partition %s", r.TopicPartition)
	case b.HasProducerID() && b.BaseSequence() < 0:
		return refuse(kerr.InvalidRecord, "Invalid sequence number %d in record batch with producerId %d in topic partition %s",
			b.BaseSequence(), b.ProducerID(), r.TopicPartition)
	}
	return nil
}

// checkRecords walks over the records, judges them, and gives the batch to store and the highest timestamp to store
// in it. It does not touch the producer's bytes.
func checkRecords(b Batch, r *Rules) (out Batch, maxTimestamp int64, bad *Refusal) {
	target := r.Compression.Codec
	if r.Compression.FromProducer {
		target = b.Codec()
	}
	inPlace := target == b.Codec()
	var s summary
	if r.HeaderOnly && inPlace && !r.Compacted {
		s = headerSummary(b)
	} else if err := s.walk(b, r.limit()); err != nil {
		return nil, 0, refuseWalk(err, r)
	}
	if s.suspicious(b, r) {
		if bad := judge(b, r, inPlace); bad != nil {
			return nil, 0, bad
		}
	}
	maxTimestamp = s.max
	if r.TimestampType == LogAppendTime {
		maxTimestamp = r.NowMs
	}
	if !inPlace {
		out, bad = rebuild(b, r, target, &s)
		return out, maxTimestamp, bad
	}
	if b.Codec() != None && !s.ordered {
		// Kafka wants to rebuild such a batch and fails: it has skipped the keys and values that it needs for that.
		return nil, 0, refuse(kerr.UnknownServerError, "compressed batch whose offset deltas do not count up in topic partition %s", r.TopicPartition)
	}
	return b, maxTimestamp, nil
}

// refuseWalk turns an error of the walk into what Kafka answers.
func refuseWalk(err error, r *Rules) *Refusal {
	switch {
	case errors.Is(err, ErrTooLong):
		return refuse(kerr.MessageTooLarge, "%v in topic partition %s", err, r.TopicPartition).beforeLog()
	case errors.Is(err, errRecordLengthBad), !errors.Is(err, ErrInvalidRecord):
		return refuse(kerr.UnknownServerError, "%v in topic partition %s", err, r.TopicPartition)
	}
	return refuse(kerr.InvalidRecord, "%v in topic partition %s", err, r.TopicPartition)
}
