package cases

import (
	"encoding/binary"
	"hash/crc32"
)

// recrc changes a good batch and gives it the checksum of what it is then.
func recrc(change func(b []byte)) []byte {
	b := plain("one", "two")
	change(b)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
