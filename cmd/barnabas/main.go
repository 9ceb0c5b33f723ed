// Command barnabas is the broker and the operator's verbs in one binary:
// `barnabas serve` runs a broker, everything else talks to one.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes one command line and gives its exit code.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	return exitCode(root, root.Execute())
}

// newRoot is the whole command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "barnabas",
		Short: "A broker that speaks Apache Kafka's wire protocol, and the tools to run it",
		Long: `Barnabas is a broker that speaks Apache Kafka's wire protocol.

  barnabas serve                 start a broker on 127.0.0.1:9092, data in ./data
  barnabas topic list            ask a running broker (see --bootstrap)

Existing Kafka clients work when their bootstrap address is changed.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServe())
	addVerbs(root)
	return root
}
