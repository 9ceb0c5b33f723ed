package storage

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TopicPartition names a log.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is the name of the log's directory, "topic-0".
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// parseDirName splits a directory's name at its last dash.
func parseDirName(name string) (TopicPartition, bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return TopicPartition{}, false
	}
	p, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil || p < 0 || strconv.FormatInt(p, 10) != name[i+1:] {
		return TopicPartition{}, false
	}
	return TopicPartition{Topic: name[:i], Partition: int32(p)}, true
}

// Config are the settings of a topic that its logs act on. Times are
// milliseconds, sizes bytes; the names are Kafka's topic configs.
type Config struct {
	SegmentBytes       int32
	IndexBytes         int32
	IndexIntervalBytes int32
	SegmentMs          int64
	SegmentJitterMs    int64
	RetentionMs        int64 // -1 keeps for ever
	RetentionBytes     int64 // -1 keeps any amount
	FileDeleteDelayMs  int64
	FlushMessages      int64
	FlushMs            int64
	// ProducerIDExpirationMs is how long a silent producer is remembered.
	ProducerIDExpirationMs int64
	// Delete and Compact are the two cleanup policies; both may be set.
	Delete, Compact bool
	Preallocate     bool
}

// DefaultConfig is Kafka's default for every setting.
func DefaultConfig() Config {
	return Config{
		SegmentBytes: 1 << 30, IndexBytes: 10 << 20, IndexIntervalBytes: 4096,
		SegmentMs: 7 * 24 * 3600 * 1000, RetentionMs: 7 * 24 * 3600 * 1000, RetentionBytes: -1,
		FileDeleteDelayMs: 60_000, FlushMessages: math.MaxInt64, FlushMs: math.MaxInt64,
		ProducerIDExpirationMs: 24 * 3600 * 1000, Delete: true,
	}
}

// What a log refuses. Errors are wrapped with the log and the values; test with
// errors.Is.
var (
	// ErrOffsetOutOfRange: below the log start or above the log end.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrOutOfOrderSequence: a gap or a repeat beyond the five-batch window.
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrInvalidProducerEpoch: the producer was fenced by a newer epoch.
	ErrInvalidProducerEpoch = errors.New("producer epoch is older than the last one seen")
	// ErrRecordListTooLarge: a batch above segment.bytes.
	ErrRecordListTooLarge = errors.New("record batch is larger than the segment size")
	// ErrOffline: the log directory failed, or the log is closed or deleted.
	ErrOffline = errors.New("log is offline")
	// ErrNoSpace: the disk is full. Nothing was appended; a later try may work.
	ErrNoSpace = errors.New("no space left in the log directory")
	// ErrInconsistentTopicID: the directory belongs to another topic of the name.
	ErrInconsistentTopicID = errors.New("partition directory belongs to another topic id")
	// ErrCorrupt: bytes on disk are not what they must be.
	ErrCorrupt = errors.New("corrupt log")
)

// errorf wraps err with the log it happened in.
func (l *Log) errorf(err error, format string, args ...any) error {
	return fmt.Errorf("log %s: %s: %w", l.tp, fmt.Sprintf(format, args...), err)
}
