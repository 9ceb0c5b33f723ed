package config

// quotaSettings are about quotas and metrics.
var quotaSettings = []Setting{
	{"client.quota.callback.class", Class, null, nil, Low, ReadOnly, Later, "Java class that decides on client quotas."},
	{"controller.quota.window.num", Int, "11", atLeast(1), Low, ReadOnly, Later, "Samples kept for the quota of controller mutations."},
	{"controller.quota.window.size.seconds", Int, "1", atLeast(1), Low, ReadOnly, Later, "Length of a sample of that quota."},
	{"kafka.metrics.polling.interval.secs", Int, "10", atLeast(1), Low, ReadOnly, Reported, "How often Kafka's own reporters poll."},
	{"kafka.metrics.reporters", List, "", nil, Low, ReadOnly, Reported, "Java classes that report Kafka's Yammer metrics. Use /metrics."},
	{"metric.reporters", List, "", nil, Low, ClusterWide, Reported, "Java classes that report metrics. Use /metrics."},
	{"metrics.num.samples", Int, "2", atLeast(1), Low, ReadOnly, Reported, "Samples kept for each JVM metric."},
	{"metrics.recording.level", String, "INFO", nil, Low, ReadOnly, Reported, "Detail of the JVM's metrics."},
	{"metrics.sample.window.ms", Long, "30000", atLeast(1), Low, ReadOnly, Reported, "Length of a sample of the JVM's metrics."},
	{"quota.window.num", Int, "11", atLeast(1), Low, ReadOnly, Later, "Samples kept for client quotas."},
	{"quota.window.size.seconds", Int, "1", atLeast(1), Low, ReadOnly, Later, "Length of a sample of client quotas."},
	{"telemetry.max.bytes", Int, "1048576", atLeast(1), Low, ReadOnly, Reported, "Largest push of client telemetry (KIP-714) accepted."},
}
