package record

import "github.com/twmb/franz-go/pkg/kerr"

// rebuild gives the batch with another codec: a topic whose compression.type is not "producer" and not the producer's.
// The records count from 0, their attributes are 0, and the base timestamp is the first record's. Attribute bits that
// nobody knows, and a delete horizon, are gone.
func rebuild(b Batch, r *Rules, target Codec, s *summary) (Batch, *Refusal) {
	if bad := rebuildable(b, r, s); bad != nil {
		return nil, bad
	}
	payload, release, err := b.plainPayload(r.limit())
	if err != nil {
		return nil, refuseWalk(err, r)
	}
	defer release()
	opts := BuilderOptions{
		PartitionLeaderEpoch: b.PartitionLeaderEpoch(), Codec: target, Level: r.Compression.Level,
		TimestampType: r.TimestampType, AppendTimeMs: r.NowMs, Transactional: b.IsTransactional(),
		Producer: &Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()},
	}
	var out Batch
	if s.canonical {
		out, err = repack(b, payload, &opts, s.max)
	} else {
		out, err = reencode(b, payload, &opts)
	}
	if err != nil { // impossible: the walk has found the records sound, and a topic's codec is known
		return nil, refuse(kerr.UnknownServerError, "%v in topic partition %s", err, r.TopicPartition)
	}
	if len(out) > int(r.MaxMessageBytes) {
		return nil, refuse(kerr.MessageTooLarge, "Message batch size is %d bytes in append to partition %s which exceeds the maximum configured size of %d.",
			len(out), r.TopicPartition, r.MaxMessageBytes).beforeLog()
	}
	return out, nil
}

// rebuildable refuses what Kafka's builder does not take.
func rebuildable(b Batch, r *Rules, s *summary) *Refusal {
	switch {
	case s.min < 0:
		return refuse(kerr.UnknownServerError, "Invalid negative timestamp %d in topic partition %s", s.min, r.TopicPartition)
	case b.IsTransactional() && b.ProducerID() == NoProducerID:
		return refuse(kerr.UnknownServerError, "Cannot write transactional messages without a valid producer ID in topic partition %s", r.TopicPartition)
	case b.ProducerID() != NoProducerID && b.ProducerEpoch() == NoProducerEpoch:
		return refuse(kerr.UnknownServerError, "Invalid negative producer epoch in topic partition %s", r.TopicPartition)
	case b.ProducerID() != NoProducerID && b.BaseSequence() < 0:
		return refuse(kerr.UnknownServerError, "Invalid negative sequence number used in topic partition %s", r.TopicPartition)
	}
	return nil
}

// repack compresses the records as they are.
func repack(b Batch, payload []byte, opts *BuilderOptions, maxTimestamp int64) (Batch, error) {
	room := len(payload)
	if opts.Codec != None {
		room /= 2
	}
	out := make([]byte, HeaderSize, HeaderSize+room)
	out, err := Compress(out, opts.Codec, opts.Level, payload)
	if err != nil {
		return nil, err
	}
	h := header{opts: *opts, lastDelta: b.RecordCount() - 1, count: b.RecordCount(), baseTimestamp: b.BaseTimestamp(), maxTimestamp: maxTimestamp}
	if opts.TimestampType == LogAppendTime {
		h.maxTimestamp = opts.AppendTimeMs
	}
	return h.write(out), nil
}

// reencode writes each record anew.
func reencode(b Batch, payload []byte, opts *BuilderOptions) (Batch, error) {
	if !opts.Codec.Known() {
		return nil, ErrCodec
	}
	build := NewBuilder(*opts)
	var m meta
	for at := 0; at < len(payload); {
		next, err := skim(payload, at, &m)
		if err != nil {
			return nil, err
		}
		ts := b.BaseTimestamp() + m.timestampDelta
		if b.TimestampType() == LogAppendTime {
			ts = b.MaxTimestamp()
		}
		build.appendTail(ts, payload[afterDeltas(payload, at):next])
		at = next
	}
	return build.Build(), nil
}

// afterDeltas gives the position of the key's length in the record at p[at:].
func afterDeltas(p []byte, at int) int {
	_, i := varint32(p, at)
	_, i = varint64(p, i+1)
	_, i = varint32(p, i)
	return i
}
