package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// What a process ends with. Scripts and container health checks rely on them.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that cannot be carried out as it stands.
type usageError struct {
	command string // the command whose help says more, such as "barnabas topic create"
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usageErrorf says what is wrong with cmd's command line.
func usageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{command: cmd.CommandPath(), err: fmt.Errorf(format, args...)}
}

// exitCode prints what went wrong, if anything, on root's standard error and
// gives the exit code that goes with it.
func exitCode(root *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(root.ErrOrStderr(), "barnabas: %v\n", err)
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(root.ErrOrStderr(), "Try '%s --help'.\n", usage.command)
		return exitUsage
	case strings.HasPrefix(err.Error(), "unknown command "): // cobra's own words for the root
		return exitUsage
	}
	return exitFailed
}
