package config

// Topic is one topic's settings in force, typed: its own, else the broker's.
type Topic struct {
	CleanupDelete, CleanupCompact bool
	CompressionType               string // a codec's name, uncompressed, or producer
	GzipLevel                     int
	LZ4Level                      int
	ZstdLevel                     int
	DeleteRetentionMs             int64
	FileDeleteDelayMs             int64
	FlushMessages                 int64
	FlushMs                       int64
	FollowerThrottledReplicas     []string
	LeaderThrottledReplicas       []string
	IndexIntervalBytes            int32
	LocalRetentionBytes           int64
	LocalRetentionMs              int64
	MaxCompactionLagMs            int64
	MinCompactionLagMs            int64
	MaxMessageBytes               int32
	MessageDownconversion         bool
	MessageFormatVersion          string
	LogAppendTime                 bool  // message.timestamp.type
	TimestampBeforeMaxMs          int64 // with the deprecated difference applied
	TimestampAfterMaxMs           int64 // with the deprecated difference applied
	MinCleanableDirtyRatio        float64
	MinInSyncReplicas             int32
	Preallocate                   bool
	RemoteStorage                 bool
	RemoteLogCopyDisable          bool
	RemoteLogDeleteOnDisable      bool
	RetentionBytes                int64
	RetentionMs                   int64
	SegmentBytes                  int32
	SegmentIndexBytes             int32
	SegmentJitterMs               int64
	SegmentMs                     int64
	UncleanLeaderElection         bool
}

// topicSynonym maps a topic setting to the broker setting that is its default.
// A setting that is missing here has none.
var topicSynonym = map[string]string{
	"cleanup.policy":                      "log.cleanup.policy",
	"compression.gzip.level":              "compression.gzip.level",
	"compression.lz4.level":               "compression.lz4.level",
	"compression.type":                    "compression.type",
	"compression.zstd.level":              "compression.zstd.level",
	"delete.retention.ms":                 "log.cleaner.delete.retention.ms",
	"file.delete.delay.ms":                "log.segment.delete.delay.ms",
	"flush.messages":                      "log.flush.interval.messages",
	"flush.ms":                            "log.flush.interval.ms",
	"index.interval.bytes":                "log.index.interval.bytes",
	"local.retention.bytes":               "log.local.retention.bytes",
	"local.retention.ms":                  "log.local.retention.ms",
	"max.compaction.lag.ms":               "log.cleaner.max.compaction.lag.ms",
	"max.message.bytes":                   "message.max.bytes",
	"message.downconversion.enable":       "log.message.downconversion.enable",
	"message.format.version":              "log.message.format.version",
	"message.timestamp.after.max.ms":      "log.message.timestamp.after.max.ms",
	"message.timestamp.before.max.ms":     "log.message.timestamp.before.max.ms",
	"message.timestamp.difference.max.ms": "log.message.timestamp.difference.max.ms",
	"message.timestamp.type":              "log.message.timestamp.type",
	"min.cleanable.dirty.ratio":           "log.cleaner.min.cleanable.ratio",
	"min.compaction.lag.ms":               "log.cleaner.min.compaction.lag.ms",
	"min.insync.replicas":                 "min.insync.replicas",
	"preallocate":                         "log.preallocate",
	"retention.bytes":                     "log.retention.bytes",
	"retention.ms":                        "log.retention.ms",
	"segment.bytes":                       "log.segment.bytes",
	"segment.index.bytes":                 "log.index.size.max.bytes",
	"segment.jitter.ms":                   "log.roll.jitter.ms",
	"segment.ms":                          "log.roll.ms",
	"unclean.leader.election.enable":      "unclean.leader.election.enable",
}

// TopicSynonyms lists the broker settings that are the default of a topic
// setting, the one that wins first; none if it has none.
func TopicSynonyms(name string) []string {
	b, ok := topicSynonym[name]
	if !ok {
		return nil
	}
	return brokerSynonyms(b)
}

// topicView looks a topic's settings up: its own, then the broker's.
type topicView struct {
	own    map[string]string
	broker view
}

