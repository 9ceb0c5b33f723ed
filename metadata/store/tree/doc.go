// Package tree is the znode tree as a pure machine: what ZooKeeper's data tree
// does, without sessions' sockets, disks or clocks.
//
// A transaction (Apply) is all or nothing and gets the next zxid. It reports the
// paths it changed, for whoever keeps the tree on disk, and the watches it sets
// off. Watches are one-shot. Not safe for concurrent use.
//
// Start reading at apply.go.
package tree
