// Package cases holds reproductions of public reports in which a broker that
// speaks Kafka's protocol broke a client: one test a report, named after its id.
// What needs consumer groups, transactions, compaction, security or a second
// broker comes with these.
package cases
