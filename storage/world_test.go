package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/storage"
	"barnabas/storage/vfs"
)

const memDir = "/data"

// entry is one record batch as the slow model keeps it.
type entry struct {
	base, last int64
	value      string
	producer   int64
	sequence   int32
	time       int64
}

// world is a log on a forgetful disk beside a slow model of it.
type world struct {
	t    testing.TB
	rand *rand.Rand
	mem  *vfs.Mem
	m    *storage.Manager
	l    *storage.Log
	c    storage.Config

	log      []entry // what the log holds, in order
	end      int64
	start    int64
	durable  int64 // below it everything survives
	startDur int64 // log start that survives
	hw       int64
	next     map[int64]int32 // next sequence of each producer
	unique   int
	cutting  int64 // the end of a truncation under way, -1 while there is none
	starting int64 // the start of a deletion under way
}

func newWorld(t testing.TB, seed uint64) *world {
	c := storage.DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes, c.FileDeleteDelayMs, c.RetentionMs = 2048, 200, 0, -1
	c.ProducerIDExpirationMs = 1 << 60 // the batches are of 1970
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), mem: vfs.NewMem(), c: c, next: map[int64]int32{}, cutting: -1}
	w.open(w.mem)
	return w
}

func openOn(fsys vfs.FS, c storage.Config) (*storage.Manager, error) {
	return storage.Open(context.Background(), storage.Options{
		Dirs: []string{memDir}, FS: fsys, Clock: clock.System(), Logger: zap.NewNop(), BrokerID: 1, ClusterID: "c",
		LogConfig: func(string) storage.Config { return c },
	})
}

func (w *world) open(fsys vfs.FS) {
	w.t.Helper()
	m, err := openOn(fsys, w.c)
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	w.m = m
	if w.l = m.Get(topic0); w.l == nil {
		if w.l, err = m.Create(topic0, [16]byte{7}, w.c); err != nil {
			w.t.Fatalf("create: %v", err)
		}
	}
}

func (w *world) must(err error, what string) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// build makes a batch of n records with one new value.
func (w *world) build(n int, producer int64, sequence int32) (record.Batch, entry) {
	w.unique++
	e := entry{value: fmt.Sprintf("v%d-%0*d", w.unique, w.rand.IntN(200), 0), producer: producer, sequence: sequence, time: int64(w.unique)}
	o := record.BuilderOptions{}
	if producer >= 0 {
		o.Producer = &record.Producer{ID: producer, BaseSequence: sequence}
	}
	b := record.NewBuilder(o)
	for range n {
		b.Append(e.time, nil, []byte(e.value))
	}
	return b.Build(), e
}

// append appends one batch; it reports what the log said.
func (w *world) append() error {
	n, producer, sequence := 1+w.rand.IntN(3), int64(-1), int32(-1)
	if w.rand.IntN(3) > 0 {
		producer = int64(w.rand.IntN(3))
		sequence = w.next[producer]
	}
	b, e := w.build(n, producer, sequence)
	a, err := w.l.AppendLeader(b, 1)
	if err != nil {
		return err
	}
	if a.BaseOffset != w.end || a.Duplicate {
		w.t.Fatalf("appended at %d (duplicate %v), want %d", a.BaseOffset, a.Duplicate, w.end)
	}
	e.base, e.last = a.BaseOffset, a.LastOffset
	w.log, w.end = append(w.log, e), a.LastOffset+1
	if producer >= 0 {
		w.next[producer] = sequence + int32(n)
	}
	return nil
}

func (w *world) flush() error {
	err := w.l.Flush()
	if err == nil {
		w.durable = w.end
	}
	return err
}

// truncate cuts at the base of a random batch of the last few.
func (w *world) truncate() error {
	if len(w.log) == 0 {
		return nil
	}
	i := max(0, len(w.log)-1-w.rand.IntN(8))
	if w.log[i].base < w.start {
		return nil
	}
	at := w.log[i].base + w.rand.Int64N(w.log[i].last-w.log[i].base+1) // also within the batch
	if at < w.start {
		return nil
	}
	w.cutting = w.log[i].base
	if err := w.l.TruncateTo(at); err != nil {
		return err
	}
	w.cutting = -1
	w.cutTo(w.log[i].base)
	return nil
}

// cutTo takes the model back to a log end.
func (w *world) cutTo(end int64) {
	for len(w.log) > 0 && w.log[len(w.log)-1].last >= end {
		w.log = w.log[:len(w.log)-1]
	}
	w.end, w.durable, w.hw = end, min(w.durable, end), min(w.hw, end)
	for id := range w.next {
		delete(w.next, id)
		for _, e := range w.log {
			if e.producer == id {
				w.next[id] = e.sequence + int32(e.last-e.base) + 1
			}
		}
	}
}

