package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// configLine is one config of a topic or broker.
type configLine struct {
	Key       string          `json:"key"`
	Value     *string         `json:"value"` // null when sensitive or not set
	Source    string          `json:"source"`
	Sensitive bool            `json:"sensitive"`
	Synonyms  []configSynonym `json:"synonyms"` // where the value comes from, the one in force first
}

// configSynonym is a value that would apply if those before it were unset.
type configSynonym struct {
	Key    string  `json:"key"`
	Value  *string `json:"value"`
	Source string  `json:"source"`
}

func newConfig() *cobra.Command {
	var conn connection
	var out output
	cmd := newGroup("config", "List, get, set and unset configs of topics and brokers",
		`List, get, set and unset the configs of a topic or a broker.

An entity is 'topic NAME', 'broker ID', or 'broker default': what every broker
takes that has no value of its own. SOURCE says where a value comes from:

  topic           set on the topic
  broker          set on this broker while it ran
  broker-default  set on 'broker default'
  static          the broker's file, environment or command line
  default         Kafka's own default`,
		newConfigList(&conn, &out),
		newConfigGet(&conn, &out),
		newConfigSet(&conn, &out),
		newConfigUnset(&conn, &out),
	)
	conn.addFlags(cmd, adminTimeout)
	out.addFlags(cmd)
	return cmd
}

// entity is what configs belong to.
type entity struct {
	kind string // "topic" or "broker"
	name string // a topic's name, or a broker's id; "" for all brokers
	id   []int32
}

func (e entity) String() string {
	if e.kind == "broker" && e.name == "" {
		return "broker default"
	}
	return e.kind + " " + e.name
}

// parseEntity reads the first two arguments of the config verbs.
func parseEntity(cmd *cobra.Command, args []string) (entity, error) {
	kind, name := args[0], args[1]
	switch kind {
	case "topic", "topics":
		return entity{kind: "topic", name: name}, nil
	case "broker", "brokers":
		if name == "default" {
			return entity{kind: "broker"}, nil
		}
		id, err := strconv.ParseInt(name, 10, 32)
		if err != nil || id < 0 {
			return entity{}, usageErrorf(cmd, "broker %q: give a broker id, such as 1, or the word default", name)
		}
		return entity{kind: "broker", name: name, id: []int32{int32(id)}}, nil
	}
	return entity{}, usageErrorf(cmd, "unknown entity %q: use topic NAME, broker ID or broker default", kind)
}

// completeEntity offers the first two arguments of the config verbs.
func completeEntity(conn *connection) cobra.CompletionFunc {
	topics := completeTopics(conn)
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return []string{"topic", "broker"}, cobra.ShellCompDirectiveNoFileComp
		case len(args) == 1 && args[0] == "topic":
			return topics(cmd, args, prefix)
		case len(args) == 1 && args[0] == "broker":
			return []string{"default"}, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// configsOf asks for all configs of e.
func configsOf(ctx context.Context, adm *kadm.Client, e entity) ([]configLine, error) {
	var responses kadm.ResourceConfigs
	var err error
	if e.kind == "topic" {
		responses, err = adm.DescribeTopicConfigs(ctx, e.name)
	} else {
		responses, err = adm.DescribeBrokerConfigs(ctx, e.id...)
	}
	if err != nil {
		return nil, refused(err, "", "configs of %s", e)
	}
	lines := []configLine{}
	for _, r := range responses {
		if r.Err != nil {
			return nil, refused(r.Err, r.ErrMessage, "configs of %s", e)
		}
		for _, c := range r.Configs {
			line := configLine{Key: c.Key, Value: c.Value, Source: sourceName(c.Source), Sensitive: c.Sensitive, Synonyms: []configSynonym{}}
			for _, s := range c.Synonyms {
				line.Synonyms = append(line.Synonyms, configSynonym{s.Key, s.Value, sourceName(s.Source)})
			}
			lines = append(lines, line)
		}
	}
	slices.SortFunc(lines, func(a, b configLine) int { return strings.Compare(a.Key, b.Key) })
	return lines, nil
}

// sourceName is our short name for a source of DescribeConfigs.
func sourceName(s kmsg.ConfigSource) string {
	switch s {
	case kmsg.ConfigSourceDynamicTopicConfig:
		return "topic"
	case kmsg.ConfigSourceDynamicBrokerConfig:
		return "broker"
	case kmsg.ConfigSourceDynamicDefaultBrokerConfig:
		return "broker-default"
	case kmsg.ConfigSourceStaticBrokerConfig:
		return "static"
	case kmsg.ConfigSourceDefaultConfig:
		return "default"
	}
	return strings.ToLower(s.String())
}

// shown is a value as the table shows it.
func (c configLine) shown() string {
	switch {
	case c.Sensitive:
		return "(hidden)"
	case c.Value == nil:
		return "(none)"
	}
	return *c.Value
}

// change alters e's configs and says so.
func change(cmd *cobra.Command, conn *connection, out *output, c configChange) error {
	return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
		alterTopics, alterBrokers := adm.AlterTopicConfigs, adm.AlterBrokerConfigs
		action := "altered"
		if c.validate {
			alterTopics, alterBrokers = adm.ValidateAlterTopicConfigs, adm.ValidateAlterBrokerConfigs
			action = "valid"
		}
		var responses kadm.AlterConfigsResponses
		var err error
		if c.entity.kind == "topic" {
			responses, err = alterTopics(ctx, c.changes, c.entity.name)
		} else {
			responses, err = alterBrokers(ctx, c.changes, c.entity.id...)
		}
		if err != nil {
			return refused(err, "", "alter configs of %s", c.entity)
		}
		var failed failures
		did := []done{}
		for _, r := range responses {
			if r.Err != nil {
				failed.add(refused(r.Err, r.ErrMessage, "alter configs of %s", c.entity))
				continue
			}
			did = append(did, done{Name: c.entity.String(), Action: action, Detail: changesText(c.changes)})
		}
		if err := out.writeDone(cmd.OutOrStdout(), did); err != nil {
			return err
		}
		return failed.err()
	})
}

// configChange is what to change on which entity.
type configChange struct {
	entity   entity
	changes  []kadm.AlterConfig
	validate bool
}

// changesText is the changes in a person's words.
func changesText(changes []kadm.AlterConfig) string {
	words := make([]string, len(changes))
	for i, c := range changes {
		if c.Op == kadm.DeleteConfig {
			words[i] = "unset " + c.Name
			continue
		}
		words[i] = fmt.Sprintf("%s=%s", c.Name, *c.Value)
	}
	return strings.Join(words, ", ")
}
