package storage

import (
	"errors"

	"barnabas/protocol/record"
)

// OffsetForTimestamp finds the first record below end whose timestamp is at
// least ms, with its leader epoch. found is false if there is none.
func (l *Log) OffsetForTimestamp(ms, end int64) (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	if err := l.usable(); err != nil {
		return 0, 0, -1, false, err
	}
	start := l.LogStartOffset()
	for i, s := range l.segments() {
		if err := l.loadTimesShared(s); err != nil {
			return 0, 0, -1, false, l.readFailed(err)
		}
		if last := l.lastOf(i); s.times.maximum().timestamp < ms || last < start {
			continue
		}
		offset, timestamp, leaderEpoch, found, err = l.firstSince(s, ms, start)
		if found || err != nil {
			return offset, timestamp, leaderEpoch, found && offset < end, l.readFailed(err)
		}
	}
	return 0, 0, -1, false, nil
}

// lastOf is the last offset that segment i may hold.
func (l *Log) lastOf(i int) int64 {
	segments := l.segments()
	if i+1 < len(segments) {
		return segments[i+1].base - 1
	}
	return l.LogEndOffset() - 1
}

func (l *Log) loadTimesShared(s *segment) error {
	if s.times.maximum().timestamp != noTime || s.size.Load() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loadTimes(s)
}

// firstSince searches one segment, from where the time index allows.
func (l *Log) firstSince(s *segment, ms, start int64) (offset, timestamp int64, epoch int32, found bool, err error) {
	from := int64(0)
	if relative, ok := s.times.floor(ms); ok {
		if from, err = s.lookup(s.base + relative); err != nil {
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
	if err := l.usable(); err != nil {
		return 0, 0, -1, false, err
	}
	var best *segment
	highest := timeEntry{timestamp: noTime}
	for _, s := range l.segments() {
		if err := l.loadTimesShared(s); err != nil {
			return 0, 0, -1, false, l.readFailed(err)
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
		return 0, 0, -1, false, l.readFailed(err)
	}
	b, err := l.readBatch(best, position, size)
	if err != nil {
		return 0, 0, -1, false, l.readFailed(err)
	}
	offset, timestamp, found, err = b.OffsetOfMaxTimestamp()
	return offset, timestamp, b.PartitionLeaderEpoch(), found, err
}
