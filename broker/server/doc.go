// Package server is the broker's front door: listeners, connections, the request
// pipeline, replies in order, limits, and files on the wire without copying.
//
// One goroutine reads a connection, decodes and handles a request, and writes
// the reply if it is ready. A reply that is not ([Later]) is parked; while it is,
// only a Produce may start, and only behind waiting Produce or Fetch requests, so
// nobody sees an order that Kafka would not show. Replies leave strictly in the
// order of requests. A wait that is over marks itself and wakes its connection,
// which alone writes its socket: an append never blocks on a stranger's socket,
// and an idle long poll costs neither a goroutine nor a timer.
//
// Limits come before memory: a frame's size is held against its API's cap and
// charged to a budget before it is read, what decoding may take is charged before
// it is decoded, and a connection whose charge does not fit is not read until it
// does.
//
// Start reading at server.go, then conn.go (the pipeline) and write.go.
package server
