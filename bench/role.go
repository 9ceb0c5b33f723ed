package main

import (
	"flag"
	"fmt"

	"barnabas/bench/floor"
)

// role runs one of the floors, until it is killed. The bench starts these; a
// person need not.
func role(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("role: which?")
	}
	var o floor.Options
	f := flag.NewFlagSet("role "+args[0], flag.ContinueOnError)
	f.StringVar(&o.Dir, "dir", "", "where to write")
	f.IntVar(&o.Files, "files", 1, "how many files")
	f.Int64Var(&o.Bytes, "bytes", 0, "how large each file is")
	f.Int64Var(&o.Region, "region", 1, "how much of a file one answer carries")
	f.StringVar(&o.Topic, "topic", "", "the topic that answers name")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "append":
		return floor.Append(o)
	case "sendfile":
		return floor.Sendfile(o)
	case "echo":
		return floor.Echo()
	case "null":
		return floor.Null()
	}
	return fmt.Errorf("role %q: there are append, sendfile, echo and null", args[0])
}
