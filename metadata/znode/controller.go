package znode

import (
	"fmt"
	"strconv"
)

// Controller is who holds /controller.
type Controller struct {
	BrokerID int32
	// TimestampMs is when it was elected.
	TimestampMs int64
}

// Encode writes the document, version 2.
func (c *Controller) Encode() []byte {
	return fmt.Appendf(nil, `{"version":2,"brokerid":%d,"timestamp":"%d","kraftControllerEpoch":-1}`, c.BrokerID, c.TimestampMs)
}

// DecodeController reads the document, version 1 or 2.
func DecodeController(data []byte) (*Controller, error) {
	var doc struct {
		BrokerID  *int32 `json:"brokerid"`
		Timestamp string `json:"timestamp"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.BrokerID == nil {
		return nil, fmt.Errorf("%w: a controller needs brokerid", ErrMalformed)
	}
	ms, _ := strconv.ParseInt(doc.Timestamp, 10, 64) // only for people
	return &Controller{*doc.BrokerID, ms}, nil
}

// EncodeControllerEpoch writes /controller_epoch.
func EncodeControllerEpoch(epoch int32) []byte { return []byte(decimal(epoch)) }

// DecodeControllerEpoch reads it.
func DecodeControllerEpoch(data []byte) (int32, error) {
	n, err := strconv.ParseInt(string(data), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: controller epoch %q", ErrMalformed, data)
	}
	return int32(n), nil
}

// EncodeClusterID writes /cluster/id. Its version is a string.
func EncodeClusterID(id string) []byte {
	return encode(struct {
		Version string `json:"version"`
		ID      string `json:"id"`
	}{"1", id})
}

// DecodeClusterID reads it.
func DecodeClusterID(data []byte) (string, error) {
	var doc struct {
		ID string `json:"id"`
	}
	if err := decode(data, &doc); err != nil {
		return "", err
	}
	if doc.ID == "" {
		return "", fmt.Errorf("%w: a cluster id is not empty", ErrMalformed)
	}
	return doc.ID, nil
}
