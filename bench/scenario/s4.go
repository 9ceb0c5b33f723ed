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

// catchUpScenario is S4: one consumer reads everything from the page cache,
// beside a loop that only sends the same bytes with sendfile. The topic is
// filled once; every sample reads it from the beginning.
func catchUpScenario(ctx context.Context, e *Env) error {
	for _, partitions := range []int{1, 6} {
		if err := e.catchUp(ctx, partitions); err != nil {
			return fmt.Errorf("%d partitions: %w", partitions, err)
		}
	}
	return nil
}

// history is what a consumer catches up with.
type history struct {
	batch      frames.Batch
	partitions int
	batches    int // in each partition
	region     int // bytes a partition adds to an answer: whole batches, about 1 MB
}

func newHistory(bytes, partitions int) history {
	h := history{batch: frames.NewBatch(64<<10, valueBytes-10, 4, time.Now().UnixMilli()), partitions: partitions}
	perRegion := (1 << 20) / len(h.batch.Bytes)
	h.region = perRegion * len(h.batch.Bytes)
	h.batches = bytes / partitions / h.region * perRegion
	return h
}

func (e *Env) catchUp(ctx context.Context, partitions int) error {
	h := newHistory(either(e, 2_000_000_000, 500_000_000), partitions)
	e.logf("S4 catch-up, %d partitions: %d MB, %d pairs", partitions, partitions*h.batches*len(h.batch.Bytes)/1_000_000, e.Pairs)
	dir, remove, err := e.freshDir()
	if err != nil {
		return err
	}
	defer remove()
	broker, err := e.filled(ctx, dir, h)
	if err != nil {
		return err
	}
	defer broker.Kill()
	loop, err := proc.Role(ctx, "sendfile", "-dir", dir, "-topic", topicName, "-files", strconv.Itoa(partitions),
		"-region", strconv.Itoa(h.region), "-bytes", strconv.Itoa(h.batches*len(h.batch.Bytes)))
	if err != nil {
		return err
	}
	defer loop.Kill()
	check := e.drainLoad(broker.Address, h)
	check.Check = true
	if _, err := replay.Drain(ctx, check); err != nil {
		return fmt.Errorf("what comes back is not what was written: %w", err)
	}
	for _, child := range []*proc.Child{broker, loop} { // not measured
		if _, err := e.drain(ctx, child, h); err != nil {
			return err
		}
	}
	a, b, err := e.interleave(ctx, e.Pairs,
		func(ctx context.Context) (sample, error) { return e.drain(ctx, broker, h) },
		func(ctx context.Context) (sample, error) { return e.drain(ctx, loop, h) })
	noise := worstNoise(a, b)
	what := fmt.Sprintf("catch-up from page cache, %d partitions", partitions)
	e.Report.add(comparison{
		scenario: "S4", what: what + ": broker CPU", unit: "cpu-s/GB",
		ours: figure(a, "cpu/GB"), floor: figure(b, "cpu/GB"), beside: "sendfile",
		aim: &Aim{Most: 1.2, Ratio: true, Because: "issue 3"}, noise: noise,
	})
	e.Report.add(comparison{
		scenario: "S4", what: "  its throughput", unit: "MB/s",
		ours: figure(a, "MB/s"), floor: figure(b, "MB/s"), beside: "sendfile", noise: noise,
	})
	e.Report.add(comparison{
		scenario: "S4", what: "  the generator's CPU", unit: "cpu-s/GB",
		ours: figure(a, "client/GB"), floor: figure(b, "client/GB"), beside: "sendfile", noise: noise,
	})
	return err
}

// filled starts a broker and writes the history into it.
func (e *Env) filled(ctx context.Context, dir string, h history) (*proc.Child, error) {
	broker, _, err := e.startBroker(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, _, err = e.create(ctx, broker.Address, topicName, h.partitions); err != nil {
		broker.Kill()
		return nil, err
	}
	for p := range h.partitions {
		_, err := replay.Produce(ctx, replay.ProduceLoad{
			Dialer: e.Dialer, Address: broker.Address, Connections: 2, InFlight: 5,
			Frames:     [][]byte{frames.Produce(topicName, int32(p), h.batch)},
			BatchBytes: len(h.batch.Bytes), Bytes: int64(h.batches * len(h.batch.Bytes)), Limit: time.Minute,
		})
		if err != nil {
			broker.Kill()
			return nil, fmt.Errorf("fill: %w\n%s", err, broker.Said())
		}
	}
	return broker, nil
}

func (e *Env) drainLoad(address string, h history) replay.DrainLoad {
	load := replay.DrainLoad{
		Dialer: e.Dialer, Address: address, Topic: topicName, End: int64(h.batches * h.batch.Records),
		BatchBytes: len(h.batch.Bytes), BatchRecords: h.batch.Records, MaxBytes: 50 << 20, PartitionMaxBytes: int32(h.region),
	}
	for p := range h.partitions {
		load.Partitions = append(load.Partitions, int32(p))
	}
	return load
}

func (e *Env) drain(ctx context.Context, child *proc.Child, h history) (sample, error) {
	m, err := startMeter(child)
	if err != nil {
		return sample{}, err
	}
	// 2 GB cost a quarter of a second of CPU, which /proc gives in hundredths:
	// read them several times.
	var all replay.Progress
	for range either(e, 3, 2) {
		p, err := replay.Drain(ctx, e.drainLoad(child.Address, h))
		if err != nil {
			return sample{}, fmt.Errorf("%w\n%s", err, child.Said())
		}
		all.Bytes += p.Bytes
		all.Elapsed += p.Elapsed
	}
	cpu, self, noise, err := m.stop()
	if err != nil {
		return sample{}, err
	}
	gb := float64(all.Bytes) / gigabyte
	return sample{noise: noise, figures: map[string]float64{
		"cpu/GB": cpu.Seconds() / gb, "client/GB": self.Seconds() / gb, "MB/s": float64(all.Bytes) / 1e6 / all.Elapsed.Seconds(),
	}}, nil
}
