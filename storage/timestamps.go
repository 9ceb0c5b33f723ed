package storage

import (
	"errors"

	"barnabas/protocol/record"
)

// OffsetForTimestamp finds the first record below end whose timestamp is at
// least ms, with its leader epoch. found is false if there is none.
func (l *Log) OffsetForTimestamp(ms, end int64) (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	for {
		if err := l.usable(); err != nil {
			return 0, 0, -1, false, err
		}
		cuts := l.truncations.Load()
		offset, timestamp, leaderEpoch, found, err = l.searchTime(ms)
		if errors.Is(err, errRetired) || (err != nil && cuts != l.truncations.Load()) {
			continue // a segment was deleted or truncated under us: look again
		}
		if err != nil || !found || offset >= end {
			return 0, 0, -1, false, l.readFailed(err)
		}
		return offset, timestamp, leaderEpoch, true, nil
	}
}

func (l *Log) searchTime(ms int64) (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	start, segments := l.LogStartOffset(), l.segments()
	for i, s := range segments {
		if i+1 < len(segments) && segments[i+1].base <= start {
			continue
		}
		if err := l.loadTimes(s); err != nil {
			return 0, 0, -1, false, err
		}
		if err := l.repair(s); err != nil {
			return 0, 0, -1, false, err
		}
		if s.times.maximum().timestamp < ms {
			continue
		}
		offset, timestamp, leaderEpoch, found, err = l.firstSince(s, ms, start)
		if found || err != nil {
			return offset, timestamp, leaderEpoch, found, err
		}
	}
	return 0, 0, -1, false, nil
}

// firstSince searches one segment, from where the time index allows.
func (l *Log) firstSince(s *segment, ms, start int64) (offset, timestamp int64, epoch int32, found bool, err error) {
	from := int64(0)
	if older, ok, err := s.timeFloor(ms); err != nil {
		return 0, 0, -1, false, err
	} else if ok {
		// locate holds the index's word against the batches.
		if from, _, err = l.locate(s, older, s.size.Load()); err != nil {
			return 0, 0, -1, false, err
		}
	}
	var failed error
	_, err = l.scan(s, from, func(head record.Batch, position int64) bool {
		if head.MaxTimestamp() < ms || head.LastOffset() < start {
			return true
		}
		var b record.Batch
		if b, failed = l.readBatch(s, position, head.Size()); failed == nil {
			offset, timestamp, found, failed = b.FirstSince(ms, start)
			epoch = b.PartitionLeaderEpoch()
		}
		return !found && failed == nil
	})
	return offset, timestamp, epoch, found, errors.Join(failed, err)
}

// OffsetForMaxTimestamp finds the first record that has the log's highest
// timestamp. An empty log has none. As in Kafka, records below the log start
// count as long as their segment is there.
func (l *Log) OffsetForMaxTimestamp() (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	for {
		if err := l.usable(); err != nil {
			return 0, 0, -1, false, err
		}
		cuts := l.truncations.Load()
		offset, timestamp, leaderEpoch, found, err = l.searchMaxTime()
		if errors.Is(err, errRetired) || (err != nil && cuts != l.truncations.Load()) {
			continue
		}
		return offset, timestamp, leaderEpoch, found, l.readFailed(err)
	}
}

func (l *Log) searchMaxTime() (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	var best *segment
	highest := timeEntry{timestamp: noTime}
	for _, s := range l.segments() {
		if err := l.loadTimes(s); err != nil {
			return 0, 0, -1, false, err
		}
		if m := s.times.maximum(); m.timestamp > highest.timestamp {
			best, highest = s, m
		}
	}
	if best == nil {
		return 0, 0, -1, false, nil
	}
	position, size, err := l.locate(best, best.base+int64(highest.relative), best.size.Load())
	if err != nil || size == 0 {
		return 0, 0, -1, false, err
	}
	b, err := l.readBatch(best, position, size)
	if err != nil {
		return 0, 0, -1, false, err
	}
	offset, timestamp, found, err = b.OffsetOfMaxTimestamp()
	return offset, timestamp, b.PartitionLeaderEpoch(), found, err
}
