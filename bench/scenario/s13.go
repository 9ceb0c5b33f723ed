package scenario

import (
	"context"
	"time"
)

// memoryScenario is S13: resident memory after a start and after S2's load of
// 64 KB batches. S12 adds the row with many partitions, S10 is about
// connections.
func memoryScenario(ctx context.Context, e *Env) error {
	e.logf("S13 memory")
	c := produceCases(e)[1]
	var idle, anon, loaded []float64
	for range either(e, 3, 1) {
		dir, remove, err := e.freshDir()
		if err != nil {
			return err
		}
		defer remove()
		child, _, err := e.startBroker(ctx, dir)
		if err != nil {
			return err
		}
		defer child.Kill()
		select {
		case <-time.After(either(e, 2*time.Second, time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
		m, err := child.Memory()
		if err != nil {
			return err
		}
		idle, anon = append(idle, float64(m.RSS)/(1<<20)), append(anon, float64(m.Anon)/(1<<20))
		if _, _, err := e.create(ctx, child.Address, topicName, c.partitions); err != nil {
			return err
		}
		s, err := e.produceInto(ctx, child, c)
		if err != nil {
			return err
		}
		loaded = append(loaded, s.figures["peak"])
		child.Kill()
		remove()
	}
	e.Report.add(comparison{scenario: "S13", what: "RSS idle after start", unit: "MiB", ours: idle, aim: &Aim{Most: 40, Because: "issue 3; Kafka 375"}})
	e.Report.add(comparison{scenario: "S13", what: "  of it anonymous", unit: "MiB", ours: anon})
	e.Report.add(comparison{scenario: "S13", what: "highest RSS under S2, 64 KB batches", unit: "MiB", ours: loaded})
	return nil
}
