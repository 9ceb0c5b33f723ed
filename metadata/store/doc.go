// Package store is the coordination service as the broker sees it, in
// ZooKeeper's terms: znodes with data and versions, ephemeral and sequential
// nodes, one-shot watches, transactions (multi), sessions.
//
// Two homes implement [Store]: the embedded one, a tree in memory with every
// change in a file before it is acknowledged, and (later) ZooKeeper itself. Both
// hold the same paths and the same documents (package znode).
//
// Start reading at store.go (the interface), then op.go.
package store
