package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"barnabas/bench/proc"
	"barnabas/bench/replay"
	"barnabas/bench/scenario"
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "role" {
		err = role(os.Args[2:])
	} else {
		err = bench(os.Args[1:])
	}
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options is what the command line says.
type options struct {
	binary     string
	scenarios  []string
	quick      bool
	pairs      int
	out        string
	congestion string
	machine    bool
	limit      time.Duration
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.binary, "barnabas", filepath.Join("bin", "barnabas"), "the broker's `binary`, or null for the bench's own null broker")
	run := f.String("run", "", "the scenarios to run, such as S2,S7 (default all: "+strings.Join(scenario.Names(), ", ")+")")
	f.BoolVar(&o.quick, "quick", false, "fewer, shorter samples: no claim rests on them")
	f.IntVar(&o.pairs, "pairs", 0, "samples of broker and floor (default 5, with -quick 2)")
	f.StringVar(&o.out, "out", filepath.Join("bench", "out"), "the `directory` for results and for the data while it runs; on a disk")
	f.StringVar(&o.congestion, "congestion", "cubic", "congestion control of the generator's sockets, against broker and floor alike; empty: the machine's")
	f.BoolVar(&o.machine, "set-machine", false, "set the machine's congestion control to that of -congestion while it runs (root), so that what broker and floor send uses it too")
	f.DurationVar(&o.limit, "limit", 0, "the longest the whole may take (default 6m, with -quick 90s)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *run != "" {
		o.scenarios = strings.Split(*run, ",")
	}
	if err := scenario.Known(o.scenarios); err != nil {
		return o, err
	}
	if o.pairs == 0 {
		o.pairs = 5
		if o.quick {
			o.pairs = 2
		}
	}
	if o.limit == 0 {
		o.limit = 6 * time.Minute
		if o.quick {
			o.limit = 90 * time.Second
		}
	}
	return o, nil
}

func bench(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The last fifteen seconds are for what cannot be cut short, and cleaning up.
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit-15*time.Second, fmt.Errorf("the time limit of %v", o.limit))
	defer cancel()
	if _, err := os.Stat(o.binary); o.binary != scenario.Null && err != nil {
		return fmt.Errorf("the broker's binary: %w: build it (make build), or say where it is with -barnabas", err)
	}
	if o.machine {
		restore, err := proc.SetCongestion(o.congestion)
		if err != nil {
			return err
		}
		defer restore()
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	start := time.Now()
	report := &scenario.Report{
		Started: start.UTC(), Broker: o.binary, Quick: o.quick, CPUs: runtime.NumCPU(), Kernel: proc.Kernel(), Go: runtime.Version(),
		Congestion: map[string]string{"machine": proc.Congestion(), "generator": generatorCongestion(o)},
	}
	env := &scenario.Env{
		Binary: o.binary, Dir: o.out, Quick: o.quick, Pairs: o.pairs, Log: os.Stderr, Report: report,
		Dialer: replay.Dialer{Congestion: o.congestion},
	}
	failed := scenario.Run(ctx, env, o.scenarios)
	report.Seconds = time.Since(start).Seconds()
	report.Judge()
	if err := report.WriteTable(os.Stdout); err != nil {
		return err
	}
	return errors.Join(failed, save(report, o.out))
}

func generatorCongestion(o options) string {
	if o.congestion == "" {
		return proc.Congestion()
	}
	return o.congestion
}

// save writes the report beside earlier ones, and as the latest.
func save(report *scenario.Report, dir string) error {
	name := filepath.Join(dir, report.Started.Format("20060102-150405")+".json")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := report.WriteJSON(f); err != nil {
		return err
	}
	latest := filepath.Join(dir, "latest.json")
	_ = os.Remove(latest)
	if err := os.Symlink(filepath.Base(name), latest); err != nil {
		return err
	}
	fmt.Println("\nJSON:", name)
	return nil
}
