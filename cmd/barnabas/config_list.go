package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func newConfigList(conn *connection, out *output) *cobra.Command {
	var changed bool
	cmd := &cobra.Command{
		Use:   "list topic NAME | broker ID | broker default",
		Short: "List configs with their sources",
		Example: `  barnabas config list topic orders
  barnabas config list broker 1 --changed
  barnabas config list broker 1 -o json | jq '.[] | select(.source == "static")'`,
		Args:              exactly("ENTITY", "NAME"),
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
				lines, err := configsOf(ctx, adm, e)
				if err != nil {
					return err
				}
				if changed {
					lines = slices.DeleteFunc(lines, func(c configLine) bool { return c.Source == "default" })
				}
				return writeConfigs(cmd, out, lines)
			})
		},
	}
	cmd.Flags().BoolVar(&changed, "changed", false, "only those that do not have their default")
	return cmd
}

func writeConfigs(cmd *cobra.Command, out *output, lines []configLine) error {
	if out.json() {
		return writeJSON(cmd.OutOrStdout(), lines)
	}
	rows := make([][]string, len(lines))
	for i, c := range lines {
		rows[i] = []string{c.Key, c.shown(), c.Source}
	}
	return writeTable(cmd.OutOrStdout(), []string{"KEY", "VALUE", "SOURCE"}, rows)
}
