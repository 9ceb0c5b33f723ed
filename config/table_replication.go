package config

// replicationSettings are about followers and leaders.
var replicationSettings = []Setting{
	{"alter.log.dirs.replication.quota.window.num", Int, "11", atLeast(1), Low, ReadOnly, Later, "Samples kept for the quota of moves between directories."},
	{"alter.log.dirs.replication.quota.window.size.seconds", Int, "1", atLeast(1), Low, ReadOnly, Later, "Length of a sample of that quota."},
	{"inter.broker.protocol.version", String, "3.9-IV0", releaseVersion{}, Medium, ReadOnly, Reported, "Version of the protocol between brokers (Kafka up to 3.9)."},
	{"num.replica.alter.log.dirs.threads", Int, null, nil, High, ReadOnly, Later, "Moves of replicas between directories at a time. None: the number of directories."},
	{"num.replica.fetchers", Int, "1", nil, High, ClusterWide, Later, "Connections to each leader over which followers fetch."},
	{"replica.fetch.backoff.ms", Int, "1000", atLeast(0), Medium, ReadOnly, Later, "Pause of a follower after a failed fetch."},
	{"replica.fetch.max.bytes", Int, "1048576", atLeast(0), Medium, ReadOnly, Later, "Bytes a follower asks for of each partition. The first batch is always whole."},
	{"replica.fetch.min.bytes", Int, "1", nil, High, ReadOnly, Later, "Bytes that must be there before a leader answers a follower."},
	{"replica.fetch.response.max.bytes", Int, "10485760", atLeast(0), Medium, ReadOnly, Later, "Bytes a follower asks for in one fetch. The first batch is always whole."},
	{"replica.fetch.wait.max.ms", Int, "500", nil, High, ReadOnly, Later, "How long a leader may hold a follower's fetch."},
	{"replica.high.watermark.checkpoint.interval.ms", Long, "5000", nil, High, ReadOnly, Acts, "How often the high watermarks are written down."},
	{"replica.lag.time.max.ms", Long, "30000", nil, High, ReadOnly, Later, "A follower that is behind for this long leaves the ISR."},
	{"replica.selector.class", String, null, nil, Medium, ReadOnly, Later, "How a replica near to the consumer is chosen (KIP-392)."},
	{"replica.socket.receive.buffer.bytes", Int, "65536", nil, High, ReadOnly, Later, "Receive buffer of a follower's sockets."},
	{"replica.socket.timeout.ms", Int, "30000", nil, High, ReadOnly, Later, "How long a follower waits for an answer. At least replica.fetch.wait.max.ms."},
	{"replication.quota.window.num", Int, "11", atLeast(1), Low, ReadOnly, Later, "Samples kept for replication quotas."},
	{"replication.quota.window.size.seconds", Int, "1", atLeast(1), Low, ReadOnly, Later, "Length of a sample of replication quotas."},
	{"unclean.leader.election.interval.ms", Long, "300000", atLeast(1), Medium, ReadOnly, Later, "How often KRaft looks for partitions that need an unclean election."},
}
