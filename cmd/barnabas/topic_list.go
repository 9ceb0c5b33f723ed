package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topicLine is one topic of a list.
type topicLine struct {
	Topic             string `json:"topic"`
	ID                string `json:"id"`
	Internal          bool   `json:"internal"`
	Partitions        int    `json:"partitions"`
	ReplicationFactor int    `json:"replicationFactor"`
	UnderReplicated   int    `json:"underReplicated"` // partitions with an assigned replica out of sync
	Leaderless        int    `json:"leaderless"`      // partitions without a leader
}

func newTopicList(conn *connection, out *output) *cobra.Command {
	var internal bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List topics",
		Example: `  barnabas topic list
  barnabas topic list --internal -o json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
				topics, err := adm.ListTopicsWithInternal(ctx)
				if err != nil {
					return refused(err, "", "list topics at %s", conn.bootstrap)
				}
				if !internal {
					topics.FilterInternal()
				}
				return writeTopics(cmd, out, topics)
			})
		},
	}
	cmd.Flags().BoolVar(&internal, "internal", false, "list internal topics too")
	return cmd
}

func writeTopics(cmd *cobra.Command, out *output, topics kadm.TopicDetails) error {
	lines := []topicLine{}
	for _, t := range topics.Sorted() {
		line := topicLine{
			Topic: t.Topic, ID: topicID(t.ID), Internal: t.IsInternal,
			Partitions: len(t.Partitions), ReplicationFactor: t.Partitions.NumReplicas(),
		}
		for _, p := range t.Partitions {
			if len(without(p.Replicas, p.ISR)) > 0 {
				line.UnderReplicated++
			}
			if p.Leader < 0 {
				line.Leaderless++
			}
		}
		lines = append(lines, line)
	}
	if out.json() {
		return writeJSON(cmd.OutOrStdout(), lines)
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l.Topic, strconv.Itoa(l.Partitions), strconv.Itoa(l.ReplicationFactor), fmt.Sprint(l.UnderReplicated), fmt.Sprint(l.Leaderless)}
	}
	return writeTable(cmd.OutOrStdout(), []string{"TOPIC", "PARTITIONS", "REPLICATION", "UNDER-REPLICATED", "LEADERLESS"}, rows)
}
