// Package fetchsession keeps the fetch sessions of KIP-227: a client that
// fetches the same partitions over and over names only what changed, and is
// answered only what changed.
//
// Nouns. A [Cache] has a bounded number of slots, one a [session]. A [Fetch] is
// one request: [Cache.Open] fills its targets, in the order in which they are to
// be read; when they were read, [Fetch.Finish] says which of them the answer
// carries and which session id it names. Between the two the request may wait
// for as long as it likes.
//
// A session keeps its partitions in one dense slice, linked in reading order by
// index; a partition that returned data goes to the end, so that no partition
// starves behind another. A session holds what its client named and did not
// forget, and goes when it was idle for too long and its slot is wanted.
//
// Cache and sessions are safe for concurrent use; a Fetch belongs to one
// request. Lock order: cache, then session, never the other way round.
//
// Start reading at [Cache.Open].
package fetchsession
