package scenario

import (
	"context"
	"fmt"
	"time"

	"barnabas/bench/frames"
	"barnabas/bench/proc"
	"barnabas/bench/replay"
)

// startScenario is S12: from exec until the broker answers and until a first
// record is acknowledged, with nothing and with 10,000 clean partitions; and on
// the way how long a topic of 5,000 partitions takes.
func startScenario(ctx context.Context, e *Env) error {
	if err := e.startEmpty(ctx); err != nil {
		return err
	}
	return e.startMany(ctx)
}

func (e *Env) startEmpty(ctx context.Context) error {
	pairs := either(e, max(e.Pairs, 10), e.Pairs)
	e.logf("S12 start with an empty directory: %d pairs", pairs)
	a, b, err := e.interleave(ctx, pairs, e.emptyStart, func(ctx context.Context) (sample, error) {
		child, err := proc.Role(ctx, "echo")
		if err != nil {
			return sample{}, err
		}
		defer child.Kill()
		ready, err := child.Until(ctx, func() error {
			conn, err := e.Dialer.Dial(ctx, child.Address)
			if err == nil {
				conn.Close()
			}
			return err
		})
		return sample{figures: map[string]float64{"ready": milliseconds(ready), "stopped": 0}}, err
	})
	noise := worstNoise(a)
	e.Report.add(comparison{
		scenario: "S12", what: "empty: exec until it answers", unit: "ms", ours: figure(a, "ready"), floor: figure(b, "ready"),
		beside: "Go listener", aim: &Aim{Most: 200, Because: "issue 3; Kafka 1,900"}, noise: noise,
	})
	e.Report.add(comparison{
		scenario: "S12", what: "empty: exec until a topic is created and a record acknowledged", unit: "ms",
		ours: figure(a, "acknowledged"), aim: &Aim{Most: 200, Because: "performance.md S12; Kafka 2,000"}, noise: noise,
	})
	e.Report.add(comparison{scenario: "S12", what: "empty: SIGTERM until it is gone", unit: "ms", ours: figure(a, "stopped"), noise: noise})
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func (e *Env) emptyStart(ctx context.Context) (sample, error) {
	dir, remove, err := e.freshDir()
	if err != nil {
		return sample{}, err
	}
	defer remove()
	child, ready, err := e.startBroker(ctx, dir)
	if err != nil {
		return sample{}, err
	}
	defer child.Kill()
	before := proc.ReadMachine()
	if _, _, err := e.create(ctx, child.Address, topicName, 1); err != nil {
		return sample{}, err
	}
	if err := e.acknowledge(ctx, child.Address, topicName); err != nil {
		return sample{}, err
	}
	acknowledged := time.Since(child.Started)
	s := sample{figures: map[string]float64{"ready": milliseconds(ready), "acknowledged": milliseconds(acknowledged)}}
	s.noise = proc.ReadMachine().Since(before, 0)
	s.noise.Foreign = 0 // too short to tell
	stopped, err := e.stop(child)
	s.figures["stopped"] = milliseconds(stopped)
	return s, err
}

// stop ends a broker cleanly; the null broker knows no way to.
func (e *Env) stop(child *proc.Child) (time.Duration, error) {
	if e.Binary == Null {
		child.Kill()
		return 0, nil
	}
	return child.Stop(60 * time.Second)
}

// acknowledge writes one record to partition 0.
func (e *Env) acknowledge(ctx context.Context, address, topic string) error {
	batch := frames.NewBatch(1100, valueBytes, 1, time.Now().UnixMilli())
	_, err := replay.Produce(ctx, replay.ProduceLoad{
		Dialer: e.Dialer, Address: address, Connections: 1, InFlight: 1,
		Frames: [][]byte{frames.Produce(topic, 0, batch)}, BatchBytes: len(batch.Bytes), Bytes: int64(len(batch.Bytes)), Limit: time.Minute,
	})
	return err
}

// startMany creates topics of 5,000 partitions and restarts over them.
func (e *Env) startMany(ctx context.Context) error {
	const size = 5000
	topics := either(e, []string{"many-a", "many-b"}, []string{"many-a"})
	total := size * len(topics)
	e.logf("S12 start with %d partitions", total)
	dir, remove, err := e.freshDir()
	if err != nil {
		return err
	}
	defer remove()
	child, _, err := e.startBroker(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { child.Kill() }()
	var created, led []float64
	for _, topic := range topics {
		answered, all, err := e.create(ctx, child.Address, topic, size)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, child.Said())
		}
		created, led = append(created, answered.Seconds()), append(led, all.Seconds())
	}
	e.Report.add(comparison{
		scenario: "S12", what: "topic of 5,000 partitions: create", unit: "s", ours: created, aim: &Aim{Most: 2, Because: "issue 3; Kafka 2.9"},
	})
	e.Report.add(comparison{scenario: "S12", what: "  until every partition has a leader", unit: "s", ours: led})
	if e.Binary == Null {
		return nil
	}
	var stopped, ready, acknowledged []float64
	var memory float64
	for range either(e, 3, 1) {
		t, err := child.Stop(60 * time.Second)
		if err != nil {
			return err
		}
		stopped = append(stopped, t.Seconds())
		var answered time.Duration
		if child, answered, err = e.restart(ctx, child, dir); err != nil {
			return err
		}
		for _, topic := range topics {
			if err := e.awaitLeaders(ctx, child.Address, topic, size); err != nil {
				return err
			}
			if err := e.acknowledge(ctx, child.Address, topic); err != nil {
				return fmt.Errorf("%w\n%s", err, child.Said())
			}
		}
		ready, acknowledged = append(ready, answered.Seconds()), append(acknowledged, time.Since(child.Started).Seconds())
		m, err := child.Memory()
		if err != nil {
			return err
		}
		memory = float64(m.RSS) / (1 << 20)
	}
	e.reportMany(total, ready, acknowledged, stopped)
	e.Report.add(comparison{scenario: "S13", what: fmt.Sprintf("RSS with %d partitions after a restart", total), unit: "MiB", ours: []float64{memory}})
	return nil
}

// restart starts a broker over dir; on failure it gives the old child.
func (e *Env) restart(ctx context.Context, old *proc.Child, dir string) (*proc.Child, time.Duration, error) {
	child, ready, err := e.startBroker(ctx, dir)
	if err != nil {
		return old, 0, err
	}
	return child, ready, nil
}

func (e *Env) reportMany(total int, ready, acknowledged, stopped []float64) {
	what := fmt.Sprintf("%d partitions: ", total)
	e.Report.add(comparison{
		scenario: "S12", what: what + "exec until it answers", unit: "s", ours: ready, aim: &Aim{Most: 1.5, Because: "issue 3; Kafka 25.6"},
	})
	e.Report.add(comparison{
		scenario: "S12", what: what + "exec until all have leaders and a record of each topic is acknowledged", unit: "s",
		ours: acknowledged, aim: &Aim{Most: 1.5, Because: "performance.md S12"},
	})
	e.Report.add(comparison{scenario: "S12", what: what + "SIGTERM until it is gone", unit: "s", ours: stopped})
}
