package record

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Compression is a topic's compression.type and level.
type Compression struct {
	FromProducer bool  // store batches as they came
	Codec        Codec // otherwise
	Level        int   // Kafka's number, see [Codec.DefaultLevel]
}

// Rules say how a leader judges the records of one partition of a Produce request.
type Rules struct {
	Version         int16         // of the Produce request; below 3 see ValidateProduce
	NowMs           int64         // the broker's time
	MaxMessageBytes int32         // max.message.bytes
	SegmentBytes    int32         // segment.bytes
	TimestampType   TimestampType // message.timestamp.type
	BeforeMaxMs     int64         // message.timestamp.before.max.ms
	AfterMaxMs      int64         // message.timestamp.after.max.ms
	Compacted       bool          // cleanup.policy has compact
	Compression     Compression   // compression.type
	MaxDecompressed int           // bytes a batch may decompress to; 0: 16 times MaxMessageBytes, at least DefaultLimit
	HeaderOnly      bool          // trust the producer's records: do not walk over them where nothing depends on it
	TopicPartition  string        // "T-0", for messages
}

// limit is how much a batch may decompress to.
func (r *Rules) limit() int {
	if r.MaxDecompressed > 0 {
		return r.MaxDecompressed
	}
	return max(DefaultLimit, 16*int(r.MaxMessageBytes))
}

// Validated is a batch that may be appended.
type Validated struct {
	// Batch is the caller's bytes, patched in place, or a rebuilt copy. Base offset and partition leader epoch are for
	// the log to set.
	Batch Batch
	// LogAppendTimeMs is the time that all records got, or -1 if they keep the producer's.
	LogAppendTimeMs int64
}

// RecordError says what is wrong with one record of a batch.
type RecordError struct {
	BatchIndex int32 // the record's place in the batch, from 0
	Message    string
}

// MaxRecordErrors is how many records a [Refusal] names at most. Kafka names all; but a few hundred bytes of zstd can
// hold millions of bad records, and each would be answered with a line of text.
const MaxRecordErrors = 1000

// Refusal is why the records of a partition are not appended, as a Produce response says it.
type Refusal struct {
	Err *kerr.Error
	// Message is the reply's error message; empty is null, which Kafka answers for nearly all mistakes.
	Message string
	// Detail is what an operator should read; the text that Kafka logs.
	Detail string
	// Records are the reply's record errors, at most MaxRecordErrors.
	Records []RecordError
	// BeforeLog tells that Kafka has not asked the log when it finds this: the reply's log start offset is -1.
	BeforeLog bool
	// WholeRequest tells that Kafka answers every partition of the request with this error and message, and appends
	// nothing.
	WholeRequest bool
}

// Error gives the code's name and the detail.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return r.Err.Message
	}
	return r.Err.Message + ": " + r.Detail
}

// Unwrap gives the code, so that errors.Is(err, kerr.CorruptMessage) holds.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(e *kerr.Error, format string, args ...any) *Refusal {
	return &Refusal{Err: e, Detail: fmt.Sprintf(format, args...)}
}

func (r *Refusal) beforeLog() *Refusal {
	r.BeforeLog = true
	return r
}
