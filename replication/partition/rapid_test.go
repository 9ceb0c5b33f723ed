package partition_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"barnabas/replication/partition"
)

// world drives one leader with followers that fetch, lag, restart and return,
// and a controller that accepts, refuses, or does not answer.
type world struct {
	t    *rapid.T
	p    *partition.Partition
	now  int64
	leo  int64
	has  map[int32]int64 // what each follower has for sure
	life map[int32]int64

	hw       int64
	epoch    int32
	pepoch   int32
	inFlight *partition.Proposal
}

const (
	self   = int32(1)
	lagMax = int64(100)
)

func (w *world) update() {
	w.epoch++
	w.pepoch++
	isr := []int32{self}
	for _, id := range []int32{2, 3} {
		if w.has[id] >= w.hw && rapid.Bool().Draw(w.t, "in isr") {
			isr = append(isr, id)
		}
	}
	_, err := w.p.Apply(&partition.Update{
		Leader: self, LeaderEpoch: w.epoch, PartitionEpoch: w.pepoch,
		Replicas: []int32{1, 2, 3}, ISR: isr, LEO: w.leo, HW: 0, Now: w.now,
	})
	if err != nil {
		w.t.Fatalf("a newer epoch was refused: %v", err)
	}
	w.inFlight = nil
}

func (w *world) fetch(id int32) {
	at := w.has[id]
	if rapid.Bool().Draw(w.t, "catches up") {
		at = rapid.Int64Range(at, w.leo).Draw(w.t, "at")
	}
	w.has[id] = at
	r, err := w.p.FollowerFetched(partition.Fetched{Replica: id, BrokerEpoch: w.life[id], Offset: at, Now: w.now})
	if err != nil {
		w.t.Fatalf("fetch: %v", err)
	}
	w.sent(r.Proposal)
}

func (w *world) sent(c *partition.Proposal) {
	if c == nil {
		return
	}
	if w.inFlight != nil {
		w.t.Fatalf("a second ISR change while %v is in flight", w.inFlight)
	}
	if !slices.Contains(c.ISR, self) {
		w.t.Fatalf("the leader proposes an ISR without itself: %v", c.ISR)
	}
	for _, id := range c.ISR {
		if id != self && !slices.Contains(w.p.ISR(), id) && w.has[id] < w.p.EpochStart() {
			w.t.Fatalf("%d may join with %d of %d", id, w.has[id], w.p.EpochStart())
		}
	}
	w.inFlight = c
}

// restart is a follower that lost what it had not flushed.
func (w *world) restart(id int32) {
	if slices.Contains(w.p.ISR(), id) || slices.Contains(w.p.Pending(), id) {
		return // an in-sync member that loses data is another test's story
	}
	w.life[id]++
	w.has[id] = rapid.Int64Range(0, w.has[id]).Draw(w.t, "kept")
}

func (w *world) answer() {
	c := w.inFlight
	if c == nil {
		return
	}
	switch rapid.SampledFrom([]string{"accepted", "refused", "unknown"}).Draw(w.t, "answer") {
	case "accepted":
		w.pepoch++
		w.p.Accepted(c.LeaderEpoch, w.pepoch, c.ISR, w.now)
		w.inFlight = nil
	case "refused":
		w.p.Refused(c.LeaderEpoch, w.now)
		w.inFlight = nil
	}
}

// check holds the machine against its invariants, from outside.
func (w *world) check() {
	hw := w.p.HighWatermark()
	if hw < w.hw {
		w.t.Fatalf("high watermark went back from %d to %d", w.hw, hw)
	}
	if hw > w.leo {
		w.t.Fatalf("high watermark %d above the log's end %d", hw, w.leo)
	}
	if hw > w.hw {
		if len(w.p.ISR()) < w.p.EffectiveMinISR() {
			w.t.Fatalf("high watermark moved to %d with ISR %v, min ISR %d", hw, w.p.ISR(), w.p.EffectiveMinISR())
		}
		for _, id := range append(slices.Clone(w.p.ISR()), w.p.Pending()...) {
			if id != self && w.has[id] < hw {
				w.t.Fatalf("high watermark %d, but %d of ISR %v pending %v has %d", hw, id, w.p.ISR(), w.p.Pending(), w.has[id])
			}
		}
	}
	if !slices.Contains(w.p.ISR(), self) {
		w.t.Fatalf("leader is not in its ISR %v", w.p.ISR())
	}
	w.hw = hw
}

func TestHighWatermarkIsSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, p: partition.New(self, rapid.IntRange(1, 3).Draw(rt, "min isr"), lagMax), has: map[int32]int64{}, life: map[int32]int64{2: 1, 3: 1}, now: 1, epoch: -1}
		w.update()
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				w.leo += rapid.Int64Range(1, 5).Draw(rt, "records")
				if _, err := w.p.Appended(w.leo, w.now); err != nil {
					rt.Fatal(err)
				}
			},
			"fetch 2":   func(*rapid.T) { w.fetch(2) },
			"fetch 3":   func(*rapid.T) { w.fetch(3) },
			"restart 2": func(*rapid.T) { w.restart(2) },
			"tick":      func(*rapid.T) { w.sent(w.p.Tick(w.now)) },
			"answer":    func(*rapid.T) { w.answer() },
			"update":    func(*rapid.T) { w.update() },
			"time":      func(rt *rapid.T) { w.now += rapid.Int64Range(1, 2*lagMax).Draw(rt, "ms") },
			"min isr":   func(rt *rapid.T) { w.p.SetMinISR(rapid.IntRange(1, 3).Draw(rt, "min"), w.now) },
			"old epoch": func(rt *rapid.T) {
				before := fmt.Sprint(w.p.ISR(), w.p.LeaderEpoch(), w.p.HighWatermark(), w.p.Role())
				_, err := w.p.Apply(&partition.Update{Leader: 2, LeaderEpoch: w.epoch - rapid.Int32Range(0, 3).Draw(rt, "back"), ISR: []int32{2}, Replicas: []int32{2}})
				if err == nil || before != fmt.Sprint(w.p.ISR(), w.p.LeaderEpoch(), w.p.HighWatermark(), w.p.Role()) {
					rt.Fatalf("an old update was taken over: %v", err)
				}
			},
			"": func(*rapid.T) { w.check() },
		})
	})
}

func BenchmarkAppendedAlone(b *testing.B) {
	p := partition.New(self, 1, lagMax)
	if _, err := p.Apply(&partition.Update{Leader: self, LeaderEpoch: 0, Replicas: []int32{self}, ISR: []int32{self}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := int64(1); b.Loop(); i++ {
		if _, err := p.Appended(i, i); err != nil {
			b.Fatal(err)
		}
	}
}
