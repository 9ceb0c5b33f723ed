package compat

import "barnabas/protocol/record"

// batchOptions gives the i-th batch one of the codecs in turn.
func batchOptions(i int) record.BuilderOptions {
	return record.BuilderOptions{Codec: record.Codec(i % 5), DefaultLevel: true}
}
