package config

import (
	"math"
	"path/filepath"
	"time"
)

// Broker is a broker's own settings, typed. Durations that would overflow are
// the longest there is; a zero or negative duration means what the setting's
// documentation says.
type Broker struct {
	// ID is this broker's id.
	ID int32
	// Rack is broker.rack, empty if none.
	Rack string
	// Listeners are what is bound and advertised.
	Listeners []Listener
	// InterBrokerListener names the listener that brokers use among themselves.
	InterBrokerListener string
	// LogDirs are the directories of the logs, at least one.
	LogDirs []string
	// MetadataPath is the file of the embedded metadata.
	MetadataPath string
	// MetricsListener is the address of /metrics; empty is nowhere.
	MetricsListener string
	// RequestMemoryBytes bounds the memory of requests in flight.
	RequestMemoryBytes int64
	// PendingReplies bounds the replies of a connection that wait.
	PendingReplies int

	TopicDefaults
	Connections
	Background
	InternalTopics
}

// TopicDefaults are the settings that new topics and admin requests follow.
type TopicDefaults struct {
	AutoCreateTopics         bool
	DeleteTopics             bool
	NumPartitions            int32
	DefaultReplicationFactor int16
	// FetchMaxBytes bounds one Fetch answer.
	FetchMaxBytes int32
	// FetchSessions bounds the fetch sessions kept.
	FetchSessions int
	// DescribePartitions bounds one answer of DescribeTopicPartitions.
	DescribePartitions int32
}

// Connections are the settings of sockets and their limits.
type Connections struct {
	SocketRequestMaxBytes  int32
	SocketSendBuffer       int32 // -1: the system's
	SocketReceiveBuffer    int32 // -1: the system's
	ListenBacklog          int32
	MaxConnections         int32
	MaxConnectionsPerIP    int32
	ConnectionsPerIP       map[string]int32 // by host or address, other than MaxConnectionsPerIP
	ConnectionCreationRate int32            // new connections a second
	ConnectionsMaxIdle     time.Duration    // negative: for ever
}

// Background are the settings of work that nobody waits for.
type Background struct {
	RecoveryThreadsPerDir              int
	RetentionCheckInterval             time.Duration
	FlushSchedulerInterval             time.Duration
	RecoveryPointCheckpointInterval    time.Duration
	LogStartCheckpointInterval         time.Duration
	HighWatermarkCheckpointInterval    time.Duration
	InitialTaskDelay                   time.Duration
	ProducerIDExpiration               time.Duration
	ProducerIDExpirationCheckInterval  time.Duration
	ReplicaLagTimeMax                  time.Duration
	RequestTimeout                     time.Duration
	OffsetsRetentionCheckInterval      time.Duration
	AutoLeaderRebalance                bool
	LeaderImbalanceCheckInterval       time.Duration
	LeaderImbalancePerBrokerPercentage int32
}

// InternalTopics are the settings of __consumer_offsets and
// __transaction_state. With embedded metadata there is one broker, so both
// have one replica whatever was set.
type InternalTopics struct {
	OffsetsPartitions            int32
	OffsetsReplicationFactor     int16
	OffsetsSegmentBytes          int32
	OffsetsCompressionCodec      int32
	TransactionPartitions        int32
	TransactionReplicationFactor int16
	TransactionMinISR            int32
	TransactionSegmentBytes      int32
}

// Broker gives the broker's settings as it was started with.
func (s *Static) Broker() Broker { return s.broker }

// BrokerAt gives the broker's settings with what the metadata says about them.
// Listeners stay those of the start: they do not change at run time.
func (s *Static) BrokerAt(d Dynamic) Broker {
	return brokerOf(s.view(d), s.listeners, s.interBroker)
}

