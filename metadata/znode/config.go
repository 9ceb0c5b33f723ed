package znode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// EncodeConfig writes the settings of an entity, version 1.
func EncodeConfig(values map[string]string) []byte {
	if values == nil {
		values = map[string]string{}
	}
	return encode(struct {
		Version int               `json:"version"`
		Config  map[string]string `json:"config"`
	}{1, values})
}

// DecodeConfig reads them. Only version 1 is known; an empty znode has none. A
// value that is a number or a boolean, as people write them by hand, is its
// text.
func DecodeConfig(data []byte) (map[string]string, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var doc struct {
		Version int                        `json:"version"`
		Config  map[string]json.RawMessage `json:"config"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.Version != 1 {
		return nil, fmt.Errorf("%w: settings of version %d", ErrMalformed, doc.Version)
	}
	out := make(map[string]string, len(doc.Config))
	for k, raw := range doc.Config {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			if text = string(raw); strings.ContainsAny(text, "{[") {
				return nil, fmt.Errorf("%w: setting %s", ErrMalformed, k)
			}
		}
		out[k] = text
	}
	return out, nil
}

// EncodeConfigChange writes a notification, version 2. entity is the path below
// /config, such as topics/T.
func EncodeConfigChange(entity string) []byte {
	return encode(struct {
		Version int    `json:"version"`
		Entity  string `json:"entity_path"`
	}{2, entity})
}

// DecodeConfigChange reads a notification of version 1 or 2 and gives the
// entity's path below /config.
func DecodeConfigChange(data []byte) (string, error) {
	var doc struct {
		Version int    `json:"version"`
		Path    string `json:"entity_path"`
		Kind    string `json:"entity_type"`
		Name    string `json:"entity_name"`
	}
	if err := decode(data, &doc); err != nil {
		return "", err
	}
	switch {
	case doc.Version == 1 && (doc.Kind == Topics || doc.Kind == Clients) && doc.Name != "":
		return doc.Kind + "/" + doc.Name, nil
	case doc.Version == 2 && strings.Contains(doc.Path, "/"):
		return doc.Path, nil
	}
	return "", fmt.Errorf("%w: config change %q", ErrMalformed, data)
}

// ProducerIDBlock is the block of producer ids that was given out last.
type ProducerIDBlock struct {
	BrokerID int32
	// First and Last are in the block.
	First, Last int64
}

// Encode writes the document, version 1. Its numbers are strings.
func (b *ProducerIDBlock) Encode() []byte {
	return fmt.Appendf(nil, `{"version":1,"broker":%d,"block_start":"%d","block_end":"%d"}`, b.BrokerID, b.First, b.Last)
}

// DecodeProducerIDBlock reads the document. Of an empty znode, where no block
// was given out yet, it gives nil.
func DecodeProducerIDBlock(data []byte) (*ProducerIDBlock, error) {
	if len(data) == 0 {
		return nil, nil //nolint:nilnil // no block is no error
	}
	var doc struct {
		Broker int32  `json:"broker"`
		First  string `json:"block_start"`
		Last   string `json:"block_end"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	first, err1 := strconv.ParseInt(doc.First, 10, 64)
	last, err2 := strconv.ParseInt(doc.Last, 10, 64)
	if err1 != nil || err2 != nil || first < 0 || last < first {
		return nil, fmt.Errorf("%w: producer id block %q", ErrMalformed, data)
	}
	return &ProducerIDBlock{doc.Broker, first, last}, nil
}
