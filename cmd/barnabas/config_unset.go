package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newConfigUnset(conn *connection, out *output) *cobra.Command {
	var validate bool
	cmd := &cobra.Command{
		Use:   "unset ENTITY NAME KEY...",
		Short: "Give configs their default again",
		Long: `Take back what was set on 'topic NAME', 'broker ID' or 'broker default', so that
the next source in line decides: for a topic the broker's setting, for a broker
its file, then Kafka's default.`,
		Example: `  barnabas config unset topic orders retention.ms
  barnabas config unset broker default log.retention.ms`,
		Args:              atLeast("ENTITY", "NAME", "KEY"),
		ValidArgsFunction: completeEntity(conn),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEntity(cmd, args)
			if err != nil {
				return err
			}
			var changes []kadm.AlterConfig
			for _, key := range args[2:] {
				if strings.Contains(key, "=") {
					return usageErrorf(cmd, "%q: unset takes the key alone", key)
				}
				changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: key})
			}
			if err := out.check(cmd); err != nil {
				return err
			}
			return change(cmd, conn, out, configChange{e, changes, validate})
		},
	}
	cmd.Flags().BoolVar(&validate, "validate-only", false, "check the request, change nothing")
	return cmd
}