func brokerOf(v view, listeners []Listener, interBroker string) Broker {
	dirs := logDirs(v)
	b := Broker{
		ID:                  v.int("broker.id"),
		Rack:                v.string("broker.rack"),
		Listeners:           listeners,
		InterBrokerListener: interBroker,
		LogDirs:             dirs,
		MetadataPath:        v.string("barnabas.metadata.path"),
		MetricsListener:     v.string("barnabas.metrics.listener"),
		RequestMemoryBytes:  v.long("barnabas.request.memory.bytes"),
		PendingReplies:      int(v.long("barnabas.pending.replies")),
		TopicDefaults: TopicDefaults{
			AutoCreateTopics:         v.boolean("auto.create.topics.enable"),
			DeleteTopics:             v.boolean("delete.topic.enable"),
			NumPartitions:            v.int("num.partitions"),
			DefaultReplicationFactor: int16(min(v.long("default.replication.factor"), math.MaxInt16)),
			FetchMaxBytes:            v.int("fetch.max.bytes"),
			FetchSessions:            int(v.long("max.incremental.fetch.session.cache.slots")),
			DescribePartitions:       v.int("max.request.partition.size.limit"),
		},
		Connections:    connectionsOf(v),
		Background:     backgroundOf(v),
		InternalTopics: internalTopicsOf(v),
	}
	if b.MetadataPath == "" {
		b.MetadataPath = filepath.Join(dirs[0], "barnabas.metadata")
	}
	return b
}

func connectionsOf(v view) Connections {
	perIP, _ := ipOverrides(v.string("max.connections.per.ip.overrides"))
	return Connections{
		SocketRequestMaxBytes:  v.int("socket.request.max.bytes"),
		SocketSendBuffer:       v.int("socket.send.buffer.bytes"),
		SocketReceiveBuffer:    v.int("socket.receive.buffer.bytes"),
		ListenBacklog:          v.int("socket.listen.backlog.size"),
		MaxConnections:         v.int("max.connections"),
		MaxConnectionsPerIP:    v.int("max.connections.per.ip"),
		ConnectionsPerIP:       perIP,
		ConnectionCreationRate: v.int("max.connection.creation.rate"),
		ConnectionsMaxIdle:     v.millis("connections.max.idle.ms"),
	}
}

func backgroundOf(v view) Background {
	return Background{
		RecoveryThreadsPerDir:              int(v.long("num.recovery.threads.per.data.dir")),
		RetentionCheckInterval:             v.millis("log.retention.check.interval.ms"),
		FlushSchedulerInterval:             v.millis("log.flush.scheduler.interval.ms"),
		RecoveryPointCheckpointInterval:    v.millis("log.flush.offset.checkpoint.interval.ms"),
		LogStartCheckpointInterval:         v.millis("log.flush.start.offset.checkpoint.interval.ms"),
		HighWatermarkCheckpointInterval:    v.millis("replica.high.watermark.checkpoint.interval.ms"),
		InitialTaskDelay:                   v.millis("log.initial.task.delay.ms"),
		ProducerIDExpiration:               v.millis("producer.id.expiration.ms"),
		ProducerIDExpirationCheckInterval:  v.millis("producer.id.expiration.check.interval.ms"),
		ReplicaLagTimeMax:                  v.millis("replica.lag.time.max.ms"),
		RequestTimeout:                     v.millis("request.timeout.ms"),
		OffsetsRetentionCheckInterval:      v.millis("offsets.retention.check.interval.ms"),
		AutoLeaderRebalance:                v.boolean("auto.leader.rebalance.enable"),
		LeaderImbalanceCheckInterval:       duration(v.long("leader.imbalance.check.interval.seconds"), time.Second),
		LeaderImbalancePerBrokerPercentage: v.int("leader.imbalance.per.broker.percentage"),
	}
}

func internalTopicsOf(v view) InternalTopics {
	t := InternalTopics{
		OffsetsPartitions:            v.int("offsets.topic.num.partitions"),
		OffsetsReplicationFactor:     v.short("offsets.topic.replication.factor"),
		OffsetsSegmentBytes:          v.int("offsets.topic.segment.bytes"),
		OffsetsCompressionCodec:      v.int("offsets.topic.compression.codec"),
		TransactionPartitions:        v.int("transaction.state.log.num.partitions"),
		TransactionReplicationFactor: v.short("transaction.state.log.replication.factor"),
		TransactionMinISR:            v.int("transaction.state.log.min.isr"),
		TransactionSegmentBytes:      v.int("transaction.state.log.segment.bytes"),
	}
	if v.string("zookeeper.connect") == "" {
		t.OffsetsReplicationFactor, t.TransactionReplicationFactor, t.TransactionMinISR = 1, 1, 1
	}
	return t
}
