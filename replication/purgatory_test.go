package replication_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/internal/clock"
	"barnabas/replication"
)

func TestFiveProducesAreAppendedBeforeTheFirstIsAcknowledged(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	release := r.m.HoldHighWatermark()
	var waits []*replication.DelayedProduce
	var acked []<-chan struct{}
	for i := range 5 {
		parts, wait := r.produce("t", -1, 20*time.Second, batch("x"))
		if wait == nil || parts[0].Err != nil || parts[0].BaseOffset != int64(i) {
			t.Fatalf("produce %d: %+v, waits: %v", i, parts[0], wait != nil)
		}
		waits, acked = append(waits, wait), append(acked, waiting(wait.Start))
	}
	for _, done := range acked {
		asleep(t, done)
	}
	latest := func() int64 {
		a, err := r.m.Partition("t", 0).ListOffset(&replication.OffsetQuery{Timestamp: replication.Latest, CurrentLeaderEpoch: -1})
		if err != nil {
			t.Fatal(err)
		}
		return a.Offset
	}
	if got := latest(); got != 0 {
		t.Errorf("latest offset %d while the high watermark is held, want 0", got)
	}
	release()
	for i, done := range acked {
		woken(t, done)
		waits[i].Settle()
	}
	if got := latest(); got != 5 {
		t.Errorf("latest offset %d, want 5", got)
	}
}

func TestProduceTimesOutAndItsRecordsStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	release := r.m.HoldHighWatermark()
	parts, wait := r.produce("t", -1, 30*time.Millisecond, batch("a"))
	if wait == nil {
		t.Fatal("no wait")
	}
	begin := time.Now()
	woken(t, waiting(wait.Start))
	if took := time.Since(begin); took < 30*time.Millisecond {
		t.Errorf("timed out after %v, want 30ms at least", took)
	}
	if wait.Settle(); parts[0].Err != kerr.RequestTimedOut || parts[0].BaseOffset != -1 {
		t.Errorf("%+v, want REQUEST_TIMED_OUT", parts[0])
	}
	release()
	if got := r.put("t", batch("b")); got != 1 {
		t.Errorf("the next batch is at %d, want 1", got)
	}
}

func TestDelayedFetchIsAnsweredByAnAppend(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	parts, wait := r.fetch("t", 0)
	if wait == nil {
		t.Fatal("an empty log answered at once")
	}
	done := waiting(wait.Start)
	asleep(t, done)
	r.put("t", batch("a"))
	woken(t, done)
	wait.Finish()
	if got := fmt.Sprint(offsets(t, &parts[0])); got != "[0]" || parts[0].HighWatermark != 1 {
		t.Errorf("read %s, high watermark %d", got, parts[0].HighWatermark)
	}
}

func TestDelayedFetchSeesAnAppendBeforeItIsListed(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	_, wait := r.fetch("t", 0)
	r.put("t", batch("a"))
	woken(t, waiting(wait.Start))
	wait.Finish()
	// Moved, but not far enough: it goes on waiting, and what came counts.
	size := len(batch("a"))
	_, wait = r.fetch("t", 1, func(o *replication.ReadOptions) { o.MinBytes = 2 * size })
	r.put("t", batch("a"))
	done := waiting(wait.Start)
	asleep(t, done)
	r.put("t", batch("a"))
	woken(t, done)
	wait.Finish()
}

func TestDelayedFetchWaitsForItsMinimum(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	size := len(batch("abc"))
	r.put("t", batch("abc"))
	parts, wait := r.fetch("t", 0, func(o *replication.ReadOptions) { o.MinBytes = 3 * size })
	if wait == nil || parts[0].Region != nil {
		t.Fatal("a third of the minimum answered at once, or stayed read")
	}
	done := waiting(wait.Start)
	r.put("t", batch("abc"))
	asleep(t, done)
	r.put("t", batch("abc"))
	woken(t, done)
	wait.Finish()
	if got := fmt.Sprint(offsets(t, &parts[0])); got != "[0 1 2]" {
		t.Errorf("read %s", got)
	}
}

func TestDelayedFetchEndsAtItsDeadlineAndWhenCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	begin := time.Now()
	parts, wait := r.fetch("t", 0, func(o *replication.ReadOptions) { o.MaxWait = 40 * time.Millisecond })
	woken(t, waiting(wait.Start))
	wait.Finish()
	if took := time.Since(begin); took < 40*time.Millisecond || parts[0].Err != nil || parts[0].Region != nil || parts[0].HighWatermark != 0 {
		t.Errorf("after %v: %+v", took, parts[0])
	}
	_, wait = r.fetch("t", 0)
	var wakes atomic.Int32
	wait.Start(func() { wakes.Add(1) })
	wait.Cancel()
	r.put("t", batch("a"))
	if wakes.Load() != 0 {
		t.Error("a cancelled fetch was woken")
	}
}

func TestDeletingATopicEndsItsWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	release := r.m.HoldHighWatermark()
	defer release()
	fetched, fetch := r.fetch("t", 0)
	produced, produce := r.produce("t", -1, 20*time.Second, batch("a"))
	f, p := waiting(fetch.Start), waiting(produce.Start)
	asleep(t, f)
	asleep(t, p)
	r.remove("t", 1)
	woken(t, f)
	woken(t, p)
	fetch.Finish()
	produce.Settle()
	if fetched[0].Err != kerr.UnknownTopicOrPartition || produced[0].Err != kerr.UnknownTopicOrPartition {
		t.Errorf("fetch ended with %v, produce with %v; want UNKNOWN_TOPIC_OR_PARTITION", fetched[0].Err, produced[0].Err)
	}
}

