package wire

import "encoding/binary"

// The heap that kmsg takes for one topic and one partition of a Produce request,
// in bytes, as a test measures it.
const (
	produceTopicBytes     = 72
	producePartitionBytes = 72
	produceBaseBytes      = 512
	// A section with tagged fields that nobody knows is kept in a map.
	tagSectionBytes = 320
	tagBytes        = 128
)

// ProduceCost is how many bytes of heap decoding a Produce request's body may
// take beside the frame itself: its topics and partitions are counted, without
// taking memory, as kmsg will. Counts that do not fit the body cost what fits
// it: the decoder refuses such a request before it allocates more. ok is false
// for a null array, which the protocol does not allow there.
func ProduceCost(body []byte, version int16) (cost int, ok bool) {
	w := walk{b: body, flexible: version >= 9}
	if version >= 3 {
		w.skipString()
	}
	w.skip(2 + 4)
	topics := w.count()
	cost = produceBaseBytes + topics*produceTopicBytes
	for ; topics > 0 && !w.bad; topics-- {
		if version >= 13 {
			w.skip(16)
		} else {
			w.skipString()
		}
		partitions := w.count()
		cost += partitions * producePartitionBytes
		for ; partitions > 0 && !w.bad; partitions-- {
			w.skip(4)
			w.skipBytes()
			cost += w.skipTags()
		}
		cost += w.skipTags()
	}
	if !w.bad {
		cost += w.skipTags()
	}
	return cost, !w.null
}

// walk moves over an encoded body without reading it into anything.
type walk struct {
	b        []byte
	flexible bool
	bad      bool
	null     bool // an array was null
}

func (w *walk) skip(n int) {
	if n < 0 || n > len(w.b) {
		w.bad, w.b = true, nil
		return
	}
	w.b = w.b[n:]
}

func (w *walk) uvarint() int {
	v, rest, ok := uvarint(w.b)
	if !ok {
		w.bad, w.b = true, nil
		return 0
	}
	w.b = rest
	return int(v)
}

// length reads a length of the given width (2 or 4 bytes, or compact).
func (w *walk) length(width int) int {
	switch {
	case w.flexible:
		return w.uvarint() - 1
	case len(w.b) < width:
		w.bad, w.b = true, nil
		return 0
	case width == 2:
		n := int(int16(binary.BigEndian.Uint16(w.b)))
		w.b = w.b[2:]
		return n
	default:
		n := int(int32(binary.BigEndian.Uint32(w.b)))
		w.b = w.b[4:]
		return n
	}
}

func (w *walk) skipString() { w.skip(max(w.length(2), 0)) }
func (w *walk) skipBytes()  { w.skip(max(w.length(4), 0)) }

// count reads an array's length, no more than there are bytes left.
func (w *walk) count() int {
	n := w.length(4)
	w.null = w.null || n < 0
	return min(max(n, 0), len(w.b))
}

// skipTags skips a section of tagged fields and tells what keeping it costs.
func (w *walk) skipTags() (cost int) {
	if !w.flexible {
		return 0
	}
	n := w.uvarint()
	if n > 0 {
		cost = tagSectionBytes
	}
	for ; n > 0 && !w.bad; n-- {
		w.uvarint()
		w.skip(w.uvarint())
		cost += tagBytes
	}
	return cost
}
