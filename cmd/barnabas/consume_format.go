package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// formatPart is a piece of a format: a token of kcat's, or text as it is.
type formatPart struct {
	token byte // 0: text
	text  string
}

const formatTokens = "tpoksThKS"

// parseFormat reads consume's -f.
func parseFormat(format string) ([]formatPart, error) {
	var parts []formatPart
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, formatPart{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			c, size := unescapeAt(format[i:])
			text.WriteByte(c)
			i += size - 1
			continue
		}
		i++
		switch {
		case i == len(format):
			return nil, fmt.Errorf("ends in a single %%: write %%%% for a percent sign")
		case format[i] == '%':
			text.WriteByte('%')
		case strings.IndexByte(formatTokens, format[i]) >= 0:
			flush()
			parts = append(parts, formatPart{token: format[i]})
		default:
			return nil, fmt.Errorf("unknown token %%%c: there are %%t %%p %%o %%k %%s %%h %%T %%K %%S %%%%", format[i])
		}
	}
	flush()
	return parts, nil
}

// printFormat prints one record as parts say.
func printFormat(w *bufio.Writer, parts []formatPart, r *kgo.Record, nulls bool) error {
	var number [20]byte
	for _, part := range parts {
		switch part.token {
		case 0:
			w.WriteString(part.text)
		case 't':
			w.WriteString(r.Topic)
		case 'p':
			w.Write(strconv.AppendInt(number[:0], int64(r.Partition), 10))
		case 'o':
			w.Write(strconv.AppendInt(number[:0], r.Offset, 10))
		case 'T':
			w.Write(strconv.AppendInt(number[:0], r.Timestamp.UnixMilli(), 10))
		case 'k':
			writeBytes(w, r.Key, nulls)
		case 's':
			writeBytes(w, r.Value, nulls)
		case 'h':
			writeHeaders(w, r.Headers)
		case 'K':
			w.Write(strconv.AppendInt(number[:0], length(r.Key), 10))
		case 'S':
			w.Write(strconv.AppendInt(number[:0], length(r.Value), 10))
		}
	}
	_, err := w.Write(nil) // a bufio.Writer keeps its first error
	return err
}

// writeBytes writes b, or NULL for null when that is asked for.
func writeBytes(w *bufio.Writer, b []byte, nulls bool) {
	if b == nil && nulls {
		w.WriteString("NULL")
		return
	}
	w.Write(b)
}

// length is b's, -1 for null.
func length(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

// writeHeaders writes key=value pairs with commas between them.
func writeHeaders(w *bufio.Writer, headers []kgo.RecordHeader) {
	for i, h := range headers {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString(h.Key)
		w.WriteByte('=')
		writeBytes(w, h.Value, true)
	}
}

// envelope is a record as JSON. Names and order are kcat's.
type envelope struct {
	Topic         string    `json:"topic"`
	Partition     int32     `json:"partition"`
	Offset        int64     `json:"offset"`
	TimestampType string    `json:"tstype"`
	Timestamp     int64     `json:"ts"`
	Headers       []*string `json:"headers,omitempty"` // key, value, key, value …
	Key           *string   `json:"key"`
	KeyBase64     []byte    `json:"key_base64,omitempty"`
	Payload       *string   `json:"payload"`
	PayloadBase64 []byte    `json:"payload_base64,omitempty"`
}

// printJSON prints one record as a line of JSON.
func printJSON(w *bufio.Writer, r *kgo.Record) error {
	e := envelope{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, TimestampType: "create", Timestamp: r.Timestamp.UnixMilli()}
	switch r.Attrs.TimestampType() {
	case 1:
		e.TimestampType = "logappend"
	case -1:
		e.TimestampType = "unknown"
	}
	e.Key, e.KeyBase64 = asText(r.Key)
	e.Payload, e.PayloadBase64 = asText(r.Value)
	for _, h := range r.Headers {
		value, _ := asText(h.Value)
		if value == nil && h.Value != nil {
			s := strings.ToValidUTF8(string(h.Value), "�")
			value = &s
		}
		e.Headers = append(e.Headers, &h.Key, value)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(&e)
}

// asText gives UTF-8 as a string and other bytes as they are; null is neither.
func asText(b []byte) (text *string, raw []byte) {
	if b == nil {
		return nil, nil
	}
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}
