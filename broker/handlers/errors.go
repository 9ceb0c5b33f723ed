package handlers

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"barnabas/storage"
)

// codes maps what lower rooms report to Kafka's error codes. Errors that are
// Kafka's already (kerr.Error) map to themselves.
var codes = []struct {
	err  error
	code *kerr.Error
}{
	{storage.ErrOffsetOutOfRange, kerr.OffsetOutOfRange},
	{storage.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber},
	{storage.ErrInvalidProducerEpoch, kerr.InvalidProducerEpoch},
	{storage.ErrRecordListTooLarge, kerr.RecordListTooLarge},
	{storage.ErrOffline, kerr.KafkaStorageError},
	{storage.ErrNoSpace, kerr.KafkaStorageError},
	{storage.ErrCorrupt, kerr.CorruptMessage},
	{storage.ErrInconsistentTopicID, kerr.InconsistentTopicID},
}

// kafkaError is the only map from internal errors to Kafka's. nil stays nil.
// What has no place in the table is a bug and answers UNKNOWN_SERVER_ERROR.
func kafkaError(err error) *kerr.Error {
	if err == nil {
		return nil
	}
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return kerr.UnknownServerError
}

// errorCode is kafkaError as the number on the wire; a bug is logged as one.
func (h *Handlers) errorCode(err error, doing string) int16 {
	ke := kafkaError(err)
	if ke == nil {
		return 0
	}
	if ke == kerr.UnknownServerError && h.log != nil {
		h.log.Error("bug: an error without a Kafka code", zap.String("while", doing), zap.Error(err))
	}
	return ke.Code
}
