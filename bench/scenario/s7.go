package scenario

import (
	"context"
	"fmt"
	"time"

	"barnabas/bench/frames"
	"barnabas/bench/proc"
	"barnabas/bench/replay"
)

// latencyScenario is S7 at 1,000 records a second: from the write of a Produce
// request with one record of 1 KB until a waiting consumer holds it, beside a
// frame of the same size to an echo server and back. Each sample has fresh
// processes on both sides: whether the peer's CPU sleeps makes two modes.
func latencyScenario(ctx context.Context, e *Env) error {
	pairs := either(e, max(e.Pairs, 10), e.Pairs)
	load := replay.OpenLoad{
		Dialer: e.Dialer, Interval: time.Millisecond, Topic: topicName,
		Count: either(e, 2000, 1000), Warmup: either(e, 300, 200),
		Batch: frames.NewBatch(1100, valueBytes, 7, time.Now().UnixMilli()),
	}
	e.logf("S7 end to end at 1,000 records/s: %d pairs of %d records", pairs, load.Count)
	a, b, err := e.interleave(ctx, pairs,
		func(ctx context.Context) (sample, error) { return e.endToEnd(ctx, load) },
		func(ctx context.Context) (sample, error) {
			child, err := proc.Role(ctx, "echo")
			if err != nil {
				return sample{}, err
			}
			defer child.Kill()
			load.Address = child.Address
			return e.openLoop(ctx, child, load, replay.Echo)
		})
	noise := worstNoise(a, b)
	for _, row := range []struct {
		name, what string
		aim        *Aim
	}{
		{"p50", "p50", &Aim{Most: 4, Ratio: true, Because: "issue 3"}},
		{"p99", "p99", &Aim{Most: 6, Ratio: true, Because: "issue 3"}},
		{"p999", "p99.9", nil},
		{"late", "how late the generator's timer was, p99", nil},
		{"cores", "CPU", nil},
	} {
		c := comparison{
			scenario: "S7", what: "end to end, 1,000 records/s: " + row.what, unit: "µs",
			ours: figure(a, row.name), floor: figure(b, row.name), beside: "echo", aim: row.aim, noise: noise,
		}
		if row.name == "cores" {
			c.unit = "cores"
		}
		e.Report.add(c)
	}
	return err
}

func (e *Env) endToEnd(ctx context.Context, load replay.OpenLoad) (sample, error) {
	dir, remove, err := e.freshDir()
	if err != nil {
		return sample{}, err
	}
	defer remove()
	child, _, err := e.startBroker(ctx, dir)
	if err != nil {
		return sample{}, err
	}
	defer child.Kill()
	if _, _, err := e.create(ctx, child.Address, topicName, 1); err != nil {
		return sample{}, err
	}
	load.Address = child.Address
	s, err := e.openLoop(ctx, child, load, replay.EndToEnd)
	if err != nil {
		return s, fmt.Errorf("%w\n%s", err, child.Said())
	}
	return s, nil
}

// openLoop runs one open loop against child.
func (e *Env) openLoop(ctx context.Context, child *proc.Child, load replay.OpenLoad, run func(context.Context, replay.OpenLoad) (replay.Latency, error)) (sample, error) {
	m, err := startMeter(child)
	if err != nil {
		return sample{}, err
	}
	start := time.Now()
	l, err := run(ctx, load)
	if err != nil {
		return sample{}, err
	}
	elapsed := time.Since(start)
	cpu, _, noise, err := m.stop()
	if err != nil {
		return sample{}, err
	}
	return sample{noise: noise, figures: map[string]float64{
		"p50": l.P50, "p99": l.P99, "p999": l.P999, "late": l.Late, "cores": cpu.Seconds() / elapsed.Seconds(),
	}}, nil
}
