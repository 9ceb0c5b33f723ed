package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"barnabas/bench/frames"
	"barnabas/bench/stats"
)

// OpenLoad is a schedule: one frame every interval.
type OpenLoad struct {
	Dialer   Dialer
	Address  string
	Interval time.Duration
	Count    int // frames measured
	Warmup   int // frames sent before
	Topic    string
	Batch    frames.Batch
}

// Latency is what an open loop measured, in microseconds.
type Latency struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Late float64 `json:"lateP99"` // how late the generator's own timer woke it, p99
}

// clockwork sends on a schedule. The time of a frame counts from the moment the
// sender woke for it, or from its place in the schedule when the write before
// it held the sender up: so a slow peer is charged and a slow timer is not.
type clockwork struct {
	start    time.Time
	interval time.Duration
	sent     []atomic.Int64 // nanoseconds after start, by frame
	late     []float64
}

func newClockwork(load *OpenLoad) *clockwork {
	n := load.Warmup + load.Count
	return &clockwork{interval: load.Interval, sent: make([]atomic.Int64, n), late: make([]float64, 0, n)}
}

// run calls send for every frame at its time. It holds a thread with the
// finest timer there is.
func (c *clockwork) run(ctx context.Context, send func(i int) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	var free time.Duration // when the write before was done
	for i := range c.sent {
		due := time.Duration(i) * c.interval
		if wait := due - time.Since(c.start); wait > 0 {
			ts := unix.NsecToTimespec(int64(wait))
			for unix.Nanosleep(&ts, &ts) == unix.EINTR {
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := time.Since(c.start)
		c.late = append(c.late, float64(at-due)/1e3)
		if free > due {
			at = due
		}
		c.sent[i].Store(int64(at))
		if err := send(i); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		free = time.Since(c.start)
	}
	return nil
}

// arrived is the microseconds that frame i took until now.
func (c *clockwork) arrived(i int) float64 {
	return float64(int64(time.Since(c.start))-c.sent[i].Load()) / 1e3
}

// summary leaves the warm-up out.
func (c *clockwork) summary(took []float64, warmup int) Latency {
	took = took[warmup:]
	slices.Sort(took)
	late := slices.Sorted(slices.Values(c.late[warmup:]))
	return Latency{
		P50: stats.Percentile(took, 0.5), P99: stats.Percentile(took, 0.99), P999: stats.Percentile(took, 0.999),
		Max: took[len(took)-1], Late: stats.Percentile(late, 0.99),
	}
}

// EndToEnd writes one record every interval to partition 0 of the topic, which
// must be empty, while a consumer waits for them, and measures from the write
// of the request until the consumer holds the record.
func EndToEnd(ctx context.Context, load OpenLoad) (Latency, error) {
	producer, err := load.Dialer.blocking(ctx, load.Address)
	if err != nil {
		return Latency{}, err
	}
	defer producer.Close()
	consumer, err := load.Dialer.blocking(ctx, load.Address)
	if err != nil {
		return Latency{}, err
	}
	defer consumer.Close()
	c := newClockwork(&load)
	took := make([]float64, len(c.sent))
	failed := make(chan error, 3)
	c.start = time.Now().Add(20 * time.Millisecond)
	go func() { failed <- consumeAll(consumer, &load, c, took) }()
	go func() { failed <- acknowledged(producer, len(c.sent)) }()
	go func() {
		frame := frames.Produce(load.Topic, 0, load.Batch)
		failed <- c.run(ctx, func(i int) error {
			binary.BigEndian.PutUint32(frame[frames.CorrelationAt:], uint32(i))
			_, err := producer.Write(frame)
			return err
		})
	}()
	if err := allOf(failed, 3); err != nil {
		return Latency{}, err
	}
	return c.summary(took, load.Warmup), nil
}

// allOf waits for n results and gives the first error.
func allOf(results <-chan error, n int) error {
	var first error
	for range n {
		if err := <-results; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// acknowledged reads the answers to n Produce requests.
func acknowledged(f socket, n int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range n {
		response, err := readFrame(f)
		if err != nil {
			return fmt.Errorf("acknowledgement: %w", err)
		}
		if code, err := frames.ProduceError(response); err != nil || code != 0 {
			return fmt.Errorf("produce: error code %d (%w)", code, err)
		}
	}
	return nil
}

// consumeAll long-polls until every record arrived.
func consumeAll(f socket, load *OpenLoad, c *clockwork, took []float64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fetch := frames.Fetch{Topic: load.Topic, MaxWaitMillis: 500, MaxBytes: 50 << 20, PartitionMaxBytes: 1 << 20}
	offsets := map[int32]int64{0: 0}
	r := reader{conn: f, buf: make([]byte, 1<<20)}
	var request []byte
	for next := 0; next < len(took); {
		offsets[0] = int64(next)
		request = fetch.Append(request[:0], []int32{0}, offsets)
		if _, err := f.Write(request); err != nil {
			return err
		}
		err := r.fetchResponse(func(_ int32, size int) error {
			if err := r.discard(size); err != nil {
				return err
			}
			for n := size / len(load.Batch.Bytes); n > 0 && next < len(took); n-- {
				took[next] = c.arrived(next)
				next++
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("consume after %d records: %w", next, err)
		}
	}
	return nil
}

// Echo sends a frame as long as the batch every interval to a server that sends
// it back, and measures until it is back whole.
func Echo(ctx context.Context, load OpenLoad) (Latency, error) {
	f, err := load.Dialer.blocking(ctx, load.Address)
	if err != nil {
		return Latency{}, err
	}
	defer f.Close()
	c := newClockwork(&load)
	took := make([]float64, len(c.sent))
	failed := make(chan error, 2)
	c.start = time.Now().Add(20 * time.Millisecond)
	frame := make([]byte, len(load.Batch.Bytes))
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for i := range took {
			if _, err := readFrame(f); err != nil {
				failed <- fmt.Errorf("echo %d: %w", i, err)
				return
			}
			took[i] = c.arrived(i)
		}
		failed <- nil
	}()
	go func() {
		failed <- c.run(ctx, func(int) error {
			_, err := f.Write(frame)
			return err
		})
	}()
	if err := allOf(failed, 2); err != nil {
		return Latency{}, err
	}
	return c.summary(took, load.Warmup), nil
}
