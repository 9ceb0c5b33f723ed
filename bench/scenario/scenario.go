package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"barnabas/bench/proc"
	"barnabas/bench/replay"
)

// Null as Env.Binary measures the bench itself against its null broker.
const Null = "null"

// Env is what scenarios run in.
type Env struct {
	Binary string        // the broker, or Null
	Dir    string        // where runs have their directories; on a disk, not tmpfs
	Quick  bool          // fewer, shorter samples: to see that things work
	Pairs  int           // samples of each side
	Dialer replay.Dialer // the generator's sockets
	Log    io.Writer     // progress, a line a step
	Report *Report

	runs int
}

// all are the scenarios in the order in which they run.
func all() []struct {
	name string
	run  func(context.Context, *Env) error
} {
	return []struct {
		name string
		run  func(context.Context, *Env) error
	}{
		{"S2", produceScenario},
		{"S4", catchUpScenario},
		{"S7", latencyScenario},
		{"S10", idleScenario},
		{"S12", startScenario},
		{"S13", memoryScenario},
	}
}

// Names are the scenarios there are.
func Names() []string {
	var names []string
	for _, s := range all() {
		names = append(names, s.name)
	}
	return names
}

// Known refuses a name that no scenario has.
func Known(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("no scenario %q: there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Run runs the scenarios named, all if none is. A scenario that fails is noted
// in the report and the next one runs; ctx's end skips the rest.
func Run(ctx context.Context, e *Env, names []string) error {
	if err := Known(names); err != nil {
		return err
	}
	var errs []error
	for _, s := range all() {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		if ctx.Err() != nil {
			e.Report.note("%s was skipped: %v", s.name, context.Cause(ctx))
			continue
		}
		before := time.Now()
		err := s.run(ctx, e)
		e.logf("%s took %.1f s", s.name, time.Since(before).Seconds())
		if err != nil {
			e.Report.note("%s ended early: %v", s.name, err)
			if ctx.Err() == nil {
				errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (e *Env) logf(format string, args ...any) {
	fmt.Fprintf(e.Log, "  "+format+"\n", args...)
}

// either is full, or quick in a quick run.
func either[T any](e *Env, full, quick T) T {
	if e.Quick {
		return quick
	}
	return full
}

// freshDir makes an empty directory. remove it.
func (e *Env) freshDir() (dir string, remove func(), err error) {
	e.runs++
	dir = filepath.Join(e.Dir, fmt.Sprintf("run-%d-%d", os.Getpid(), e.runs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// startBroker starts the broker over dir and gives the time from exec until it
// answered ApiVersions and Metadata.
func (e *Env) startBroker(ctx context.Context, dir string) (*proc.Child, time.Duration, error) {
	if e.Binary == Null {
		c, err := proc.Role(ctx, "null")
		if err != nil {
			return nil, 0, err
		}
		return c, time.Since(c.Started), nil
	}
	c, err := proc.Broker{Binary: e.Binary, Dir: dir}.Start()
	if err != nil {
		return nil, 0, err
	}
	wait, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	ready, err := c.Until(wait, func() error { return e.hello(wait, c.Address) })
	if err != nil {
		c.Kill()
		return nil, 0, fmt.Errorf("broker: %w", err)
	}
	return c, ready, nil
}

// sample is one measurement: named figures, and what disturbed it.
type sample struct {
	figures map[string]float64
	noise   proc.Noise
}

// interleave takes samples in turn, ours first: A B A B. With no floor only
// ours are taken. It stops early, after at least one pair, when ctx ends.
func (e *Env) interleave(ctx context.Context, pairs int, ours, floor func(context.Context) (sample, error)) (a, b []sample, err error) {
	for i := range pairs {
		if ctx.Err() != nil && i > 0 {
			e.Report.note("%d of %d pairs: %v", i, pairs, context.Cause(ctx))
			return a, b, nil
		}
		s, err := ours(ctx)
		if err != nil {
			return a, b, fmt.Errorf("broker, sample %d: %w", i+1, err)
		}
		if floor != nil {
			f, err := floor(ctx)
			if err != nil {
				return a, b, fmt.Errorf("floor, sample %d: %w", i+1, err)
			}
			b = append(b, f)
		}
		a = append(a, s)
	}
	return a, b, nil
}

// figure picks one figure of every sample.
func figure(samples []sample, name string) []float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, s.figures[name])
	}
	return values
}

// worstNoise is the most that disturbed any of the samples.
func worstNoise(samples ...[]sample) proc.Noise {
	var n proc.Noise
	for _, s := range slices.Concat(samples...) {
		n.Load = max(n.Load, s.noise.Load)
		n.Foreign = max(n.Foreign, s.noise.Foreign)
		n.Steal = max(n.Steal, s.noise.Steal)
		n.Pressure = max(n.Pressure, s.noise.Pressure)
	}
	return n
}

// meter measures CPU and noise around a piece of work of one child.
type meter struct {
	child   *proc.Child
	cpu     time.Duration
	self    time.Duration
	machine proc.Machine
}

func startMeter(child *proc.Child) (meter, error) {
	cpu, err := child.CPU()
	return meter{child, cpu, proc.SelfCPU(), proc.ReadMachine()}, err
}

// stop gives the child's and the generator's CPU time since start.
func (m meter) stop() (child, self time.Duration, noise proc.Noise, err error) {
	cpu, err := m.child.CPU()
	if err != nil {
		return 0, 0, proc.Noise{}, err
	}
	child, self = cpu-m.cpu, proc.SelfCPU()-m.self
	return child, self, proc.ReadMachine().Since(m.machine, child+self), nil
}
