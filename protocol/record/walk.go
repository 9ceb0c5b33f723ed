package record

import "math"

// summary is what one walk over the records of a batch tells.
type summary struct {
	max, min  int64 // timestamps; -1 counts for max only
	nullKeys  bool
	ordered   bool // offset deltas are 0, 1, 2 ...
	canonical bool // a rebuilt batch would hold the same bytes
}

func newSummary() summary {
	return summary{max: NoTimestamp, min: math.MaxInt64, ordered: true, canonical: true}
}

// headerSummary believes the batch header.
func headerSummary(b Batch) summary {
	s := newSummary()
	s.add(b.MaxTimestamp())
	if b.TimestampType() == CreateTime {
		s.add(b.BaseTimestamp())
	}
	s.max = b.MaxTimestamp()
	return s
}

func (s *summary) add(ts int64) {
	if ts > s.max {
		s.max = ts
	}
	if ts < s.min && ts != NoTimestamp {
		s.min = ts
	}
}

// walk goes over all records of the batch, which a producer sent.
func (s *summary) walk(b Batch, limit int) error {
	*s = newSummary()
	base, keep := b.BaseTimestamp(), int64(-1)
	if b.TimestampType() == LogAppendTime { // all records have the one timestamp
		base, keep = b.MaxTimestamp(), 0
	}
	var err error
	if b.Codec() == None {
		err = s.walkPlain(b, base, keep)
	} else {
		err = b.each(limit, func(i int, m *meta) bool {
			s.record(int32(i), m, base, keep)
			return true
		})
	}
	s.canonical = s.canonical && s.ordered && b.TimestampType() == CreateTime
	return err
}

// walkPlain is each without a call per record: this loop is what a produced record costs.
func (s *summary) walkPlain(b Batch, base, keep int64) error {
	p, at := b.Payload(), 0
	var m meta
	var err error
	for i := range b.RecordCount() {
		next := skimShort(p, at, &m)
		if next == 0 {
			if next, err = skim(p, at, &m); err != nil {
				if err == errRecordCut && varintTooLong(p, at) {
					return errRecordLengthBad
				}
				return err
			}
		}
		at = next
		s.record(i, &m, base, keep)
	}
	if at != len(p) {
		return errRecordsLeft
	}
	return nil
}

// record adds what one record tells. keep is -1 where its timestamp counts and 0 where it does not.
func (s *summary) record(i int32, m *meta, base, keep int64) {
	s.add(base + m.timestampDelta&keep)
	if m.keyLength < 0 {
		s.nullKeys = true
	}
	if m.offsetDelta != i {
		s.ordered = false
	}
	if m.attributes != 0 || i == 0 && m.timestampDelta != 0 {
		s.canonical = false
	}
}

// suspicious tells whether a record may be wrong by itself, so that each has to be judged. Far-off timestamps, with
// which the subtraction might wrap, always are.
func (s *summary) suspicious(b Batch, r *Rules) bool {
	if r.Compacted && s.nullKeys {
		return true
	}
	if r.TimestampType == LogAppendTime {
		return b.TimestampType() == LogAppendTime
	}
	if b.TimestampType() == LogAppendTime && b.MaxTimestamp() == NoTimestamp {
		return true
	}
	if s.min == math.MaxInt64 { // no record has a timestamp
		return false
	}
	const far = 1 << 61
	return s.min < -far || s.max > far || outOfRange(s.min, r) || outOfRange(s.max, r)
}

// outOfRange tells whether a timestamp is too old or too far ahead. It wraps where Kafka's arithmetic does.
func outOfRange(ts int64, r *Rules) bool {
	diff := r.NowMs - ts
	return diff > r.BeforeMaxMs || -diff > r.AfterMaxMs
}
