// Package record reads, writes, checks and compresses record batches of Kafka's message format v2 ("magic 2"), the
// unit that a producer sends, the log stores and a consumer receives. FORMAT.md draws every byte.
//
// Nouns:
//
//   - A [Batch] is one whole batch as bytes: a view with getters for the 61-byte header, no copy. Who owns the bytes
//     is who made them; a Batch never keeps more than the slice.
//   - The payload is what follows the header: [Batch.RecordCount] records back to back, as one compressed block if the
//     batch's [Codec] says so.
//   - A [Record] is one record of a batch. Its slices point into the payload or into a borrowed buffer: see
//     [Batch.Records] for how long they live.
//   - [Rules] say how a leader judges what a producer sent; [ValidateProduce] judges; a [Refusal] is what it answers.
//   - A [Builder] makes batches: for the broker's own topics, for recompression and for tests.
//
// Invariants:
//
//   - Nothing here panics on any bytes, and nothing allocates for a number read from the bytes: a count is never an
//     allocation, decompression takes at most the limit it was given, and the limit is checked before memory is taken
//     where the format tells a length (snappy, zstd) and while decompressing where it does not (gzip, lz4).
//   - A batch that [ValidateProduce] accepts holds exactly RecordCount records, which [Batch.Records] will give.
//   - Neither the base offset nor the partition leader epoch is covered by the CRC, so the log patches both in place.
//     Everything else that changes in place goes through a setter that recomputes the CRC.
//   - Judging a plain (uncompressed) batch that is good allocates nothing.
//
// Everything is a function of its arguments: no clock, no goroutine, no lock of its own. Functions may run beside each
// other on different bytes; setters write the bytes of their batch and need them alone. The only shared state are
// pools of codec state and of buffers.
//
// Start reading at batch.go, then validate.go.
package record
