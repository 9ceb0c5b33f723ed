package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func newTopicDelete(conn *connection, out *output) *cobra.Command {
	var yes, ifExists bool
	cmd := &cobra.Command{
		Use:   "delete TOPIC...",
		Short: "Delete topics and all their records",
		Long: `Delete topics and all their records. There is no way back, so a person at a
terminal must say --yes; a script need not.`,
		Example: `  barnabas topic delete orders --yes
  barnabas topic delete orders payments --if-exists < /dev/null`,
		Args:              atLeast("TOPIC"),
		ValidArgsFunction: completeTopics(conn),
		RunE: func(cmd *cobra.Command, topics []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			if !yes && isTerminal(cmd.InOrStdin()) {
				return usageErrorf(cmd, "this deletes every record of %s for good: add --yes to do it", strings.Join(topics, ", "))
			}
			return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
				responses, err := adm.DeleteTopics(ctx, topics...)
				if err != nil {
					return refused(err, "", "delete topics at %s", conn.bootstrap)
				}
				var failed failures
				var did []done
				for _, r := range responses.Sorted() {
					switch {
					case errors.Is(r.Err, kerr.UnknownTopicOrPartition) && ifExists:
						did = append(did, done{Name: r.Topic, Action: "absent"})
					case r.Err != nil:
						failed.add(refused(r.Err, r.ErrMessage, "delete topic %q", r.Topic))
					default:
						did = append(did, done{Name: r.Topic, Action: "deleted"})
					}
				}
				if err := out.writeDone(cmd.OutOrStdout(), did); err != nil {
					return err
				}
				return failed.err()
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "yes, delete them")
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "succeed when the topic does not exist")
	return cmd
}
