// Package broker is the wiring of one broker: it builds the rooms in order,
// connects the interfaces that each declares, runs them, and stops them in
// reverse.
//
// The order is Kafka's: metadata store and cluster id, log directories (with
// recovery), replicas, listeners (bound, not yet served), registration and
// controller, and then the doors open. [Open] builds, [Broker.Run] runs until
// its context ends, then stops: no new connections, requests in flight are
// answered, logs are flushed and marked clean.
package broker
