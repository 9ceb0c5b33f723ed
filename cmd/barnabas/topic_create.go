package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicCreate is what the command line of topic create says.
type topicCreate struct {
	partitions  int32
	replication int16
	configs     []string
	assignment  string
	ifNotExists bool
	validate    bool
}

func newTopicCreate(conn *connection, out *output) *cobra.Command {
	var c topicCreate
	cmd := &cobra.Command{
		Use:   "create TOPIC...",
		Short: "Create topics",
		Long: `Create topics. Without --partitions and --replication-factor the broker's
num.partitions and default.replication.factor decide.`,
		Example: `  barnabas topic create orders
  barnabas topic create orders --partitions 6 -c retention.ms=3600000 -c cleanup.policy=compact
  barnabas topic create orders --assignment 1:2,2:1     two partitions, each on brokers 1 and 2
  barnabas topic create orders --if-not-exists`,
		Args: atLeast("TOPIC"),
		RunE: func(cmd *cobra.Command, topics []string) error {
			request, err := c.request(cmd, topics)
			if err != nil {
				return err
			}
			if err := out.check(cmd); err != nil {
				return err
			}
			return conn.admin(cmd, func(ctx context.Context, _ *kadm.Client, cl *kgo.Client) error {
				request.TimeoutMillis = int32(conn.timeout.Milliseconds())
				return c.send(ctx, cmd, out, sender{cl, request})
			})
		},
	}
	f := cmd.Flags()
	f.Int32VarP(&c.partitions, "partitions", "p", -1, "how many partitions (-1: the broker's default)")
	f.Int16VarP(&c.replication, "replication-factor", "r", -1, "how many replicas each partition has (-1: the broker's default)")
	f.StringArrayVarP(&c.configs, "config", "c", nil, "one topic config, as `key=value`; may be repeated")
	f.StringVar(&c.assignment, "assignment", "", "which brokers hold each partition, as `1:2,2:3`; the first is preferred as leader")
	f.BoolVar(&c.ifNotExists, "if-not-exists", false, "succeed when the topic exists already")
	f.BoolVar(&c.validate, "validate-only", false, "check the request, create nothing")
	return cmd
}

// request is the CreateTopics request for topics.
func (c *topicCreate) request(cmd *cobra.Command, topics []string) (*kmsg.CreateTopicsRequest, error) {
	if c.partitions < -1 || c.partitions == 0 {
		return nil, usageErrorf(cmd, "--partitions %d: must be at least 1", c.partitions)
	}
	if c.replication < -1 || c.replication == 0 {
		return nil, usageErrorf(cmd, "--replication-factor %d: must be at least 1", c.replication)
	}
	configs, err := settings(cmd, "--config", c.configs)
	if err != nil {
		return nil, err
	}
	assignment, err := c.parseAssignment(cmd)
	if err != nil {
		return nil, err
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.ValidateOnly = c.validate
	for _, name := range topics {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic = name
		topic.NumPartitions = c.partitions
		topic.ReplicationFactor = c.replication
		topic.ReplicaAssignment = assignment
		for _, k := range sortedKeys(configs) {
			config := kmsg.NewCreateTopicsRequestTopicConfig()
			config.Name, config.Value = k, kadm.StringPtr(configs[k])
			topic.Configs = append(topic.Configs, config)
		}
		request.Topics = append(request.Topics, topic)
	}
	return request, nil
}

// parseAssignment reads --assignment: partitions apart by commas, the brokers
// of each apart by colons.
func (c *topicCreate) parseAssignment(cmd *cobra.Command) ([]kmsg.CreateTopicsRequestTopicReplicaAssignment, error) {
	if c.assignment == "" {
		return nil, nil
	}
	if c.partitions != -1 || c.replication != -1 {
		return nil, usageErrorf(cmd, "--assignment says how many partitions and replicas there are: leave out --partitions and --replication-factor")
	}
	var assignment []kmsg.CreateTopicsRequestTopicReplicaAssignment
	for i, brokers := range strings.Split(c.assignment, ",") {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition = int32(i)
		for broker := range strings.SplitSeq(brokers, ":") {
			id, err := strconv.ParseInt(strings.TrimSpace(broker), 10, 32)
			if err != nil || id < 0 {
				return nil, usageErrorf(cmd, "--assignment %q: partition %d: %q is no broker id; write 1:2,2:3", c.assignment, i, broker)
			}
			a.Replicas = append(a.Replicas, int32(id))
		}
		assignment = append(assignment, a)
	}
	return assignment, nil
}

// sender is a request and who sends it.
type sender struct {
	cl      *kgo.Client
	request *kmsg.CreateTopicsRequest
}

func (c *topicCreate) send(ctx context.Context, cmd *cobra.Command, out *output, s sender) error {
	response, err := s.request.RequestWith(ctx, s.cl)
	if err != nil {
		return refused(err, "", "create topics")
	}
	var failed failures
	var changes []done
	for _, t := range response.Topics {
		name, message := "", ""
		if t.Topic != "" {
			name = t.Topic
		}
		if t.ErrorMessage != nil {
			message = *t.ErrorMessage
		}
		err := kerr.ErrorForCode(t.ErrorCode)
		switch {
		case errors.Is(err, kerr.TopicAlreadyExists) && c.ifNotExists:
			changes = append(changes, done{Name: name, Action: "exists"})
		case err != nil:
			failed.add(refused(err, message, "create topic %q", name))
		default:
			changes = append(changes, done{Name: name, Action: c.verb(), Detail: size(t)})
		}
	}
	if len(changes) > 0 || out.json() {
		if err := out.writeDone(cmd.OutOrStdout(), changes); err != nil {
			return err
		}
	}
	return failed.err()
}

func (c *topicCreate) verb() string {
	if c.validate {
		return "valid"
	}
	return "created"
}

// size says how large a created topic is, when the broker said so.
func size(t kmsg.CreateTopicsResponseTopic) string {
	if t.NumPartitions < 1 {
		return ""
	}
	return fmt.Sprintf("%d partitions, replication factor %d", t.NumPartitions, t.ReplicationFactor)
}
