package record

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kerr"
)

// A Produce request is first looked at for its form, on two occasions, before any log is asked:
//
//  1. [Transactional], over all partitions, before anything else: a first batch whose length or magic makes no sense
//     fails the whole request, unknown topics included.
//  2. [CheckForm], for each partition that exists and may be written to, before acks are checked.
//
// Both hop over batch headers as Kafka does. The shortest entry it reckons with is a message of format v0.

const (
	// oldestOverhead is the size of a message of format v0 without key and value, the least that a length may be.
	oldestOverhead = 14
	// upToMagic is how many bytes Kafka needs to look at a magic.
	upToMagic = atMagic + 1
)

// hop gives the size of the first entry of data, or 0 if it is cut. A refusal says that it is corrupt.
func hop(data []byte) (size int, bad *Refusal) {
	if len(data) < LogOverhead {
		return 0, nil
	}
	n := int32(binary.BigEndian.Uint32(data[atLength:]))
	if n < oldestOverhead {
		return 0, corruptEntry("Record size %d is less than the minimum record overhead (%d)", n, oldestOverhead)
	}
	if len(data) < upToMagic {
		return 0, nil
	}
	if m := int8(data[atMagic]); m < 0 || m > Magic {
		return 0, corruptEntry("Invalid magic found in record: %d", m)
	}
	if size = LogOverhead + int(n); size > len(data) {
		return 0, nil
	}
	return size, nil
}

func corruptEntry(format string, args ...any) *Refusal {
	return refuse(kerr.CorruptMessage, format, args...).beforeLog()
}

// Transactional tells whether the first batch of a partition's records belongs to a transaction, so that the request
// needs a transactional id. An error is a [*Refusal] of the whole request.
func Transactional(data []byte) (bool, error) {
	size, bad := hop(data)
	if bad != nil {
		bad.Message, bad.WholeRequest = bad.Detail, true
		return false, bad
	}
	return size > 0 && int8(data[atMagic]) == Magic && Batch(data).IsTransactional(), nil
}

// CheckForm tells whether the records of one partition are what the request's version may carry: exactly one batch of
// format v2 from version 3 on, with zstd from version 7 on. Bytes behind the batch that are no whole batch are allowed.
// An error is a [*Refusal]. [ValidateProduce] checks this too; a handler calls it where Kafka checks something else
// in between (acks, whether this broker leads, the number of in-sync replicas).
func CheckForm(data []byte, version int16) error {
	if _, bad := form(data, version); bad != nil {
		return bad
	}
	return nil
}

// form is CheckForm that gives the size of the batch.
func form(data []byte, version int16) (size int, bad *Refusal) {
	size, bad = hop(data)
	if bad != nil {
		return 0, bad
	}
	if size == 0 {
		return 0, refuse(kerr.InvalidRecord,
			"Produce requests with version %d must have at least one record batch per partition", version).beforeLog()
	}
	if int8(data[atMagic]) != Magic {
		return 0, refuse(kerr.InvalidRecord,
			"Produce requests with version %d are only allowed to contain record batches with magic version 2", version).beforeLog()
	}
	if version < 7 {
		switch c := Batch(data).Codec(); {
		case c == Zstd:
			return 0, refuse(kerr.UnsupportedCompressionType,
				"Produce requests with version %d are not allowed to use ZStandard compression", version).beforeLog()
		case !c.Known(): // an exception that Kafka does not expect here
			bad = refuse(kerr.UnknownServerError, "Unknown compression type id: %d", int8(c)).beforeLog()
			bad.WholeRequest = true
			return 0, bad
		}
	}
	more, bad := hop(data[size:])
	if bad != nil {
		return 0, bad
	}
	if more != 0 {
		return 0, refuse(kerr.InvalidRecord,
			"Produce requests with version %d are only allowed to contain exactly one record batch per partition", version).beforeLog()
	}
	return size, nil
}
