// Package wire frames Kafka's protocol: length-prefixed frames in pooled
// buffers, request and response headers, and what decoding a request may cost.
// Bodies are kmsg's.
//
//	request  = size int32 | header | body
//	header 1 = key int16 | version int16 | correlation int32 | clientId nullable string
//	header 2 = header 1 | tagged fields
//	response = size int32 | correlation int32 [| tagged fields] | body
package wire
