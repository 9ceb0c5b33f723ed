package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const adminTimeout = 15 * time.Second

func newTopic() *cobra.Command {
	var conn connection
	var out output
	cmd := newGroup("topic", "List, create, describe, alter and delete topics", `List, create, describe, alter and delete topics.`,
		newTopicList(&conn, &out),
		newTopicCreate(&conn, &out),
		newTopicDescribe(&conn, &out),
		newTopicAlter(&conn, &out),
		newTopicDelete(&conn, &out),
	)
	cmd.Aliases = []string{"topics"}
	conn.addFlags(cmd, adminTimeout)
	out.addFlags(cmd)
	return cmd
}

// settings reads key=value pairs given by -c. The last of a key wins.
func settings(cmd *cobra.Command, flag string, pairs []string) (map[string]string, error) {
	m := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, usageErrorf(cmd, "%s %q: not key=value, such as retention.ms=3600000", flag, pair)
		}
		m[key] = value
	}
	return m, nil
}

// sortedKeys are m's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// setAll are the changes that set each of m, in order.
func setAll(m map[string]string) []kadm.AlterConfig {
	var changes []kadm.AlterConfig
	for _, k := range sortedKeys(m) {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: k, Value: kadm.StringPtr(m[k])})
	}
	return changes
}

// topicID is an id as Kafka's tools write it.
func topicID(id kadm.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// mustExist fails for a topic that metadata does not show.
func mustExist(detail kadm.TopicDetail, name, bootstrap string) error {
	if detail.Err != nil {
		return refused(detail.Err, "", "topic %q at %s", name, bootstrap)
	}
	if detail.Topic == "" {
		return refused(kerr.UnknownTopicOrPartition, "", "topic %q at %s", name, bootstrap)
	}
	return nil
}

// completeTopics offers topic names to the shell.
func completeTopics(conn *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		quick := connection{bootstrap: conn.bootstrap, timeout: 2 * time.Second}
		err := quick.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
			topics, err := adm.ListTopics(ctx)
			if err != nil {
				return fmt.Errorf("list topics: %w", err)
			}
			for _, name := range topics.Names() {
				if strings.HasPrefix(name, prefix) {
					names = append(names, name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
