package record

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash32.
const (
	xxPrime1 = 2654435761
	xxPrime2 = 2246822519
	xxPrime3 = 3266489917
	xxPrime4 = 668265263
	xxPrime5 = 374761393
)

// xxh32 is xxHash32 with seed 0, which LZ4 frames carry of their header (and, rarely, of their blocks). The lz4 library
// has it, but not for others.
func xxh32(p []byte) uint32 {
	size := uint32(len(p))
	h := uint32(xxPrime5)
	if len(p) >= 16 {
		p1, p2 := uint32(xxPrime1), uint32(xxPrime2)
		v1, v2, v3, v4 := p1+p2, p2, uint32(0), -p1
		for ; len(p) >= 16; p = p[16:] {
			v1 = xxRound(v1, binary.LittleEndian.Uint32(p))
			v2 = xxRound(v2, binary.LittleEndian.Uint32(p[4:]))
			v3 = xxRound(v3, binary.LittleEndian.Uint32(p[8:]))
			v4 = xxRound(v4, binary.LittleEndian.Uint32(p[12:]))
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) + bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += size
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*xxPrime3, 17) * xxPrime4
	}
	for _, c := range p {
		h = bits.RotateLeft32(h+uint32(c)*xxPrime5, 11) * xxPrime1
	}
	h = (h ^ h>>15) * xxPrime2
	h = (h ^ h>>13) * xxPrime3
	return h ^ h>>16
}

func xxRound(v, in uint32) uint32 { return bits.RotateLeft32(v+in*xxPrime2, 13) * xxPrime1 }
