package record

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// verdicts collects what is wrong with single records.
type verdicts struct {
	errors     []RecordError
	total      int
	timestamps bool // one of them is about a timestamp
}

// add counts a mistake and names it, as long as there are not too many.
func (v *verdicts) add(i int, message func() string) {
	v.total++
	if len(v.errors) < MaxRecordErrors {
		v.errors = append(v.errors, RecordError{BatchIndex: int32(i), Message: message()})
	}
}

// judge looks at each record of a batch whose structure is sound; nil if all are good after all. inPlace tells which of
// Kafka's two ways of reading a compressed batch shows in messages.
func judge(b Batch, r *Rules, inPlace bool) *Refusal {
	var v verdicts
	noKey := "Compacted topic cannot accept message without key in topic partition " + r.TopicPartition
	partial := inPlace && b.Codec() != None
	err := b.each(r.limit(), func(i int, m *meta) bool {
		if r.Compacted && m.keyLength < 0 {
			v.add(i, func() string { return noKey })
			return true
		}
		ts := b.BaseTimestamp() + m.timestampDelta
		if b.TimestampType() == LogAppendTime {
			ts = b.MaxTimestamp()
		}
		switch {
		case r.TimestampType == CreateTime && ts != NoTimestamp:
			if outOfRange(ts, r) {
				v.timestamps = true
				v.add(i, func() string { return outOfRangeMessage(ts, m, r) })
			}
		case b.TimestampType() == LogAppendTime:
			v.timestamps = true
			v.add(i, func() string {
				return "Invalid timestamp type in message " + describe(m, ts, partial) + ". Producer should not set timestamp type to LogAppendTime."
			})
		}
		return true
	})
	if err != nil {
		return refuseWalk(err, r)
	}
	if v.total == 0 {
		return nil
	}
	return v.refusal()
}

func outOfRangeMessage(ts int64, m *meta, r *Rules) string {
	return fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]",
		ts, m.offsetDelta, r.NowMs-r.BeforeMaxMs, r.NowMs+r.AfterMaxMs)
}

// describe words a record as Kafka does.
func describe(m *meta, ts int64, partial bool) string {
	name, key, value := "DefaultRecord", max(m.keyLength, 0), max(m.valueLength, 0)
	if partial {
		name, key, value = "PartialDefaultRecord", m.keyLength, m.valueLength
	}
	return fmt.Sprintf("%s(offset=%d, timestamp=%d, key=%d bytes, value=%d bytes)", name, m.offsetDelta, ts, key, value)
}

func (v *verdicts) refusal() *Refusal {
	bad := &Refusal{Err: kerr.InvalidTimestamp, Records: v.errors}
	bad.Message = "One or more records have been rejected due to invalid timestamp"
	if !v.timestamps {
		first := make([]string, 0, 3)
		for _, e := range v.errors[:min(len(v.errors), 3)] {
			first = append(first, fmt.Sprintf("RecordError(batchIndex=%d, message='%s')", e.BatchIndex, e.Message))
		}
		bad.Err = kerr.InvalidRecord
		bad.Message = fmt.Sprintf("One or more records have been rejected due to %d record errors in total, and only showing the first three errors at most: [%s]",
			v.total, strings.Join(first, ", "))
	}
	bad.Detail = bad.Message
	return bad
}
