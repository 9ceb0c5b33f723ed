// Package controller is the controller of a cluster as a pure machine: placement
// of replicas, creation, growth and deletion of topics, election of leaders,
// brokers that come and go.
//
// The verbs (CreateTopic, BringOnline, …) look at the state and decide: they
// answer with [Write]s, transactions on znodes each with the change that holds
// once it succeeded. The driver does the writes, and gives the changes of those
// that succeeded to Apply, the only writer of the state; loading at start is
// the same Apply. Apply also collects what brokers must be told: TakeRequests
// gives it as LeaderAndIsr, UpdateMetadata and StopReplica requests, one of each
// kind a broker, to be sent in this order.
//
// Invariants: every write checks the controller's epoch; a partition's state is
// written only from the version that was read; nothing depends on the order of
// maps. Random numbers come in as arguments.
//
// Start reading at machine.go (the transition table), then elect.go, topics.go,
// isr.go, shutdown.go and requests.go.
// placement.go stands alone.
package controller
