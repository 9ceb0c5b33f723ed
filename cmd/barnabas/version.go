package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

// build says which build this is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`   // empty when built outside of a repository
	Time     string `json:"time"`     // the commit's, RFC 3339
	Modified bool   `json:"modified"` // built with changes that are not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild reads what the linker and the Go toolchain left in the binary.
func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

// versionString is the version alone, for logs and the ready line.
func versionString() string { return thisBuild().Version }

func newVersion() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Example: `  barnabas version
  barnabas version -o json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(cmd); err != nil {
				return err
			}
			b := thisBuild()
			if out.json() {
				return writeJSON(cmd.OutOrStdout(), b)
			}
			commit := b.Commit
			switch {
			case commit == "":
				commit = "unknown"
			case b.Modified:
				commit += " (modified)"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "barnabas %s\ncommit   %s\ngo       %s\nplatform %s\n", b.Version, commit, b.Go, b.Platform)
			return err
		},
	}
	out.addFlags(cmd)
	return cmd
}
