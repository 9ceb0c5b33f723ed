package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
)

func TestTopicLife(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.ok("", "topic", "create", "orders", "-p", "3", "-r", "1", "-c", "retention.ms=3600000")
	s.fails(exitFailed, []string{"topic", "create", "orders"}, "orders", "TOPIC_ALREADY_EXISTS", "--if-not-exists")
	s.ok("", "topic", "create", "orders", "--if-not-exists")

	lines := fromJSON[[]topicLine](t, s.ok("", "topic", "list", "-o", "json"))
	if len(lines) != 1 || lines[0].Topic != "orders" || lines[0].Partitions != 3 || lines[0].ReplicationFactor != 1 {
		t.Errorf("list: %+v", lines)
	}

	s.ok("", "topic", "alter", "orders", "-p", "4", "-c", "max.message.bytes=2000", "--unset", "retention.ms")
	s.fails(exitFailed, []string{"topic", "alter", "orders", "-p", "2"}, "orders", "2 partitions", "INVALID_PARTITIONS")
	described := fromJSON[[]describedTopic](t, s.ok("", "topic", "describe", "orders", "-o", "json"))
	if len(described) != 1 || described[0].PartitionCount != 4 || len(described[0].Partitions) != 4 {
		t.Fatalf("describe: %+v", described)
	}
	if diff := cmp.Diff(map[string]string{"max.message.bytes": "2000"}, described[0].Configs); diff != "" {
		t.Errorf("configs (-want +got):\n%s", diff)
	}

	s.ok("", "topic", "delete", "orders")
	s.fails(exitFailed, []string{"topic", "delete", "orders"}, "orders", "UNKNOWN_TOPIC_OR_PARTITION", "topic list")
	s.ok("", "topic", "delete", "orders", "--if-exists")
	s.fails(exitFailed, []string{"topic", "describe", "orders"}, `"orders"`, "UNKNOWN_TOPIC_OR_PARTITION")
	if out := s.ok("", "topic", "list", "-o", "json"); out != "[]\n" {
		t.Errorf("list of nothing: %q", out)
	}
}

func TestTopicCreateValidateOnly(t *testing.T) {
	t.Parallel()
	s := fake(t)
	if out := s.ok("", "topic", "create", "orders", "--validate-only"); !strings.HasPrefix(out, "valid orders") {
		t.Errorf("%q", out)
	}
	if out := s.ok("", "topic", "list", "-o", "json"); out != "[]\n" {
		t.Errorf("it was created: %s", out)
	}
}

func TestTopicDescribeOffsets(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(2, "orders"))
	s.ok("one\ntwo\nthree\n", "produce", "orders", "-p", "1")
	described := fromJSON[[]describedTopic](t, s.ok("", "topic", "describe", "orders", "-o", "json"))
	p := described[0].Partitions[1]
	if p.LowWatermark == nil || p.HighWatermark == nil || p.LogEndOffset == nil {
		t.Fatalf("offsets are missing: %+v", p)
	}
	if *p.LowWatermark != 0 || *p.HighWatermark != 3 || *p.LogEndOffset != 3 {
		t.Errorf("LW %d HW %d LEO %d", *p.LowWatermark, *p.HighWatermark, *p.LogEndOffset)
	}
	out := s.ok("", "topic", "describe")
	for _, word := range []string{"topic orders", "PARTITION", "LEADER", "AR", "ISR", "OSR", "LW", "HW", "LEO"} {
		if !strings.Contains(out, word) {
			t.Errorf("describe does not show %s:\n%s", word, out)
		}
	}
	if out := s.ok("", "topic", "describe", "--unhealthy"); out != "no topics\n" {
		t.Errorf("a healthy topic is shown: %s", out)
	}
}

func TestDescribeTable(t *testing.T) {
	t.Parallel()
	three := int64(3)
	topics := []describedTopic{{
		Topic: "orders", ID: "id", PartitionCount: 2, ReplicationFactor: 2, Configs: map[string]string{"retention.ms": "1"},
		Partitions: []describedPartition{
			{Partition: 0, Leader: 1, LeaderEpoch: 7, Replicas: []int32{1, 2}, ISR: []int32{1}, OSR: []int32{2}, LowWatermark: new(int64), HighWatermark: &three, LogEndOffset: &three},
			{Partition: 1, Leader: -1, LeaderEpoch: 8, Replicas: []int32{2}, Error: "LEADER_NOT_AVAILABLE"},
		},
	}}
	var b strings.Builder
	if err := writeDescribed(&b, &output{format: "table"}, topics); err != nil {
		t.Fatal(err)
	}
	want := `topic orders  id id  partitions 2  replication factor 2
  retention.ms=1
PARTITION  LEADER  EPOCH  AR   ISR  OSR  LW  HW  LEO  
0          1       7      1,2  1    2    0   3   3    
1          none    8      2    -    -    -   -   -    LEADER_NOT_AVAILABLE
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := len(onlyUnhealthy(topics)[0].Partitions); got != 2 {
		t.Errorf("%d unhealthy partitions, want 2", got)
	}
}

func TestConfigLife(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "orders"))
	s.ok("", "config", "set", "topic", "orders", "retention.ms=5000", "cleanup.policy=compact")
	if out := s.ok("", "config", "get", "topic", "orders", "retention.ms"); out != "5000\n" {
		t.Errorf("get prints %q", out)
	}
	lines := fromJSON[[]configLine](t, s.ok("", "config", "get", "topic", "orders", "retention.ms", "-o", "json"))
	if len(lines) != 1 || lines[0].Source != "topic" || *lines[0].Value != "5000" {
		t.Errorf("get: %+v", lines)
	}
	out := s.ok("", "config", "list", "topic", "orders", "--changed")
	if !strings.Contains(out, "cleanup.policy") || strings.Contains(out, " default\n") {
		t.Errorf("list --changed:\n%s", out)
	}
	s.ok("", "config", "unset", "topic", "orders", "retention.ms")
	if out := s.ok("", "config", "get", "topic", "orders", "retention.ms"); out == "5000\n" {
		t.Error("unset did nothing")
	}
	s.fails(exitFailed, []string{"config", "get", "topic", "orders", "no.such.key"}, `"no.such.key"`, "config list topic orders")
	s.fails(exitFailed, []string{"config", "list", "topic", "nobody"}, "topic nobody", "UNKNOWN_TOPIC_OR_PARTITION")
}