func TestLosingLeadershipEndsAProduce(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	release := r.m.HoldHighWatermark()
	defer release()
	parts, wait := r.produce("t", -1, 20*time.Second, batch("a"))
	done := waiting(wait.Start)
	r.control("t", 1, 2, []int32{2, broker}, []int32{2, broker})
	woken(t, done)
	if wait.Settle(); parts[0].Err != kerr.NotLeaderForPartition {
		t.Errorf("ended with %v", parts[0].Err)
	}
}

func TestDeleteRecordsWaitsForFollowers(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	r.put("t", batch("a", "b", "c"))
	r.control("t", 1, broker, []int32{broker, 2}, []int32{broker, 2})
	follower := func(start int64) {
		parts := []replication.FetchPart{{Partition: r.m.Partition("t", 0), Offset: 3, MaxBytes: 1, LogStart: start, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1}}
		r.m.Read(parts, &replication.ReadOptions{ReplicaID: 2, BrokerEpoch: -1, MaxBytes: 1}, false)
		if parts[0].Err != nil {
			t.Fatal(parts[0].Err)
		}
	}
	follower(0)
	parts := []replication.DeletePart{{Partition: r.m.Partition("t", 0), Offset: 2}}
	wait := r.m.DeleteRecords(parts, 20*time.Second)
	if wait == nil {
		t.Fatalf("done before the follower: %+v", parts[0])
	}
	done := waiting(wait.Start)
	asleep(t, done)
	follower(2)
	woken(t, done)
	if wait.Settle(); parts[0].Err != nil || parts[0].LowWatermark != 2 {
		t.Errorf("%+v, want low watermark 2", parts[0])
	}
	parts[0].Offset = 3
	wait = r.m.DeleteRecords(parts, 20*time.Millisecond)
	woken(t, waiting(wait.Start))
	if wait.Settle(); parts[0].Err != kerr.RequestTimedOut || parts[0].LowWatermark != -1 {
		t.Errorf("%+v, want REQUEST_TIMED_OUT", parts[0])
	}
}

// TestManyClients has producers, long-polling consumers and a controller at
// work at once; every record must be read once, in order, by every consumer.
func TestManyClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 4)
	const producers, each = 4, 150
	var wg sync.WaitGroup
	for g := range int32(producers) {
		wg.Go(func() {
			for i := range each {
				parts := []replication.ProducePart{{Partition: r.m.Partition("t", g%4), Records: batch(strings.Repeat("v", i))}}
				if w := r.m.Append(parts, &replication.AppendOptions{Version: 9, Acks: -1, Timeout: time.Minute}); w != nil {
					<-waiting(w.Start)
					w.Settle()
				}
				if parts[0].Err != nil {
					t.Errorf("produce: %v", parts[0].Err)
				}
			}
		})
	}
	for range 4 {
		wg.Go(func() { r.consume(producers * each) })
	}
	wg.Go(func() {
		for range 20 {
			r.lead("other", 3)
			r.lead("t", 4)
			r.remove("other", 3)
		}
	})
	wg.Wait()
}

// consume reads all partitions of t with a long poll until it has n records.
func (r *rig) consume(n int) {
	next := make([]int64, 4)
	for seen := 0; seen < n; {
		var parts []replication.FetchPart
		for p := range int32(4) {
			parts = append(parts, replication.FetchPart{Partition: r.m.Partition("t", p), Offset: next[p], MaxBytes: 700, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1})
		}
		w := r.m.Read(parts, &replication.ReadOptions{ReplicaID: -1, MinBytes: 1, MaxBytes: 2000, MaxWait: time.Minute}, false)
		if w != nil {
			<-waiting(w.Start)
			w.Finish()
		}
		for p := range parts {
			if parts[p].Err != nil {
				r.t.Errorf("fetch: %v", parts[p].Err)
				return
			}
			for _, o := range offsets(r.t, &parts[p]) {
				if o == "cut" {
					continue
				}
				if o != fmt.Sprint(next[p]) {
					r.t.Errorf("partition %d: batch at %s, want %d", p, o, next[p])
					return
				}
				next[p]++
				seen++
			}
		}
	}
}

// countingClock counts the timers that are started.
type countingClock struct {
	clock.Clock
	timers atomic.Int32
}

func (c *countingClock) NewTimer(d time.Duration) *time.Timer {
	c.timers.Add(1)
	return c.Clock.NewTimer(d)
}

func (c *countingClock) AfterFunc(d time.Duration, f func()) *time.Timer {
	c.timers.Add(1)
	return c.Clock.AfterFunc(d, f)
}

func TestIdleConsumersShareOneTimer(t *testing.T) {
	t.Parallel()
	c := &countingClock{Clock: clock.System()}
	r := newRig(t, t.TempDir(), func(o *replication.Options) { o.Clock = c })
	r.lead("t", 1)
	before := runtime.NumGoroutine()
	for range 5 {
		var done []<-chan struct{}
		var waits []*replication.DelayedFetch
		for range 200 {
			_, w := r.fetch("t", 0, func(o *replication.ReadOptions) { o.MaxWait = 30 * time.Millisecond })
			waits, done = append(waits, w), append(done, waiting(w.Start))
		}
		for i, d := range done {
			woken(t, d)
			waits[i].Finish()
		}
	}
	if n := c.timers.Load(); n > 1 {
		t.Errorf("1000 long polls started %d timers, want one for all", n)
	}
	if n := runtime.NumGoroutine(); n > before+50 { // other tests run beside this one
		t.Errorf("%d goroutines, %d before: a wait has one of its own", n, before)
	}
}
