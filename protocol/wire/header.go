package wire

import (
	"encoding/binary"
	"errors"
)

// ErrHeader is a request header that cannot be read.
var ErrHeader = errors.New("request header cannot be read")

// MaxHeaderTags bounds the tagged fields of one request header.
const MaxHeaderTags = 64

// FixedHeader is what every request header begins with, in bytes.
const FixedHeader = 8

// Header is a request header.
type Header struct {
	Key, Version  int16
	CorrelationID int32
	// ClientID points into the frame. A null one is empty.
	ClientID []byte
}

// ParseFixed reads the part of a header that has the same form in all versions.
// b holds at least FixedHeader bytes.
func ParseFixed(b []byte) Header {
	return Header{
		Key:           int16(binary.BigEndian.Uint16(b)),
		Version:       int16(binary.BigEndian.Uint16(b[2:])),
		CorrelationID: int32(binary.BigEndian.Uint32(b[4:])),
	}
}

// ParseHeader reads a whole header, of version 2 if flexible, and gives the body
// behind it. A client id of a negative length is null; unknown tags are skipped,
// in any order and number up to MaxHeaderTags.
func ParseHeader(b []byte, flexible bool) (h Header, body []byte, err error) {
	if len(b) < FixedHeader+2 {
		return h, nil, ErrHeader
	}
	h = ParseFixed(b)
	n := int(int16(binary.BigEndian.Uint16(b[FixedHeader:])))
	b = b[FixedHeader+2:]
	if n > len(b) {
		return h, nil, ErrHeader
	}
	if n > 0 {
		h.ClientID, b = b[:n], b[n:]
	}
	if flexible {
		b, err = skipTags(b)
	}
	return h, b, err
}

func skipTags(b []byte) ([]byte, error) {
	count, b, ok := uvarint(b)
	if !ok || count > MaxHeaderTags {
		return nil, ErrHeader
	}
	for ; count > 0; count-- {
		var size uint32
		if _, b, ok = uvarint(b); !ok {
			return nil, ErrHeader
		}
		if size, b, ok = uvarint(b); !ok || uint64(size) > uint64(len(b)) {
			return nil, ErrHeader
		}
		b = b[size:]
	}
	return b, nil
}

// uvarint reads an unsigned varint of at most five bytes.
func uvarint(b []byte) (v uint32, rest []byte, ok bool) {
	for i := 0; i < 5 && i < len(b); i++ {
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// AppendResponseHeader appends a response header to dst, with an empty section
// of tagged fields if flexible.
func AppendResponseHeader(dst []byte, correlationID int32, flexible bool) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlationID))
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}
