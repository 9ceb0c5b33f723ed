package broker

import (
	"net"
	"strconv"

	"barnabas/config"
	"barnabas/metadata/image"
	"barnabas/protocol/record"
	"barnabas/replication"
	"barnabas/storage"
)

func joinHostPort(host string, port int32) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// topic is the settings of a topic in force.
func (b *Broker) topic(name string) config.Topic {
	if b.metadata == nil {
		return b.o.Static.Topic(config.Dynamic{}, nil) // before the metadata is there
	}
	im := b.metadata.Image()
	return b.o.Static.Topic(b.dynamic(im), im.TopicConfig(name))
}

func (b *Broker) dynamic(im *image.Image) config.Dynamic {
	return config.Dynamic{Broker: im.BrokerConfig(strconv.Itoa(int(b.settings.ID))), Default: im.BrokerConfig("")}
}

// logConfig is what storage acts on.
func (b *Broker) logConfig(name string) storage.Config {
	t := b.topic(name)
	return storage.Config{
		SegmentBytes: t.SegmentBytes, IndexBytes: t.SegmentIndexBytes, IndexIntervalBytes: t.IndexIntervalBytes,
		SegmentMs: t.SegmentMs, SegmentJitterMs: t.SegmentJitterMs,
		RetentionMs: t.RetentionMs, RetentionBytes: t.RetentionBytes, FileDeleteDelayMs: t.FileDeleteDelayMs,
		FlushMessages: t.FlushMessages, FlushMs: t.FlushMs,
		ProducerIDExpirationMs: b.settings.ProducerIDExpiration.Milliseconds(),
		Delete:                 t.CleanupDelete, Compact: t.CleanupCompact, Preallocate: t.Preallocate,
	}
}

// topicSettings is what replication acts on.
func (b *Broker) topicSettings(name string) replication.TopicSettings {
	t := b.topic(name)
	s := replication.TopicSettings{
		MaxMessageBytes: t.MaxMessageBytes, SegmentBytes: t.SegmentBytes, MinISR: int(t.MinInSyncReplicas),
		BeforeMaxMs: t.TimestampBeforeMaxMs, AfterMaxMs: t.TimestampAfterMaxMs,
		Compact: t.CleanupCompact, Delete: t.CleanupDelete, Compression: compression(t),
	}
	if t.LogAppendTime {
		s.TimestampType = record.LogAppendTime
	}
	return s
}

// compression is a topic's compression.type with the level of its codec.
func compression(t config.Topic) record.Compression {
	switch t.CompressionType {
	case "gzip":
		return record.Compression{Codec: record.Gzip, Level: t.GzipLevel}
	case "snappy":
		return record.Compression{Codec: record.Snappy}
	case "lz4":
		return record.Compression{Codec: record.LZ4, Level: t.LZ4Level}
	case "zstd":
		return record.Compression{Codec: record.Zstd, Level: t.ZstdLevel}
	case "uncompressed":
		return record.Compression{Codec: record.None}
	}
	return record.Compression{FromProducer: true}
}

// configChanged hands changed settings to the open logs. A changed broker setting
// may be the default of any topic.
func (b *Broker) configChanged(kind, name string) {
	switch kind {
	case "topics":
		b.replicas.ConfigChanged(name)
	case "brokers":
		b.replicas.ConfigChanged("")
	}
}
