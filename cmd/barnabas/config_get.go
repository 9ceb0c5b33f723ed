package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func newConfigGet(conn *connection, out *output) *cobra.Command {
	return &cobra.Command{
		Use:   "get ENTITY NAME KEY...",
		Short: "Get configs",
		Long: `Get configs of 'topic NAME', 'broker ID' or 'broker default'. A single KEY
prints its value alone, for scripts; several print a table. -o json tells the
source and the synonyms too.`,
		Example: `  barnabas config get topic orders retention.ms
  barnabas config get broker 1 log.retention.ms log.segment.bytes
  barnabas config get topic orders retention.ms -o json`,
		Args:              atLeast("ENTITY", "NAME", "KEY"),
		ValidArgsFunction: completeEntity(conn),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEntity(cmd, args)
			if err != nil {
				return err
			}
			if err := out.check(cmd); err != nil {
				return err
			}
			return conn.admin(cmd, func(ctx context.Context, adm *kadm.Client, _ *kgo.Client) error {
				all, err := configsOf(ctx, adm, e)
				if err != nil {
					return err
				}
				found := []configLine{}
				for _, key := range args[2:] {
					i := slices.IndexFunc(all, func(c configLine) bool { return c.Key == key })
					if i < 0 {
						return fmt.Errorf("%s has no config %q: see 'barnabas config list %s'", e, key, e)
					}
					found = append(found, all[i])
				}
				if len(found) == 1 && !out.json() {
					_, err := fmt.Fprintln(cmd.OutOrStdout(), found[0].shown())
					return err
				}
				return writeConfigs(cmd, out, found)
			})
		},
	}
}
