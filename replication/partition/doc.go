// Package partition is the replica state of one partition as a pure machine:
// what role this broker has, who is in sync, and how far the high watermark
// may go. It holds no records and knows no clock: log ends and the time come
// in as arguments, decisions go out as results.
//
// Nouns. The leader epoch changes whenever the leader does; the partition epoch
// (ZooKeeper: the znode's version) whenever the controller writes the state.
// The committed ISR is what the controller wrote; while a change of it is in
// flight the maximal ISR is the larger of the two sets, and every promise to a
// producer is made against that one. LEO is the end of a replica's log, HW the
// end of what every member of the maximal ISR has.
//
// Invariants, which the tests check from outside:
//
//   - HW never goes back within a life of the machine, and never passes the LEO
//     of a member of the maximal ISR, nor the own LEO.
//   - HW does not move while the ISR is smaller than the effective min ISR.
//   - The leader is always a member of its own ISR.
//   - One ISR change is in flight at a time; an unknown outcome keeps the
//     maximal ISR.
//   - An update with an older leader epoch, or the same one, changes nothing.
//
// A Partition is not safe for concurrent use: the replica manager guards each
// one with the partition's lock. Start reading at the table in partition.go.
package partition
