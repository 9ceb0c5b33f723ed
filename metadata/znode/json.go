package znode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrMalformed: what stands at a path is not its document.
var ErrMalformed = errors.New("malformed znode")

// decode reads a JSON document.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// encode writes one, without the escapes for HTML that Kafka's writer does not
// know: <default> stays as it is. The documents have nothing that cannot be
// written.
func encode(doc any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		panic("znode: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// appendIDs writes broker ids as a JSON array.
func appendIDs(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}

// appendPartitions writes a map from partition to broker ids, in order.
func appendPartitions(b []byte, parts map[int32][]int32) []byte {
	numbers := make([]int32, 0, len(parts))
	for n := range parts {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	b = append(b, '{')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, '"', ':')
		b = appendIDs(b, parts[n])
	}
	return append(b, '}')
}
