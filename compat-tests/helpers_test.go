package compat

import (
	"strings"

	"barnabas/protocol/record"
)

// batchOptions gives the i-th batch one of the codecs in turn.
func batchOptions(i int) record.BuilderOptions {
	return record.BuilderOptions{Codec: record.Codec(i % 5), DefaultLevel: true}
}

// containsAny tells whether s has one of the words.
func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
