// Package znode codes and decodes what Kafka keeps in ZooKeeper: every path, and
// the document at it.
//
// Writers write what Kafka 3.9 writes. Readers are tolerant, as Kafka's are:
// unknown fields are skipped and, with the exceptions said at the functions, a
// document's version number is not looked at.
//
// Everything is a function of its arguments. Start reading at path.go.
package znode
