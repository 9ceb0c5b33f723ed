package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// verbs are the operator's subcommands: everything but serve.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newTopic(),
		newConfig(),
		newProduce(),
		newConsume(),
		newHealth(),
		newVersion(),
	}
}

// addVerbs hangs the operator's subcommands below root and makes mistakes on
// any command line, serve's too, usage errors (exit code 2).
func addVerbs(root *cobra.Command) {
	root.AddCommand(verbs()...)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageErrorf(cmd, "%w", err)
	})
	judgeArguments(root)
}

// judgeArguments wraps every argument check below cmd so that what it refuses
// is known to be a usage error.
func judgeArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageErrorf(c, "%w", err)
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		judgeArguments(sub)
	}
}

// newGroup is a command that only holds others. Alone it prints its help; with
// an unknown word behind it, it says which words it knows.
func newGroup(use, short, long string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var known []string
			for _, sub := range cmd.Commands() {
				known = append(known, sub.Name())
			}
			return usageErrorf(cmd, "unknown command %q: use one of %s", args[0], strings.Join(known, ", "))
		},
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// exactly asks for the named arguments, no more and no fewer.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", strings.Join(names[len(args):], " "))
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// atLeast asks for the named arguments and takes more of the last.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing", strings.Join(names[len(args):], " "))
		}
		return nil
	}
}
