// Package replay is the load: raw sockets that write requests encoded before
// and read answers without building anything of them, so that what is measured
// is the broker.
//
// Produce keeps a number of connections filled with a number of requests in
// flight each. Drain reads partitions from beginning to end as a catching-up
// consumer does. OpenLoop sends on a schedule, whatever comes back, and takes
// the time from send to arrival. Call is for the few requests in between.
// Every function opens its own connections and closes them; the goroutines it
// starts end before it returns.
package replay
