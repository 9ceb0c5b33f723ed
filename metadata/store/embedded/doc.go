// Package embedded is the coordination service of a broker that stands alone:
// the znode tree in memory, and in one bbolt file.
//
// Invariants: what was acknowledged, or told to a watch, or read, is in the file
// and synced. Concurrent calls share commits: whoever finds nobody at work
// takes all that queues up, does it to the tree in order, commits it once, and
// answers; so thousands of transactions of one Pipeline are one commit. A commit
// that fails stops the store: memory is ahead of the disk then.
//
// Opening the file ends all earlier sessions: their ephemeral znodes go, in a
// transaction of their own. Zxids go on counting.
//
// Start reading at embedded.go, then commit.go.
package embedded
