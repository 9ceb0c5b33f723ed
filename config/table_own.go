package config

// ownPrefix begins the names of settings that Kafka does not have.
const ownPrefix = "barnabas."

// ownSettings are the settings that Kafka does not have.
var ownSettings = []Setting{
	{"barnabas.metadata.path", String, null, nil, Medium, ReadOnly, Acts, "File of the embedded metadata. None: barnabas.metadata in the first log directory."},
	{"barnabas.metrics.listener", String, "127.0.0.1:9644", hostPort{}, Medium, ReadOnly, Acts, "Where /metrics, /livez and /readyz are served, as host:port. Empty: nowhere."},
	{"barnabas.pending.replies", Int, "64", between(1, 10000), Low, ReadOnly, Acts, "Replies of one connection that may wait at a time, for instance for acks=all. Reading pauses above it."},
	{"barnabas.request.memory.bytes", Long, "268435456", atLeast(1 << 20), Medium, ReadOnly, Acts, "Memory that requests in flight may take, all connections together. Reading pauses above it."},
}

// dynamicOnlySettings can be set only at run time, at one broker or all.
var dynamicOnlySettings = []Setting{
	{"follower.replication.throttled.rate", Long, "9223372036854775807", atLeast(0), Medium, ClusterWide, Later, "Most bytes a second that this broker fetches as a follower of throttled replicas."},
	{"leader.replication.throttled.rate", Long, "9223372036854775807", atLeast(0), Medium, ClusterWide, Later, "Most bytes a second that this broker serves to followers of throttled replicas."},
	{"replica.alter.log.dirs.io.max.bytes.per.second", Long, "9223372036854775807", atLeast(0), Medium, ClusterWide, Later, "Most bytes a second for moves between directories."},
}
