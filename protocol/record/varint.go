package record

// Varints as Kafka reads them: base 128, least significant group first, zig-zag for signed numbers. An int32 takes at
// most 5 bytes and an int64 at most 10; a longer one is refused, bits above the width in the last byte are dropped, and
// a number may be written longer than it had to be.

const (
	maxVarint32 = 5
	maxVarint64 = 10
)

// badVarint is the position that a varint which is cut or too long leads to.
const badVarint = -1

// varint32 reads the varint at p[i:] and gives the position behind it, or badVarint. i is at least 0.
func varint32(p []byte, i int) (v int32, next int) {
	if i < len(p) && p[i] < 0x80 {
		u := p[i]
		return int32(u>>1) ^ -int32(u&1), i + 1
	}
	return varint32Long(p, i)
}

func varint32Long(p []byte, i int) (int32, int) {
	var u uint32
	for n := range maxVarint32 {
		if i+n >= len(p) {
			return 0, badVarint
		}
		c := p[i+n]
		u |= uint32(c&0x7f) << (7 * n)
		if c < 0x80 {
			return int32(u>>1) ^ -int32(u&1), i + n + 1
		}
	}
	return 0, badVarint
}

// varint64 is varint32 for 64 bits.
func varint64(p []byte, i int) (v int64, next int) {
	if i < len(p) && p[i] < 0x80 {
		u := p[i]
		return int64(u>>1) ^ -int64(u&1), i + 1
	}
	return varint64Long(p, i)
}

func varint64Long(p []byte, i int) (int64, int) {
	var u uint64
	for n := range maxVarint64 {
		if i+n >= len(p) {
			return 0, badVarint
		}
		c := p[i+n]
		u |= uint64(c&0x7f) << (7 * n)
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + n + 1
		}
	}
	return 0, badVarint
}

// varintTooLong tells whether what stands at p[i:] is a 32-bit varint that goes on for too long, not one that is cut.
func varintTooLong(p []byte, i int) bool {
	if len(p)-i < maxVarint32 {
		return false
	}
	for _, c := range p[i : i+maxVarint32] {
		if c < 0x80 {
			return false
		}
	}
	return true
}

// sizeOfVarint is the number of bytes that binary.AppendVarint takes for v.
func sizeOfVarint(v int64) int {
	u := uint64(v)<<1 ^ uint64(v>>63)
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}
