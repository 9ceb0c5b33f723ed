package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// describedTopic is one topic with all that is known of it.
type describedTopic struct {
	Topic             string               `json:"topic"`
	ID                string               `json:"id"`
	Internal          bool                 `json:"internal"`
	PartitionCount    int                  `json:"partitionCount"`
	ReplicationFactor int                  `json:"replicationFactor"`
	Configs           map[string]string    `json:"configs"` // those set on the topic itself
	Partitions        []describedPartition `json:"partitions"`
}

// describedPartition is one partition. An offset is null when its leader did
// not say it; Error says why.
type describedPartition struct {
	Partition     int32   `json:"partition"`
	Leader        int32   `json:"leader"` // -1: none
	LeaderEpoch   int32   `json:"leaderEpoch"`
	Replicas      []int32 `json:"replicas"` // AR, the preferred leader first
	ISR           []int32 `json:"isr"`
	OSR           []int32 `json:"osr"`
	Offline       []int32 `json:"offline"`
	LowWatermark  *int64  `json:"lowWatermark"`
	HighWatermark *int64  `json:"highWatermark"`
	LogEndOffset  *int64  `json:"logEndOffset"`
	Error         string  `json:"error,omitempty"`
}

func newTopicDescribe(conn *connection, out *output) *cobra.Command {
	var unhealthy bool
	cmd := &cobra.Command{
		Use:   "describe [TOPIC...]",
		Short: "Show topics with replicas, leaders and offsets of every partition",
		Long: `Show topics, all if none is named, and for each partition:

  AR      assigned replicas, the preferred leader first
  ISR     in-sync replicas
  OSR     out-of-sync replicas: AR without ISR
  LW      low watermark: the first offset that can be read
  HW      high watermark: where consumers end; all in-sync replicas have what is below it
  LEO     log end offset of the leader: the offset its next record gets

"-" stands for what the leader did not say. Configs are those set on the topic
itself; 'barnabas config list topic NAME' shows all that apply.`,
		Example: `  barnabas topic describe orders
  barnabas topic describe --unhealthy
  barnabas topic describe orders -o json | jq '.[0].partitions[].highWatermark'`,
		ValidArgsFunction: completeTopics(conn),
		RunE: func(cmd *cobra.Command, topics []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, cl *kgo.Client) error {
				described, failed := describe(ctx, inquiry{adm, cl, conn.bootstrap, topics})
				if unhealthy {
					described = onlyUnhealthy(described)
				}
				if err := writeDescribed(cmd.OutOrStdout(), out, described); err != nil {
					return err
				}
				return failed.err()
			})
		},
	}
	cmd.Flags().BoolVar(&unhealthy, "unhealthy", false, "only partitions without a leader or with replicas out of sync")
	return cmd
}

// inquiry is who is asked about which topics.
type inquiry struct {
	adm       *kadm.Client
	cl        *kgo.Client
	bootstrap string
	topics    []string
}

// describe gathers metadata, configs and offsets. What could be had is
// returned beside what failed.
func describe(ctx context.Context, q inquiry) ([]describedTopic, failures) {
	var failed failures
	details, err := q.adm.ListTopicsWithInternal(ctx, q.topics...)
	if err != nil {
		failed.add(refused(err, "", "describe topics at %s", q.bootstrap))
		return []describedTopic{}, failed
	}
	topics := []describedTopic{}
	var names []string
	for _, detail := range details.Sorted() {
		if err := mustExist(detail, detail.Topic, q.bootstrap); err != nil {
			failed.add(err)
			continue
		}
		topics = append(topics, describedFrom(detail))
		names = append(names, detail.Topic)
	}
	if len(names) == 0 {
		return topics, failed
	}
	configs, err := q.adm.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		failed.add(refused(err, "", "configs of topics"))
	}
	for i := range topics {
		topics[i].Configs = ownConfigs(configs, topics[i].Topic)
	}
	fillOffsets(ctx, q.cl, topics)
	return topics, failed
}

func describedFrom(detail kadm.TopicDetail) describedTopic {
	t := describedTopic{
		Topic: detail.Topic, ID: topicID(detail.ID), Internal: detail.IsInternal,
		PartitionCount: len(detail.Partitions), ReplicationFactor: detail.Partitions.NumReplicas(),
		Configs: map[string]string{}, Partitions: []describedPartition{},
	}
	for _, p := range detail.Partitions.Sorted() {
		d := describedPartition{
			Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
			Replicas: without(p.Replicas, nil), ISR: without(p.ISR, nil),
			OSR: without(p.Replicas, p.ISR), Offline: without(p.OfflineReplicas, nil),
		}
		if p.Err != nil {
			d.Error = p.Err.Error()
		}
		t.Partitions = append(t.Partitions, d)
	}
	return t
}

// ownConfigs are the configs set on the topic itself.
func ownConfigs(all kadm.ResourceConfigs, topic string) map[string]string {
	own := map[string]string{}
	for _, resource := range all {
		if resource.Name != topic {
			continue
		}
		for _, c := range resource.Configs {
			if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
				own[c.Key] = c.MaybeValue()
			}
		}
	}
	return own
}

// onlyUnhealthy keeps the partitions that miss a leader or a replica.
func onlyUnhealthy(topics []describedTopic) []describedTopic {
	kept := []describedTopic{}
	for _, t := range topics {
		t.Partitions = slices.DeleteFunc(t.Partitions, func(p describedPartition) bool {
			return p.Leader >= 0 && len(p.OSR) == 0 && p.Error == ""
		})
		if len(t.Partitions) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func writeDescribed(w io.Writer, out *output, topics []describedTopic) error {
	if out.json() {
		return writeJSON(w, topics)
	}
	for i, t := range topics {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "topic %s  id %s  partitions %d  replication factor %d\n", t.Topic, t.ID, t.PartitionCount, t.ReplicationFactor)
		for _, k := range sortedKeys(t.Configs) {
			fmt.Fprintf(w, "  %s=%s\n", k, t.Configs[k])
		}
		rows := make([][]string, len(t.Partitions))
		for i, p := range t.Partitions {
			leader := strconv.Itoa(int(p.Leader))
			if p.Leader < 0 {
				leader = "none"
			}
			rows[i] = []string{
				strconv.Itoa(int(p.Partition)), leader, strconv.Itoa(int(p.LeaderEpoch)),
				joinIDs(p.Replicas), joinIDs(p.ISR), joinIDs(p.OSR),
				orDash(p.LowWatermark), orDash(p.HighWatermark), orDash(p.LogEndOffset), p.Error,
			}
		}
		columns := []string{"PARTITION", "LEADER", "EPOCH", "AR", "ISR", "OSR", "LW", "HW", "LEO", ""}
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[len(row)-1] != "" }) {
			columns = columns[:len(columns)-1]
			for i := range rows {
				rows[i] = rows[i][:len(columns)]
			}
		}
		if err := writeTable(w, columns, rows); err != nil {
			return err
		}
	}
	if len(topics) == 0 {
		_, err := fmt.Fprintln(w, "no topics")
		return err
	}
	return nil
}
