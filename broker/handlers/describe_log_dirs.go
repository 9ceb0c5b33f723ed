package handlers

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
	"barnabas/storage"
)

// describeLogDirs answers DescribeLogDirs (35), versions 0 to 5: 2 is flexible,
// 3 has an error at the top, 4 the sizes of the volume (KIP-827), 5 says whether
// a directory is cordoned, which ours never are.
//
// One entry for each log directory, with the partitions asked that it holds; a
// null list asks for all. KAFKA_STORAGE_ERROR for a directory that is offline.
// Partitions that are not here are left out without an error, as in Kafka.
func (h *Handlers) describeLogDirs(_ context.Context, _ *server.Call, req *kmsg.DescribeLogDirsRequest) server.Reply {
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	wanted := wantedLogs(req)
	for _, info := range h.logs.Dirs() {
		d := kmsg.NewDescribeLogDirsResponseDir()
		d.Dir = info.Path
		if abs, err := filepath.Abs(info.Path); err == nil {
			d.Dir = abs
		}
		d.TotalBytes, d.UsableBytes = info.Total, info.Usable
		if info.Err != nil {
			d.ErrorCode = kerr.KafkaStorageError.Code
		}
		d.Topics = dirTopics(info.Logs, wanted)
		resp.Dirs = append(resp.Dirs, d)
	}
	return server.Now(resp)
}

// wantedLogs are the partitions asked for, nil for all.
func wantedLogs(req *kmsg.DescribeLogDirsRequest) map[storage.TopicPartition]bool {
	if req.Topics == nil {
		return nil
	}
	wanted := make(map[storage.TopicPartition]bool)
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			wanted[storage.TopicPartition{Topic: t.Topic, Partition: p}] = true
		}
	}
	return wanted
}

// dirTopics groups a directory's logs by topic, in order.
func dirTopics(logs []storage.LogInfo, wanted map[storage.TopicPartition]bool) []kmsg.DescribeLogDirsResponseDirTopic {
	logs = slices.DeleteFunc(logs, func(l storage.LogInfo) bool { return wanted != nil && !wanted[l.TopicPartition] })
	slices.SortFunc(logs, func(a, b storage.LogInfo) int {
		if c := strings.Compare(a.TopicPartition.Topic, b.TopicPartition.Topic); c != 0 {
			return c
		}
		return int(a.TopicPartition.Partition - b.TopicPartition.Partition)
	})
	topics := []kmsg.DescribeLogDirsResponseDirTopic{}
	for _, l := range logs {
		if n := len(topics); n == 0 || topics[n-1].Topic != l.TopicPartition.Topic {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = l.TopicPartition.Topic
			topics = append(topics, t)
		}
		p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		p.Partition, p.Size = l.TopicPartition.Partition, l.Size
		t := &topics[len(topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	return topics
}
