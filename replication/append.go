package replication

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/storage"
)

// ProducePart is one partition of a Produce request: what is asked, and what
// came of it.
type ProducePart struct {
	// Partition is where to append; nil is left alone, and Err with it.
	Partition *Partition
	// Records is one record batch. Its header is patched in place. It is not
	// kept beyond Append.
	Records []byte

	// Err is the answer's error, nil for success. Message and RecordErrors go
	// with it where Kafka has something to say.
	Err          error
	Message      string
	RecordErrors []record.RecordError
	// BaseOffset is where the batch is, -1 after an error; LogAppendTime is -1
	// unless the broker set the time. LogStart is -1 where Kafka would not have
	// asked the log.
	BaseOffset, LogAppendTime, LogStart int64

	required int64 // acks=all: done when the high watermark is here; 0 once settled
}

// Fail sets the answer to an error found before the log was asked.
func (p *ProducePart) Fail(err error) {
	p.Err, p.BaseOffset, p.LogAppendTime, p.LogStart = err, -1, -1, -1
}

// AppendOptions go for all parts of a request.
type AppendOptions struct {
	// Version is the request's.
	Version int16
	// Acks is 0, 1 or -1.
	Acks int16
	// Timeout is how long acks=-1 may wait.
	Timeout time.Duration
}

// Append appends each part to its partition and fills in its results. Parts are
// independent. When it returns every append is done and its order fixed; if a
// part still waits for the high watermark it returns the delayed produce, which
// settles the parts, else nil.
func (m *Manager) Append(parts []ProducePart, o *AppendOptions) *DelayedProduce {
	waits := 0
	now := clock.Millis(m.clock)
	for i := range parts {
		part := &parts[i]
		if part.Partition == nil {
			continue
		}
		part.required = 0
		part.Partition.append(part, o, now)
		if part.Err == nil && o.Acks == -1 && !part.acked() {
			waits++
		}
	}
	if waits == 0 {
		return nil
	}
	return newDelayedProduce(m, parts, waits, o.Timeout)
}

// acked reports whether the part's promise holds already.
func (part *ProducePart) acked() bool {
	p := part.Partition
	p.role.RLock()
	defer p.role.RUnlock()
	return p.leadsLocked() == nil && p.log.HighWatermark() >= part.required && !p.state.UnderMinISR()
}

func (p *Partition) append(part *ProducePart, o *AppendOptions, now int64) {
	f := p.topic.figures
	f.produceRequests.Inc()
	p.m.figures.all.produceRequests.Inc()
	var k wakes
	p.role.RLock()
	size, records := p.appendLocked(part, o, now, &k)
	p.role.RUnlock()
	k.run()
	if part.Err != nil {
		return
	}
	f.appended(size, records)
	p.m.figures.all.appended(size, records)
}

// appendLocked is the append proper. The caller holds role shared.
func (p *Partition) appendLocked(part *ProducePart, o *AppendOptions, now int64, k *wakes) (size, records int) {
	if err := p.leadsLocked(); err != nil {
		part.Fail(err)
		return 0, 0
	}
	if o.Acks == -1 && p.state.UnderMinISR() {
		part.Fail(kerr.NotEnoughReplicas)
		part.LogStart = p.log.LogStartOffset()
		return 0, 0
	}
	s := p.topic.settings.Load()
	rules := record.Rules{
		Version: o.Version, NowMs: now, MaxMessageBytes: s.MaxMessageBytes, SegmentBytes: s.SegmentBytes,
		TimestampType: s.TimestampType, BeforeMaxMs: s.BeforeMaxMs, AfterMaxMs: s.AfterMaxMs,
		Compacted: s.Compact, Compression: s.Compression, TopicPartition: p.name,
	}
	v, err := record.ValidateProduce(part.Records, &rules)
	if err != nil {
		p.refuse(part, err)
		return 0, 0
	}
	a, err := p.log.AppendLeader(v.Batch, p.state.LeaderEpoch())
	if err != nil {
		p.refuse(part, err)
		return 0, 0
	}
	part.Err, part.Message, part.RecordErrors = nil, "", nil
	part.BaseOffset, part.LogAppendTime, part.LogStart = a.BaseOffset, v.LogAppendTimeMs, a.LogStartOffset
	part.required = a.LastOffset + 1
	if a.Duplicate {
		part.LogAppendTime = a.DuplicateMaxTimestamp
		return 0, 0
	}
	size, records = len(v.Batch), int(v.Batch.LastOffsetDelta())+1
	p.appendedLocked(a.LastOffset+1, size, k)
	return size, records
}

// refuse fills in the answer to an append that did not happen. Kafka tells the
// log's start unless the error was found before it asked the log.
func (p *Partition) refuse(part *ProducePart, err error) {
	part.Fail(err)
	var r *record.Refusal
	if errors.As(err, &r) {
		part.Err, part.Message, part.RecordErrors = r.Err, r.Message, r.Records
		if r.Err == kerr.MessageTooLarge || r.Err == kerr.RecordListTooLarge {
			p.topic.figures.bytesRejected.Add(int64(len(part.Records)))
			p.m.figures.all.bytesRejected.Add(int64(len(part.Records)))
		}
		if r.BeforeLog {
			return
		}
	} else if errors.Is(err, storage.ErrOffline) {
		return
	}
	part.LogStart = p.log.LogStartOffset()
	p.topic.figures.failedProduce.Inc()
	p.m.figures.all.failedProduce.Inc()
}
