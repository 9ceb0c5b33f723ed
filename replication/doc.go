// Package replication is the replica manager: the partitions this broker holds,
// and everything handlers do to them.
//
// Nouns. A [Partition] joins a log (package storage) with the partition's
// replica state (package replication/partition). The [Manager] takes the
// controller's orders ([Manager.LeaderAndISR], [Manager.StopReplica]), finds
// partitions by name or topic id without a lock, appends, reads, looks offsets
// up and deletes records. The purgatory holds requests that have to wait: a
// delayed produce for the high watermark, a delayed fetch for bytes, a delayed
// delete for the low watermark. Each is a struct on its partitions' watch lists
// and on one timing wheel; no goroutine waits with it.
//
// Invariants:
//
//   - A log's high watermark is moved here only, and only under the partition's
//     lock, so it never goes back.
//   - An append holds the partition's role shared from the check of leadership
//     to the move of the high watermark: no append happens under an epoch that
//     has ended.
//   - A waiter checks its condition again after it is on the lists, so no wake
//     is lost between the check and the listing.
//   - Waking a waiter marks it and calls its wake function, nothing more; what
//     it asked for is read again on the goroutine of its own connection.
//
// Locks, in this order: Manager.control, Partition.role, Partition.mu. The
// wheel's lock is below all of them; wake functions run under none.
//
// Start reading at [Manager.Append] and [Manager.Read], then waiter.go.
package replication
