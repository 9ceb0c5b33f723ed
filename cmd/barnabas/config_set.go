package main

import (
	"github.com/spf13/cobra"
)

func newConfigSet(conn *connection, out *output) *cobra.Command {
	var validate bool
	cmd := &cobra.Command{
		Use:   "set ENTITY NAME KEY=VALUE...",
		Short: "Set configs",
		Long: `Set configs of 'topic NAME', 'broker ID' or 'broker default'. Others keep their
values. It acts at once and survives restarts.`,
		Example: `  barnabas config set topic orders retention.ms=3600000 cleanup.policy=compact,delete
  barnabas config set broker default log.retention.ms=86400000
  barnabas config set topic orders retention.ms=-5 --validate-only`,
		Args:              atLeast("ENTITY", "NAME", "KEY=VALUE"),
		ValidArgsFunction: completeEntity(conn),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEntity(cmd, args)
			if err != nil {
				return err
			}
			set, err := settings(cmd, "argument", args[2:])
			if err != nil {
				return err
			}
			if err := out.check(cmd); err != nil {
				return err
			}
			return change(cmd, conn, out, configChange{e, setAll(set), validate})
		},
	}
	cmd.Flags().BoolVar(&validate, "validate-only", false, "check the request, change nothing")
	return cmd
}