func (w *world) raiseHW() {
	w.hw = w.end
	w.l.SetHighWatermark(w.hw)
}

func (w *world) deleteRecords() error {
	if w.hw <= w.start {
		return nil
	}
	to := w.start + w.rand.Int64N(w.hw-w.start+1)
	err := w.l.IncrementLogStart(to)
	if err == nil {
		w.start = to
	}
	return err
}

func (w *world) checkpoints() {
	w.m.FlushAll()
	if w.m.Online() {
		w.durable, w.startDur = w.end, w.start
	}
}

// afterCrash opens the log on what the crash left and holds it against the
// model: everything durable is there, what else is there was once appended.
func (w *world) afterCrash() {
	w.t.Helper()
	w.open(w.mem)
	end := w.l.LogEndOffset()
	if end < w.durable || end > w.end {
		w.t.Fatalf("log end %d after a crash, want %d to %d", end, w.durable, w.end)
	}
	if s := w.l.LogStartOffset(); s > w.start || s < w.startDur {
		w.t.Fatalf("log start %d after a crash, want %d to %d", s, w.startDur, w.start)
	}
	w.start = w.l.LogStartOffset()
	w.cutTo(end)
	w.durable, w.startDur = w.end, w.start
	w.hw = w.l.HighWatermark()
	if w.hw < w.start || w.hw > w.end {
		w.t.Fatalf("high watermark %d, log is %d to %d", w.hw, w.start, w.end)
	}
	w.check()
}

// check compares every readable record, and looks each up by its time.
func (w *world) check() {
	w.t.Helper()
	if w.l.LogEndOffset() != w.end || w.l.LogStartOffset() != w.start {
		w.t.Fatalf("log is %d to %d, want %d to %d", w.l.LogStartOffset(), w.l.LogEndOffset(), w.start, w.end)
	}
	var want []string
	for _, e := range w.log {
		for o := e.base; o <= e.last; o++ {
			if o >= w.start {
				want = append(want, e.value)
			}
		}
	}
	got := readAll(w.t, w.l, w.start)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("log holds %d records, want %d\n got %.300q\nwant %.300q", len(got), len(want), got, want)
	}
	if len(w.log) > 0 {
		e := w.log[w.rand.IntN(len(w.log))]
		o, ts, _, found, err := w.l.OffsetForTimestamp(e.time, w.end)
		wantOffset := max(e.base, w.start)
		if err != nil || (e.last >= w.start && (!found || o != wantOffset || ts != e.time)) {
			w.t.Fatalf("time %d: offset %d, time %d, %v %v; want %d", e.time, o, ts, found, err, wantOffset)
		}
	}
}

// retries sends the last five batches of each producer again.
func (w *world) retries() {
	w.t.Helper()
	for id := range int64(3) {
		var last []entry
		for _, e := range w.log {
			if e.producer == id {
				last = append(last, e)
			}
		}
		for _, e := range last[max(0, len(last)-5):] {
			if e.base < w.l.FirstSegmentBase() {
				continue // deleted: after a crash it may be unknown
			}
			o := record.NewBuilder(record.BuilderOptions{Producer: &record.Producer{ID: id, BaseSequence: e.sequence}})
			for range e.last - e.base + 1 {
				o.Append(e.time, nil, []byte(e.value))
			}
			a, err := w.l.AppendLeader(o.Build(), 1)
			if err != nil || !a.Duplicate || a.BaseOffset != e.base || a.LastOffset != e.last {
				w.t.Fatalf("retry of producer %d, sequence %d (offset %d): %+v %v", id, e.sequence, e.base, a, err)
			}
		}
	}
}

func readAll(t testing.TB, l *storage.Log, from int64) (values []string) {
	t.Helper()
	for from < l.LogEndOffset() {
		r, err := l.Read(storage.ReadOptions{Offset: from, MaxBytes: 700, End: l.LogEndOffset(), MinOne: true})
		if err != nil || r == nil {
			t.Fatalf("read at %d: %v %v", from, r, err)
		}
		data := make([]byte, r.Len())
		_, err = r.ReadAt(data, 0)
		r.Release()
		if err != nil {
			t.Fatal(err)
		}
		for before := from; ; {
			b, rest, err := record.Next(data)
			if err != nil {
				if before == from {
					t.Fatalf("no whole batch at %d: %v", from, err)
				}
				break
			}
			if b.LastOffset() < from || b.BaseOffset() > from {
				t.Fatalf("batch %d to %d where %d was next", b.BaseOffset(), b.LastOffset(), from)
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			for rec, err := range b.Records() {
				if err != nil {
					t.Fatal(err)
				}
				if b.OffsetOf(&rec) >= from {
					values = append(values, string(rec.Value))
				}
			}
			from, data = b.LastOffset()+1, rest
		}
	}
	return values
}

var errAny = errors.New("a disk error")
