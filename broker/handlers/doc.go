// Package handlers answers Kafka's APIs: one file an API, named as Kafka names
// it. A handler resolves what the request names, makes one call into
// replication, metadata or storage, and fills a reply with one slot for every
// topic and partition asked, so that none is lost.
//
// Whatever fixes an order (an append, a metadata write) is done before a
// handler returns; what has to wait goes into server.Later. Requests are
// decoded without copying: a handler that keeps a string or record bytes
// beyond its return clones them.
//
// Start reading at routes.go (the table of APIs), then produce.go and
// fetch.go. errors.go is the only map from internal errors to Kafka's codes.
package handlers
