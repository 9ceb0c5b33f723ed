package config

// transactionSettings are about transactions and producer ids.
var transactionSettings = []Setting{
	{"producer.id.expiration.check.interval.ms", Int, "600000", atLeast(1), Low, ReadOnly, Later, "How often expired producer ids are looked for."},
	{"producer.id.expiration.ms", Int, "86400000", atLeast(1), Low, ClusterWide, Acts, "Time without a write after which a partition forgets a producer id."},
	{"transaction.abort.timed.out.transaction.cleanup.interval.ms", Int, "10000", atLeast(1), Low, ReadOnly, Later, "How often transactions that ran out of time are looked for."},
	{"transaction.max.timeout.ms", Int, "900000", atLeast(1), High, ReadOnly, Later, "Longest timeout that a producer may ask for its transactions."},
	{"transaction.partition.verification.enable", Boolean, "true", nil, Low, ClusterWide, Later, "Whether a transactional append is checked against the coordinator first."},
	{"transaction.remove.expired.transaction.cleanup.interval.ms", Int, "3600000", atLeast(1), Low, ReadOnly, Later, "How often expired transactional ids are looked for."},
	{"transaction.state.log.load.buffer.size", Int, "5242880", atLeast(1), High, ReadOnly, Later, "Bytes read at a time when a transaction coordinator loads its partition."},
	{"transaction.state.log.min.isr", Int, "2", atLeast(1), High, ReadOnly, Later, "min.insync.replicas of the transaction topic. One with embedded metadata."},
	{"transaction.state.log.num.partitions", Int, "50", atLeast(1), High, ReadOnly, Later, "Partitions of the transaction topic. Not to be changed later."},
	{"transaction.state.log.replication.factor", Short, "3", atLeast(1), High, ReadOnly, Later, "Replicas of the transaction topic. One with embedded metadata."},
	{"transaction.state.log.segment.bytes", Int, "104857600", atLeast(1), High, ReadOnly, Later, "Segment size of the transaction topic."},
	{"transactional.id.expiration.ms", Int, "604800000", atLeast(1), High, ReadOnly, Later, "Time without news after which a transactional id is forgotten."},
}
