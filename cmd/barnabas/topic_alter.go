package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topicAlter is what the command line of topic alter says.
type topicAlter struct {
	partitions int
	configs    []string
	unset      []string
	validate   bool
}

func newTopicAlter(conn *connection, out *output) *cobra.Command {
	var a topicAlter
	cmd := &cobra.Command{
		Use:   "alter TOPIC...",
		Short: "Add partitions to topics, change their configs",
		Long: `Add partitions to topics and change their configs. Partitions are never taken
away. Adding some changes which partition a key goes to.`,
		Example: `  barnabas topic alter orders --partitions 12
  barnabas topic alter orders -c retention.ms=86400000 --unset cleanup.policy`,
		Args:              atLeast("TOPIC"),
		ValidArgsFunction: completeTopics(conn),
		RunE: func(cmd *cobra.Command, topics []string) error {
			changes, err := a.changes(cmd)
			if err != nil {
				return err
			}
			if err := out.check(cmd); err != nil {
				return err
			}
			return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
				var failed failures
				var did []done
				if a.partitions > 0 {
					did = append(did, a.grow(ctx, adm, topics, &failed)...)
				}
				if len(changes) > 0 {
					did = append(did, a.configure(ctx, adm, alteration{topics, changes}, &failed)...)
				}
				if err := out.writeDone(cmd.OutOrStdout(), did); err != nil {
					return err
				}
				return failed.err()
			})
		},
	}
	f := cmd.Flags()
	f.IntVarP(&a.partitions, "partitions", "p", 0, "how many partitions the topic shall have in all")
	f.StringArrayVarP(&a.configs, "config", "c", nil, "one topic config to set, as `key=value`; may be repeated")
	f.StringArrayVar(&a.unset, "unset", nil, "one topic config to give its default again, by `key`; may be repeated")
	f.BoolVar(&a.validate, "validate-only", false, "check the request, change nothing")
	return cmd
}

// changes are the configs to set and to unset.
func (a *topicAlter) changes(cmd *cobra.Command) ([]kadm.AlterConfig, error) {
	set, err := settings(cmd, "--config", a.configs)
	if err != nil {
		return nil, err
	}
	changes := setAll(set)
	for _, key := range a.unset {
		if _, both := set[key]; both {
			return nil, usageErrorf(cmd, "%q is both set (--config) and unset (--unset)", key)
		}
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: key})
	}
	switch {
	case a.partitions < 0 || (a.partitions == 0 && cmd.Flags().Changed("partitions")):
		return nil, usageErrorf(cmd, "--partitions %d: must be at least 1", a.partitions)
	case a.partitions == 0 && len(changes) == 0:
		return nil, usageErrorf(cmd, "nothing to change: give --partitions, --config or --unset")
	}
	return changes, nil
}

func (a *topicAlter) grow(ctx context.Context, adm *kadm.Client, topics []string, failed *failures) []done {
	update := adm.UpdatePartitions
	if a.validate {
		update = adm.ValidateUpdatePartitions
	}
	responses, err := update(ctx, a.partitions, topics...)
	if err != nil {
		failed.add(refused(err, "", "add partitions"))
		return nil
	}
	var did []done
	for _, r := range responses.Sorted() {
		if r.Err != nil {
			failed.add(refused(r.Err, r.ErrMessage, "give topic %q %d partitions", r.Topic, a.partitions))
			continue
		}
		did = append(did, done{Name: r.Topic, Action: a.verb(), Detail: fmt.Sprintf("%d partitions", a.partitions)})
	}
	return did
}

// alteration is what to change on which topics.
type alteration struct {
	topics  []string
	changes []kadm.AlterConfig
}

func (a *topicAlter) configure(ctx context.Context, adm *kadm.Client, what alteration, failed *failures) []done {
	alter := adm.AlterTopicConfigs
	if a.validate {
		alter = adm.ValidateAlterTopicConfigs
	}
	responses, err := alter(ctx, what.changes, what.topics...)
	if err != nil {
		failed.add(refused(err, "", "alter configs"))
		return nil
	}
	return configsDone(responses, "topic", a.verb(), failed)
}

func (a *topicAlter) verb() string {
	if a.validate {
		return "valid"
	}
	return "altered"
}

// configsDone sorts what became of an alteration into done and failed.
func configsDone(responses kadm.AlterConfigsResponses, kind, action string, failed *failures) []done {
	var did []done
	for _, r := range responses {
		if r.Err != nil {
			failed.add(refused(r.Err, r.ErrMessage, "alter configs of %s %q", kind, r.Name))
			continue
		}
		did = append(did, done{Name: r.Name, Action: action, Detail: "configs"})
	}
	return did
}
