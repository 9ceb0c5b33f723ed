// Package api is the one table of Kafka's APIs that this broker answers: keys,
// names, versions, and what a request of each may cost. ApiVersions, the version
// check, the choice of headers, the limits and docs/protocol.md derive from it.
//
// A row means that the API is complete at every version in it.
package api

import "github.com/twmb/franz-go/pkg/kmsg"

// API is one row of the table.
type API struct {
	// Key is the API's number on the wire.
	Key int16
	// Name is Kafka's name of it.
	Name string
	// Min and Max are the lowest and the highest version that is answered.
	Min, Max int16
	// Flexible is the first version with compact encodings and tagged fields, in
	// header and body.
	Flexible int16
	// MaxFrame is the largest request in bytes, below socket.request.max.bytes.
	// 0 means that only that bound applies.
	MaxFrame int32
	// Factor is how many bytes of heap decoding may take for a byte on the wire,
	// at worst, as a test measures it. 0: the request is counted instead
	// (wire.ProduceCost).
	Factor int
	// Pipelines: a request may start while earlier replies of its connection
	// still wait, as long as only requests that Waits are ahead of it.
	Pipelines bool
	// Waits: the reply may be parked without holding up requests that pipeline.
	Waits bool
}

const (
	mib = 1 << 20
	// worstFactor is what an element of three bytes with one tagged field that
	// nobody knows costs in kmsg: a struct and a map.
	worstFactor = 100
)

// table is in the order of keys. Produce is advertised from 0, as Kafka 4 does,
// since librdkafka before 2.11.1 stops compressing otherwise; versions 0 to 2
// are refused partition by partition.
var table = []API{
	{Key: 0, Name: "Produce", Min: 0, Max: 13, Flexible: 9, Pipelines: true, Waits: true},
	{Key: 1, Name: "Fetch", Min: 4, Max: 18, Flexible: 12, MaxFrame: 16 * mib, Factor: worstFactor, Waits: true},
	{Key: 2, Name: "ListOffsets", Min: 0, Max: 11, Flexible: 6, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 3, Name: "Metadata", Min: 0, Max: 13, Flexible: 9, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 10, Name: "FindCoordinator", Min: 0, Max: 6, Flexible: 3, MaxFrame: mib, Factor: worstFactor},
	{Key: 18, Name: "ApiVersions", Min: 0, Max: 5, Flexible: 3, MaxFrame: mib, Factor: worstFactor},
	{Key: 19, Name: "CreateTopics", Min: 0, Max: 7, Flexible: 5, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 20, Name: "DeleteTopics", Min: 0, Max: 6, Flexible: 4, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 21, Name: "DeleteRecords", Min: 0, Max: 2, Flexible: 2, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 22, Name: "InitProducerId", Min: 0, Max: 5, Flexible: 2, MaxFrame: mib, Factor: worstFactor},
	{Key: 23, Name: "OffsetForLeaderEpoch", Min: 0, Max: 4, Flexible: 4, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 32, Name: "DescribeConfigs", Min: 0, Max: 4, Flexible: 4, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 33, Name: "AlterConfigs", Min: 0, Max: 2, Flexible: 2, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 35, Name: "DescribeLogDirs", Min: 0, Max: 5, Flexible: 2, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 37, Name: "CreatePartitions", Min: 0, Max: 3, Flexible: 2, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 44, Name: "IncrementalAlterConfigs", Min: 0, Max: 1, Flexible: 1, MaxFrame: 8 * mib, Factor: worstFactor},
	{Key: 60, Name: "DescribeCluster", Min: 0, Max: 2, Flexible: 0, MaxFrame: mib, Factor: worstFactor},
	{Key: 75, Name: "DescribeTopicPartitions", Min: 0, Max: 0, Flexible: 0, MaxFrame: 8 * mib, Factor: worstFactor},
}

// Table gives every API in order of keys. The caller must not change it.
func Table() []API { return table }

// Lookup finds an API by its key, nil if it is not answered. The caller must not
// change the row.
func Lookup(key int16) *API {
	for i := range table {
		if table[i].Key == key {
			return &table[i]
		}
	}
	return nil
}

// Supports tells whether a version is answered.
func (a *API) Supports(version int16) bool { return a.Min <= version && version <= a.Max }

// FlexibleRequest tells whether the request header has tagged fields.
func (a *API) FlexibleRequest(version int16) bool { return version >= a.Flexible }

// FlexibleResponse tells whether the response header has tagged fields. That of
// ApiVersions never has, so that a client of any age can read it.
func (a *API) FlexibleResponse(version int16) bool {
	return a.Key != kmsg.ApiVersions.Int16() && version >= a.Flexible
}
