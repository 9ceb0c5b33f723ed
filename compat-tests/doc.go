// Package compat runs real clients and Apache Kafka's own tools against our
// binary, as a black box: kcat (librdkafka), franz-go, sarama, and Kafka's JVM
// tools from Maven. What a machine lacks is skipped, and said.
//
// Package harness starts and kills brokers; package cases holds reproductions of
// public bug reports, each test named after its id.
package compat
