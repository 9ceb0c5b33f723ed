// Package storage keeps replicas' logs in Kafka's own on-disk format.
//
// A [Manager] owns the log directories and every [Log] below them; a log is a
// directory "topic-partition" of segments; a segment is a .log file of record
// batches back to back, with a sparse offset index and a time index beside it.
// The last segment is the active one: all appends go there.
//
// Storage knows batches, offsets, leader epochs and producers. It knows nothing
// of ISR, requests or topics' configuration files; the high watermark is handed
// down by replication and only bounds what may be deleted.
//
// Invariants:
//   - batches lie in order of offset, without overlap; the log end offset is
//     the last batch's last offset + 1;
//   - what lies below the recovery point is durable, together with the names of
//     the files that hold it;
//   - a file's bytes below the log end never change, but for truncation.
//
// One append lock a log orders all writers: append, roll, truncate, delete. It
// spans one pwrite and no fsync (a roll also creates a file; only truncation is
// made durable under it). Readers take no lock of the log: they use a
// copy-on-write list of segments and a reference that keeps a segment's file open
// ([Region]).
//
// The first failed write (a full disk excepted), fsync, rename or truncate takes
// the log directory offline; it is never retried.
//
// Start reading at log.go, then append.go, read.go and recover.go. FORMAT.md has
// the bytes and what a crash leaves of each operation.
package storage
