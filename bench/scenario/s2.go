package scenario

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"barnabas/bench/frames"
	"barnabas/bench/proc"
	"barnabas/bench/replay"
)

const (
	topicName  = "bench"
	valueBytes = 1000 // a record of 1 KB
	gigabyte   = 1e9
)

// produceCase is one size of Produce request.
type produceCase struct {
	name        string
	batch       int // bytes, at most
	connections int
	inFlight    int
	partitions  int
	bytes       int64 // to measure
	perRequest  bool  // the aim is CPU a request, not a ratio of CPU a gigabyte
	aim         *Aim
}

func produceCases(e *Env) []produceCase {
	const mb = 1_000_000
	return []produceCase{
		{
			name: "16 KB batches", batch: 16 << 10, connections: 8, inFlight: 5, partitions: 6,
			bytes: either[int64](e, 700*mb, 300*mb),
		},
		{
			name: "64 KB batches", batch: 64 << 10, connections: 8, inFlight: 5, partitions: 6,
			bytes: either[int64](e, 1500*mb, 500*mb),
			aim:   &Aim{Most: 1.5, Ratio: true, Because: "issue 3; Kafka 3.3"},
		},
		{
			name: "1 MB batches", batch: 1_000_000, connections: 8, inFlight: 5, partitions: 6,
			bytes: either[int64](e, 2000*mb, 600*mb),
		},
		{
			name: "one 2 KB batch a request, 50 connections", batch: 2 << 10, connections: 50, inFlight: 5, partitions: 50,
			bytes: either[int64](e, 100*mb, 40*mb), perRequest: true,
			aim: &Aim{Most: 22, Because: "issue 3; Kafka 55"},
		},
		{
			name: "the same, one request in flight", batch: 2 << 10, connections: 50, inFlight: 1, partitions: 50,
			bytes: either[int64](e, 70*mb, 30*mb), perRequest: true,
		},
	}
}

// produceScenario is S2: raw replay of Produce requests with acks=1 beside the
// read+CRC+append loop.
func produceScenario(ctx context.Context, e *Env) error {
	for _, c := range produceCases(e) {
		e.logf("S2 produce, %s: %d pairs", c.name, e.Pairs)
		ours := func(ctx context.Context) (sample, error) { return e.produceOurs(ctx, c) }
		floor := func(ctx context.Context) (sample, error) { return e.produceFloor(ctx, c) }
		a, b, err := e.interleave(ctx, e.Pairs, ours, floor)
		noise := worstNoise(a, b)
		row := comparison{
			scenario: "S2", what: "produce, " + c.name + ": broker CPU", unit: "cpu-s/GB",
			ours: figure(a, "cpu/GB"), floor: figure(b, "cpu/GB"), beside: "read+CRC+append", noise: noise,
		}
		speed := comparison{
			scenario: "S2", what: "  its throughput", unit: "MB/s",
			ours: figure(a, "MB/s"), floor: figure(b, "MB/s"), beside: "read+CRC+append", noise: noise,
		}
		if c.perRequest {
			row.unit, row.ours, row.floor = "µs/request", figure(a, "cpu/request"), figure(b, "cpu/request")
			speed.unit, speed.ours, speed.floor = "1,000 requests/s", figure(a, "requests/s"), figure(b, "requests/s")
		}
		row.aim = c.aim
		e.Report.add(row)
		e.Report.add(speed)
		e.Report.add(comparison{
			scenario: "S2", what: "  the generator's CPU", unit: "cpu-s/GB",
			ours: figure(a, "client/GB"), floor: figure(b, "client/GB"), beside: "read+CRC+append", noise: noise,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) produceOurs(ctx context.Context, c produceCase) (sample, error) {
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
	if _, _, err := e.create(ctx, child.Address, topicName, c.partitions); err != nil {
		return sample{}, err
	}
	s, err := e.produceInto(ctx, child, c)
	if err != nil {
		return s, fmt.Errorf("%w\n%s", err, child.Said())
	}
	return s, nil
}

func (e *Env) produceFloor(ctx context.Context, c produceCase) (sample, error) {
	dir, remove, err := e.freshDir()
	if err != nil {
		return sample{}, err
	}
	defer remove()
	child, err := proc.Role(ctx, "append", "-dir", dir, "-files", strconv.Itoa(c.partitions))
	if err != nil {
		return sample{}, err
	}
	defer child.Kill()
	return e.produceInto(ctx, child, c)
}

// produceInto warms the child up and measures it.
func (e *Env) produceInto(ctx context.Context, child *proc.Child, c produceCase) (sample, error) {
	load := e.produceLoad(child.Address, c)
	measured := load.Bytes
	load.Bytes /= 8
	if _, err := replay.Produce(ctx, load); err != nil {
		return sample{}, err
	}
	load.Bytes = measured
	m, err := startMeter(child)
	if err != nil {
		return sample{}, err
	}
	p, err := replay.Produce(ctx, load)
	if err != nil {
		return sample{}, err
	}
	cpu, self, noise, err := m.stop()
	if err != nil {
		return sample{}, err
	}
	memory, err := child.Memory()
	if err != nil {
		return sample{}, err
	}
	gb := float64(p.Bytes) / gigabyte
	return sample{noise: noise, figures: map[string]float64{
		"cpu/GB":      cpu.Seconds() / gb,
		"client/GB":   self.Seconds() / gb,
		"MB/s":        float64(p.Bytes) / 1e6 / p.Elapsed.Seconds(),
		"cpu/request": float64(cpu.Microseconds()) / float64(p.Requests),
		"requests/s":  float64(p.Requests) / p.Elapsed.Seconds() / 1e3,
		"peak":        float64(memory.Peak) / (1 << 20),
	}}, nil
}

// produceLoad encodes the requests of c: several different batches for each
// partition.
func (e *Env) produceLoad(address string, c produceCase) replay.ProduceLoad {
	kinds := max(1, min(4, (32<<20)/(c.batch*c.partitions)))
	load := replay.ProduceLoad{
		Dialer: e.Dialer, Address: address, Connections: c.connections, InFlight: c.inFlight,
		Bytes: c.bytes, Limit: either(e, 4*time.Second, 2*time.Second),
	}
	now := time.Now().UnixMilli()
	for kind := range kinds {
		batch := frames.NewBatch(c.batch, valueBytes-10, uint64(kind), now)
		load.BatchBytes = len(batch.Bytes)
		for p := range c.partitions {
			load.Frames = append(load.Frames, frames.Produce(topicName, int32(p), batch))
		}
	}
	return load
}
