// Package floor has the loops that a broker is measured against: the least that
// any program must do for the same bytes.
//
// Append reads frames, checks the CRC of the batch in each and writes it to the
// page cache: a broker's produce path without a broker. Sendfile answers every
// Fetch with the same header and the next piece of a file: its fetch path. Echo
// sends frames back: its round trip. Null is a broker that keeps nothing; it
// measures the load generator's ceiling and tests the bench itself.
//
// Each runs as a process of its own, started by the bench through its own
// binary, so that its CPU seconds are its own. A server runs until its process
// is killed: goroutines, one a connection, end with it.
package floor
