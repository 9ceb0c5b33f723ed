// Package metadata is what this broker knows of its cluster, and its way of
// changing it: the driver of the controller machine (package controller) over
// the coordination service (package store).
//
// A broker registers itself, is elected controller, loads what the znodes say,
// and then works through commands one by one, in the one goroutine of Run: it lets
// the machine decide, writes the znodes (many transactions in one commit), lets
// the machine take in what succeeded, and tells the brokers by the very
// LeaderAndIsr, UpdateMetadata and StopReplica requests of Kafka. The broker's own
// come without a socket: the first and last go to [LocalBroker], the second makes
// the next [image.Image].
//
// What a crash leaves half done, a start finishes: a topic whose partitions have
// no state yet, one that is queued for deletion.
//
// Readers call Image, from anywhere, at any time. The calls that change something
// are safe for concurrent use; they wait for their turn and until their effect
// shows in Image.
//
// Not yet: other brokers. Nothing here watches znodes, because nobody else can
// write the embedded store; requests go to this broker only.
//
// Start reading at metadata.go, then run.go and control.go.
package metadata
