package storage

import (
	"slices"

	"barnabas/protocol/record"
)

// window is how many batches of a producer are remembered: as many as an
// idempotent producer may have in flight.
const window = 5

// producers is what a log knows of idempotent producers. It belongs to the
// append lock. The zero value knows none.
type producers struct {
	byID map[int64]*producer
	// through is the offset up to which batches were taken.
	through int64
}

// producer is one producer's state in one log.
type producer struct {
	epoch   int16
	batches []producerBatch // the last ones, oldest first; at most window
	// partial: older batches of the epoch are only in the log (a snapshot keeps
	// one), to be read if a retry asks for them.
	partial          bool
	lastTimestamp    int64
	coordinatorEpoch int32
	txnFirstOffset   int64 // -1: no open transaction
}

type producerBatch struct {
	firstSequence, lastSequence int32
	lastOffset                  int64
	offsetDelta                 int32
	timestamp                   int64
}

func batchEntry(b record.Batch) producerBatch {
	return producerBatch{b.BaseSequence(), b.LastSequence(), b.LastOffset(), b.LastOffsetDelta(), b.MaxTimestamp()}
}

func (e producerBatch) baseOffset() int64 { return e.lastOffset - int64(e.offsetDelta) }

// ProducerState is what DescribeProducers and tests see of a producer.
type ProducerState struct {
	ProducerID       int64
	ProducerEpoch    int16
	LastSequence     int32
	LastTimestamp    int64
	CoordinatorEpoch int32
	TxnStartOffset   int64
}

// verdict is what the sequence check says of a batch.
type verdict struct {
	duplicate *producerBatch
	err       error
}

// check tells whether a leader may append b (kafka.md 6.4, ProducerAppendInfo).
// It changes nothing but the memory of older batches.
func (l *Log) checkSequence(b record.Batch) verdict {
	if b.BaseSequence() < 0 {
		return verdict{}
	}
	p := l.producers.byID[b.ProducerID()]
	if p == nil {
		return verdict{} // unknown producers may start anywhere
	}
	first, last := b.BaseSequence(), b.LastSequence()
	switch epoch := b.ProducerEpoch(); {
	case epoch < p.epoch:
		return verdict{err: l.errorf(ErrInvalidProducerEpoch, "producer %d has epoch %d, the last one seen is %d", b.ProducerID(), epoch, p.epoch)}
	case epoch > p.epoch:
		if first != 0 && p.epoch != record.NoProducerEpoch {
			return verdict{err: l.errorf(ErrOutOfOrderSequence, "producer %d starts epoch %d with sequence %d, not 0", b.ProducerID(), epoch, first)}
		}
		return verdict{}
	}
	if d := p.find(first, last); d != nil {
		return verdict{duplicate: d}
	}
	if len(p.batches) == 0 {
		return verdict{}
	}
	newest := p.batches[len(p.batches)-1].lastSequence
	if first == record.AddSequence(newest, 1) || newest < 0 {
		return verdict{}
	}
	if p.partial {
		l.recall(b.ProducerID(), p)
		if d := p.find(first, last); d != nil {
			return verdict{duplicate: d}
		}
	}
	return verdict{err: l.errorf(ErrOutOfOrderSequence, "producer %d sent sequence %d, %d was next", b.ProducerID(), first, record.AddSequence(newest, 1))}
}

func (p *producer) find(first, last int32) *producerBatch {
	for i := range p.batches {
		if p.batches[i].firstSequence == first && p.batches[i].lastSequence == last {
			return &p.batches[i]
		}
	}
	return nil
}

// take notes an appended batch.
func (s *producers) take(b record.Batch) {
	s.through = b.LastOffset() + 1
	if !b.HasProducerID() {
		return
	}
	p := s.byID[b.ProducerID()]
	if p == nil {
		if s.byID == nil {
			s.byID = make(map[int64]*producer)
		}
		p = &producer{epoch: b.ProducerEpoch(), coordinatorEpoch: -1, txnFirstOffset: -1}
		s.byID[b.ProducerID()] = p
	}
	if b.ProducerEpoch() != p.epoch {
		p.epoch, p.batches, p.partial = b.ProducerEpoch(), p.batches[:0], false
	}
	p.lastTimestamp = b.MaxTimestamp()
	if b.IsControl() {
		return // a marker has no sequence
	}
	if len(p.batches) == window {
		copy(p.batches, p.batches[1:])
		p.batches = p.batches[:window-1]
		p.partial = false
	}
	p.batches = append(p.batches, batchEntry(b))
}

// expire forgets producers that were silent since before the given time.
func (s *producers) expire(before int64) {
	for id, p := range s.byID {
		if p.lastTimestamp < before && p.txnFirstOffset < 0 {
			delete(s.byID, id)
		}
	}
}

// recall reads a producer's older batches back from the log, as many as the
// window holds. Kafka's snapshots keep only the last one.
func (l *Log) recall(id int64, p *producer) {
	p.partial = false
	if len(p.batches) == 0 || len(p.batches) == window {
		return
	}
	oldest := p.batches[0]
	if oldest.firstSequence == 0 {
		return
	}
	segments := l.segments()
	for i := len(segments) - 1; i >= 0 && len(p.batches) < window; i-- {
		if segments[i].base > oldest.lastOffset {
			continue
		}
		var older []producerBatch
		_, err := l.scan(segments[i], 0, func(b record.Batch, _ int64) bool {
			if b.BaseOffset() >= oldest.baseOffset() {
				return false
			}
			if b.ProducerID() == id && b.ProducerEpoch() == p.epoch && !b.IsControl() {
				older = append(older, batchEntry(b))
			}
			return true
		})
		if err != nil {
			return // the retry is then refused as out of order: the client's to repeat
		}
		room := window - len(p.batches)
		older = older[max(0, len(older)-room):]
		p.batches = slices.Concat(older, p.batches)
	}
}

// ActiveProducers are the producers that the log remembers, in order of id.
func (l *Log) ActiveProducers() []ProducerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	states := make([]ProducerState, 0, len(l.producers.byID))
	for id, p := range l.producers.byID {
		s := ProducerState{
			ProducerID: id, ProducerEpoch: p.epoch, LastSequence: record.NoSequence,
			LastTimestamp: p.lastTimestamp, CoordinatorEpoch: p.coordinatorEpoch, TxnStartOffset: p.txnFirstOffset,
		}
		if n := len(p.batches); n > 0 {
			s.LastSequence = p.batches[n-1].lastSequence
		}
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b ProducerState) int { return int(min(max(a.ProducerID-b.ProducerID, -1), 1)) })
	return states
}
