package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

// recordReader makes records of lines and files as the flags of produce say.
type recordReader struct {
	topic        string
	partition    int32
	delimiter    []byte
	keyDelimiter []byte // empty: no keys
	headers      []kgo.RecordHeader
	nulls        bool
	maxBytes     int
}

func newRecordReader(cmd *cobra.Command, f *produceFlags, topic string) (*recordReader, error) {
	r := &recordReader{
		topic: topic, partition: f.partition, nulls: f.nulls, maxBytes: f.maxBytes,
		delimiter: []byte(unescape(f.delimiter)), keyDelimiter: []byte(unescape(f.keyDelimiter)),
	}
	if len(r.delimiter) == 0 {
		return nil, usageErrorf(cmd, "--delimiter: must not be empty")
	}
	for _, header := range f.headers {
		key, value, ok := strings.Cut(header, "=")
		if key == "" {
			return nil, usageErrorf(cmd, "--header %q: not key=value", header)
		}
		h := kgo.RecordHeader{Key: key}
		if ok {
			h.Value = []byte(value)
		}
		r.headers = append(r.headers, h)
	}
	return r, nil
}

// scanner splits in at the delimiter. A last record needs none.
func (r *recordReader) scanner(in io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, min(64<<10, r.maxBytes)), r.maxBytes+len(r.delimiter))
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.Index(data, r.delimiter); i >= 0 {
			return i + len(r.delimiter), data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	return s
}

// scanError words what ended a scan after n records.
func (r *recordReader) scanError(err error, n int64) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("record %d of the input is longer than --max-message-bytes %d: raise it (and the topic's max.message.bytes), or give the right --delimiter", n+1, r.maxBytes)
	}
	return fmt.Errorf("read record %d: %w", n+1, err)
}

// fromLine is the record that a line spells. It does not keep line.
func (r *recordReader) fromLine(line []byte) *kgo.Record {
	own := bytes.Clone(line)
	if own == nil {
		own = []byte{}
	}
	var key []byte
	value := own
	if len(r.keyDelimiter) > 0 {
		if before, after, ok := bytes.Cut(own, r.keyDelimiter); ok {
			key, value = before[:len(before):len(before)], after
		}
	}
	return r.record(key, value)
}

// record puts a record together.
func (r *recordReader) record(key, value []byte) *kgo.Record {
	if r.nulls && len(key) == 0 {
		key = nil
	}
	if r.nulls && len(value) == 0 {
		value = nil
	}
	return &kgo.Record{Topic: r.topic, Partition: max(r.partition, 0), Key: key, Value: value, Headers: r.headers}
}
