package znode

import (
	"fmt"
	"strconv"
)

// Migration is how far a migration to KRaft has come.
type Migration struct {
	ControllerID    int32 `json:"kraft_controller_id"`
	ControllerEpoch int32 `json:"kraft_controller_epoch"`
	MetadataOffset  int64 `json:"kraft_metadata_offset"`
	MetadataEpoch   int32 `json:"kraft_metadata_epoch"`
}

// Encode writes /migration, version 0.
func (m *Migration) Encode() []byte {
	return encode(struct {
		Version int `json:"version"`
		*Migration
	}{0, m})
}

// DecodeMigration reads /migration.
func DecodeMigration(data []byte) (*Migration, error) {
	var m Migration
	if err := decode(data, &m); err != nil {
		return nil, err
	}
	return &m, nil
}

// Subscription is what a member of an old high-level consumer's group registers.
type Subscription struct {
	// Topics are the number of streams by topic, or by pattern.
	Topics map[string]int `json:"subscription"`
	// Pattern is static, white_list or black_list.
	Pattern   string `json:"pattern"`
	Timestamp string `json:"timestamp"`
}

// Encode writes it, version 1.
func (s *Subscription) Encode() []byte {
	return encode(struct {
		Version int `json:"version"`
		*Subscription
	}{1, s})
}

// DecodeSubscription reads it.
func DecodeSubscription(data []byte) (*Subscription, error) {
	var s Subscription
	if err := decode(data, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// EncodeConsumerOffset writes an offset as OffsetCommit 0 does.
func EncodeConsumerOffset(offset int64) []byte { return strconv.AppendInt(nil, offset, 10) }

// DecodeConsumerOffset reads it.
func DecodeConsumerOffset(data []byte) (int64, error) {
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: offset %q", ErrMalformed, data)
	}
	return n, nil
}
