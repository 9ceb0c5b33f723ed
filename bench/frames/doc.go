// Package frames builds Kafka requests as bytes, once, so that a load generator
// only patches a correlation id and writes.
//
// A frame is a request with its length prefix, ready for a socket. Produce
// frames are version 8 (header 1), Fetch frames version 11: the last ones with
// a fixed layout, which makes the answers cheap to walk. Everything here is a
// plain value; nothing is shared. Start with NewBatch and Produce.
package frames