// get gives the value in force of a topic setting. An own value that cannot be
// read, which only another program can have stored, counts as absent.
func (v topicView) get(name string) value {
	s := topicByName[name]
	if t, ok := v.own[name]; ok {
		if val, _, problem := s.read(t); problem == "" {
			return val
		}
	}
	return v.inherited(name, s)
}

// inherited gives the value a topic setting has from the broker.
func (v topicView) inherited(name string, s *Setting) value {
	switch name {
	case "retention.ms":
		return number(v.broker.retentionMillis())
	case "segment.ms":
		return number(v.broker.rollMillis())
	case "segment.jitter.ms":
		return number(v.broker.rollJitterMillis())
	case "flush.ms":
		return number(v.broker.flushMillis())
	case "message.timestamp.before.max.ms", "message.timestamp.after.max.ms":
		return number(v.broker.timestampBound(topicSynonym[name]))
	case "message.format.version": // ignored by Kafka since 3.0
		return topicDefaults[name]
	}
	if b, ok := topicSynonym[name]; ok {
		return v.broker.get(b)
	}
	return topicDefaults[name]
}

func (v topicView) long(name string) int64   { return v.get(name).num }
func (v topicView) int(name string) int32    { return int32(v.get(name).num) }
func (v topicView) boolean(name string) bool { return v.get(name).flag }

// Topic gives the settings in force of a topic whose own settings are own. It
// takes some microseconds; callers on a hot path keep the result until the
// metadata changes.
func (s *Static) Topic(d Dynamic, own map[string]string) Topic {
	v := topicView{own, s.view(d)}
	t := Topic{
		CompressionType:           v.get("compression.type").text,
		GzipLevel:                 int(v.long("compression.gzip.level")),
		LZ4Level:                  int(v.long("compression.lz4.level")),
		ZstdLevel:                 int(v.long("compression.zstd.level")),
		DeleteRetentionMs:         v.long("delete.retention.ms"),
		FileDeleteDelayMs:         v.long("file.delete.delay.ms"),
		FlushMessages:             v.long("flush.messages"),
		FlushMs:                   v.long("flush.ms"),
		FollowerThrottledReplicas: v.get("follower.replication.throttled.replicas").list,
		LeaderThrottledReplicas:   v.get("leader.replication.throttled.replicas").list,
		IndexIntervalBytes:        v.int("index.interval.bytes"),
		LocalRetentionBytes:       v.long("local.retention.bytes"),
		LocalRetentionMs:          v.long("local.retention.ms"),
		MaxCompactionLagMs:        v.long("max.compaction.lag.ms"),
		MinCompactionLagMs:        v.long("min.compaction.lag.ms"),
		MaxMessageBytes:           v.int("max.message.bytes"),
		MessageDownconversion:     v.boolean("message.downconversion.enable"),
		MessageFormatVersion:      v.get("message.format.version").text,
		LogAppendTime:             v.get("message.timestamp.type").text == "LogAppendTime",
		MinCleanableDirtyRatio:    v.get("min.cleanable.dirty.ratio").real,
		MinInSyncReplicas:         v.int("min.insync.replicas"),
		Preallocate:               v.boolean("preallocate"),
		RemoteStorage:             v.boolean("remote.storage.enable"),
		RemoteLogCopyDisable:      v.boolean("remote.log.copy.disable"),
		RemoteLogDeleteOnDisable:  v.boolean("remote.log.delete.on.disable"),
		RetentionBytes:            v.long("retention.bytes"),
		RetentionMs:               v.long("retention.ms"),
		SegmentBytes:              v.int("segment.bytes"),
		SegmentIndexBytes:         v.int("segment.index.bytes"),
		SegmentJitterMs:           v.long("segment.jitter.ms"),
		SegmentMs:                 v.long("segment.ms"),
		UncleanLeaderElection:     v.boolean("unclean.leader.election.enable"),
	}
	for _, p := range v.get("cleanup.policy").list {
		t.CleanupDelete = t.CleanupDelete || p == "delete"
		t.CleanupCompact = t.CleanupCompact || p == "compact"
	}
	difference := v.long("message.timestamp.difference.max.ms")
	t.TimestampBeforeMaxMs = orDifference(v.long("message.timestamp.before.max.ms"), difference)
	t.TimestampAfterMaxMs = orDifference(v.long("message.timestamp.after.max.ms"), difference)
	return t
}
