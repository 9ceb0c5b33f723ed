package metadata

import (
	"crypto/rand"
	"strconv"

	"barnabas/metadata/znode"
)

func decimal(n int32) string { return strconv.FormatInt(int64(n), 10) }

// randomID gives a random UUID (version 4) as Kafka makes them: never one whose
// text begins with a dash, which tools would take for an option.
func randomID() znode.TopicID {
	for {
		var id znode.TopicID
		_, _ = rand.Read(id[:]) // never fails
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		if znode.FormatTopicID(id)[0] != '-' {
			return id
		}
	}
}
