package fetchsession_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"barnabas/broker/fetchsession"
	"barnabas/internal/clock"
)

// log is the state of a partition as a test sees it.
type log struct {
	hw, start int64
	bytes     int
	failed    bool
}

// client fetches topic "t" and reads what Finish lets through.
type client struct {
	t       *testing.T
	cache   *fetchsession.Cache
	version int16
	logs    map[int32]log
	follows bool
}

func (c *client) request(id, epoch int32, parts []int32, forget ...int32) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.SessionID, r.SessionEpoch = c.version, id, epoch
	if len(parts) > 0 {
		t := kmsg.NewFetchRequestTopic()
		c.name(&t.Topic, &t.TopicID)
		for _, p := range parts {
			q := kmsg.NewFetchRequestTopicPartition()
			q.Partition, q.FetchOffset, q.PartitionMaxBytes = p, int64(p)*10, 100
			t.Partitions = append(t.Partitions, q)
		}
		r.Topics = append(r.Topics, t)
	}
	if len(forget) > 0 {
		f := kmsg.NewFetchRequestForgottenTopic()
		c.name(&f.Topic, &f.TopicID)
		f.Partitions = forget
		r.ForgottenTopics = append(r.ForgottenTopics, f)
	}
	return r
}

func (c *client) name(topic *string, id *[16]byte) {
	if c.version >= 13 {
		id[0] = 7
	} else {
		*topic = "t"
	}
}

// fetch runs a request and tells what was read and what was answered.
func (c *client) fetch(req *kmsg.FetchRequest) (id int32, read, told []int32, err *kerr.Error) {
	var f fetchsession.Fetch
	if err := c.cache.Open(req, c.follows, &f); err != nil {
		return 0, nil, nil, err
	}
	out := make([]fetchsession.Outcome, len(f.Targets))
	for i, t := range f.Targets {
		l := c.logs[t.Partition]
		read = append(read, t.Partition)
		out[i] = fetchsession.Outcome{HW: l.hw, LogStart: l.start, Bytes: l.bytes, Failed: l.failed}
		if l.failed {
			out[i].HW, out[i].LogStart = -1, -1
		}
	}
	id = f.Finish(out)
	for i, o := range out {
		if o.Include {
			told = append(told, f.Targets[i].Partition)
		}
	}
	return id, read, told, nil
}

func newClient(t *testing.T, version int16) *client {
	return &client{
		t: t, version: version, logs: map[int32]log{},
		cache: fetchsession.New(fetchsession.Options{Slots: 10, Clock: clock.System()}),
	}
}

func (c *client) want(req *kmsg.FetchRequest, read, told []int32) int32 {
	c.t.Helper()
	id, gotRead, gotTold, err := c.fetch(req)
	if err != nil {
		c.t.Fatalf("error %v", err)
	}
	if !slices.Equal(gotRead, read) || !slices.Equal(gotTold, told) {
		c.t.Errorf("read %v and told %v, want %v and %v", gotRead, gotTold, read, told)
	}
	return id
}

func (c *client) wantError(req *kmsg.FetchRequest, want *kerr.Error) {
	c.t.Helper()
	if _, _, _, err := c.fetch(req); err != want {
		c.t.Errorf("error %v, want %v", err, want)
	}
}

func TestLifeOfASession(t *testing.T) {
	t.Parallel()
	for _, version := range []int16{7, 12, 13, 18} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, version)
			c.logs[0] = log{hw: 1, bytes: 70}
			id := c.want(c.request(0, 0, []int32{0, 1}), []int32{0, 1}, []int32{0, 1})
			if id <= 0 {
				t.Fatalf("session id %d, want a positive one", id)
			}
			c.logs[0] = log{hw: 1}
			c.want(c.request(id, 1, []int32{0}), []int32{0, 1}, nil)
			c.logs[1] = log{hw: 5, bytes: 10}
			c.want(c.request(id, 2, nil), []int32{0, 1}, []int32{1})
			// HW alone, log start alone, and again nothing.
			c.logs[0], c.logs[1] = log{hw: 2}, log{hw: 5, start: 3}
			c.want(c.request(id, 3, nil), []int32{0, 1}, []int32{0, 1})
			c.want(c.request(id, 4, nil), []int32{0, 1}, nil)
			// A new partition is told at once, also if it is empty.
			c.want(c.request(id, 5, []int32{2}), []int32{0, 1, 2}, []int32{2})
			c.want(c.request(id, 6, nil, 0, 2), []int32{1}, nil)
			c.wantError(c.request(id, 6, nil), kerr.InvalidFetchSessionEpoch)
			if got := c.want(c.request(id, 7, nil, 1), nil, nil); got != 0 {
				t.Errorf("an emptied session answered id %d, want 0", got)
			}
			c.wantError(c.request(id, 8, nil), kerr.FetchSessionIDNotFound)
		})
	}
}

func TestDataMovesAPartitionToTheEnd(t *testing.T) {
	t.Parallel()
	c := newClient(t, 12)
	id := c.want(c.request(0, 0, []int32{0, 1, 2}), []int32{0, 1, 2}, []int32{0, 1, 2})
	c.logs[0] = log{hw: 1, bytes: 1}
	c.want(c.request(id, 1, nil), []int32{0, 1, 2}, []int32{0})
	c.want(c.request(id, 2, nil), []int32{1, 2, 0}, []int32{0})
	c.logs[2] = log{hw: 1, bytes: 1}
	c.want(c.request(id, 3, nil), []int32{1, 2, 0}, []int32{2, 0})
	c.want(c.request(id, 4, nil), []int32{1, 2, 0}, []int32{2, 0})
}

func TestErrorsAreRepeatedUntilTheyEnd(t *testing.T) {
	t.Parallel()
	c := newClient(t, 12)
	c.logs[0] = log{failed: true}
	id := c.want(c.request(0, 0, []int32{0}), []int32{0}, []int32{0})
	c.want(c.request(id, 1, nil), []int32{0}, []int32{0})
	c.logs[0] = log{}
	c.want(c.request(id, 2, nil), []int32{0}, []int32{0})
	c.want(c.request(id, 3, nil), []int32{0}, nil)
}

func TestSessionErrors(t *testing.T) {
	t.Parallel()
	c := newClient(t, 12)
	for _, epoch := range []int32{1, 5, -2} {
		c.wantError(c.request(0, epoch, []int32{0}), kerr.FetchSessionIDNotFound)
		c.wantError(c.request(123, epoch, nil), kerr.FetchSessionIDNotFound)
	}
	id := c.want(c.request(0, 0, []int32{0}), []int32{0}, []int32{0})
	for _, epoch := range []int32{2, 7, -2, 1 << 30} {
		c.wantError(c.request(id, epoch, nil), kerr.InvalidFetchSessionEpoch)
	}
	byID := newClient(t, 13)
	byID.cache = c.cache
	byID.wantError(byID.request(id, 1, nil), kerr.FetchSessionTopicIDError)
	c.want(c.request(id, 1, nil), []int32{0}, nil) // still alive, at the same epoch
}

func TestFullFetches(t *testing.T) {
	t.Parallel()
	c := newClient(t, 12)
	if id := c.want(c.request(0, -1, []int32{1}), []int32{1}, []int32{1}); id != 0 {
		t.Errorf("a fetch that wants no session got %d", id)
	}
	first := c.want(c.request(0, 0, []int32{1}), []int32{1}, []int32{1})
	second := c.want(c.request(first, 0, []int32{0}), []int32{0}, []int32{0})
	if second == 0 || second == first {
		t.Errorf("a full fetch with a session's id got %d after %d, want a new one", second, first)
	}
	c.wantError(c.request(first, 1, nil), kerr.FetchSessionIDNotFound)
	if id := c.want(c.request(second, -1, nil), nil, nil); id != 0 {
		t.Errorf("closing answered id %d", id)
	}
	c.wantError(c.request(second, 1, nil), kerr.FetchSessionIDNotFound)
	if id := c.want(c.request(0, 0, nil), nil, nil); id == 0 {
		t.Error("a session may start empty")
	}
	old := newClient(t, 6)
	if id := old.want(old.request(0, 0, []int32{0}), []int32{0}, []int32{0}); id != 0 {
		t.Errorf("version 6 got a session: %d", id)
	}
}

func TestAPartitionNamedTwiceIsReadOnceWithTheLastValues(t *testing.T) {
	t.Parallel()
	for _, n := range []int32{2, 40} {
		c := newClient(t, 12)
		var parts []int32
		for p := range n {
			parts = append(parts, p)
		}
		req := c.request(0, 0, append(slices.Clone(parts), 0, 1))
		last := req.Topics[0].Partitions
		last[len(last)-2].FetchOffset = 77
		var f fetchsession.Fetch
		if err := c.cache.Open(req, false, &f); err != nil {
			t.Fatal(err)
		}
		if len(f.Targets) != int(n) || f.Targets[0].Partition != 0 || f.Targets[0].Offset != 77 {
			t.Errorf("%d targets, first %+v; want %d, the first with offset 77", len(f.Targets), f.Targets[0], n)
		}
	}
}

func TestSlotsAndEviction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cache := fetchsession.New(fetchsession.Options{Slots: 2, EvictAfterMs: 120_000, Clock: clock.System()})
		consumer := &client{t: t, version: 12, logs: map[int32]log{}, cache: cache}
		follower := &client{t: t, version: 12, logs: map[int32]log{}, cache: cache, follows: true}
		open := func(c *client, n int32) int32 {
			var parts []int32
			for p := range n {
				parts = append(parts, p)
			}
			return c.want(c.request(0, 0, parts), parts, parts)
		}
		small, big := open(consumer, 1), open(consumer, 5)
		if open(consumer, 9) != 0 {
			t.Error("a third session although both slots are young")
		}
		if open(follower, 1) == 0 {
			t.Error("a follower must get a consumer's slot")
		}
		consumer.wantError(consumer.request(small, 1, nil), kerr.FetchSessionIDNotFound)
		time.Sleep(100 * time.Second)
		consumer.want(consumer.request(big, 1, nil), []int32{0, 1, 2, 3, 4}, nil)
		time.Sleep(50 * time.Second) // the follower idled for 150 s, the consumer for 50
		if open(consumer, 1) == 0 {
			t.Error("an idle session must give way")
		}
		if open(consumer, 3) != 0 || open(consumer, 6) == 0 {
			t.Error("an old session gives way to a larger one, not to a smaller one")
		}
		consumer.wantError(consumer.request(big, 2, nil), kerr.FetchSessionIDNotFound)
		if s := cache.Stats(); s.Sessions != 2 || s.Partitions != 7 || s.Evictions != 3 {
			t.Errorf("stats %+v, want 2 sessions, 7 partitions, 3 evictions", s)
		}
	})
	none := fetchsession.New(fetchsession.Options{})
	c := &client{t: t, version: 12, logs: map[int32]log{}, cache: none}
	if id := c.want(c.request(0, 0, []int32{0}), []int32{0}, []int32{0}); id != 0 {
		t.Errorf("a cache without slots gave session %d", id)
	}
}

func TestNamesOutliveTheRequest(t *testing.T) {
	t.Parallel()
	c := newClient(t, 12)
	id := c.want(c.request(0, 0, []int32{0}), []int32{0}, []int32{0})
	frame := []byte("topic-x")
	req := c.request(id, 1, []int32{1})
	req.Topics[0].Topic = unsafeString(frame)
	c.want(req, []int32{0, 1}, []int32{1})
	copy(frame, strings.Repeat("#", len(frame)))
	var f fetchsession.Fetch
	if err := c.cache.Open(c.request(id, 2, nil), false, &f); err != nil {
		t.Fatal(err)
	}
	if got := f.Targets[1].Topic; got != "topic-x" {
		t.Errorf("the session's topic became %q", got)
	}
}

// TestSessionAgainstModel holds a session against the plainest description of
// it: a list of partitions and what was told of each.
func TestSessionAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newClient(t, 12)
		parts := rapid.SliceOfNDistinct(rapid.Int32Range(0, 60), 1, 40, rapid.ID[int32])
		order := parts.Draw(rt, "parts")
		told := map[int32]log{}
		for _, p := range order {
			told[p] = log{}
		}
		id := c.want(c.request(0, 0, order), order, order)
		order = slices.Clone(order)
		for epoch := int32(1); epoch < 12; epoch++ {
			add := rapid.SliceOfNDistinct(rapid.Int32Range(0, 60), 0, 5, rapid.ID[int32]).Draw(rt, "add")
			forget := rapid.SliceOfNDistinct(rapid.Int32Range(0, 60), 0, 5, rapid.ID[int32]).Draw(rt, "forget")
			for _, p := range add {
				if !slices.Contains(order, p) {
					order = append(order, p)
					told[p] = log{hw: -1, start: -1}
				}
			}
			order = slices.DeleteFunc(order, func(p int32) bool { return slices.Contains(forget, p) })
			var want, back []int32
			for _, p := range order {
				l := log{hw: rapid.Int64Range(0, 2).Draw(rt, "hw"), bytes: rapid.IntRange(0, 1).Draw(rt, "bytes")}
				c.logs[p] = l
				if l.bytes > 0 || l.hw != told[p].hw || l.start != told[p].start {
					want = append(want, p)
				}
				if l.bytes > 0 {
					back = append(back, p)
				}
				told[p] = log{hw: l.hw, start: l.start}
			}
			got := c.want(c.request(id, epoch, add, forget...), order, want)
			if len(order) == 0 {
				if got != 0 {
					rt.Fatalf("an emptied session answered %d", got)
				}
				return
			}
			order = slices.DeleteFunc(order, func(p int32) bool { return slices.Contains(back, p) })
			order = append(order, back...)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	cache := fetchsession.New(fetchsession.Options{Slots: 4, Clock: clock.System()})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			c := &client{t: t, version: 12, logs: map[int32]log{0: {bytes: 1}}, cache: cache, follows: g%2 == 0}
			for range 200 {
				id, _, _, err := c.fetch(c.request(0, 0, []int32{0, 1, 2}))
				for epoch := int32(1); id != 0 && err == nil && epoch < 5; epoch++ {
					_, _, _, err = c.fetch(c.request(id, epoch, []int32{epoch}, epoch-1))
				}
			}
		})
	}
	wg.Wait()
	if s := cache.Stats(); s.Sessions > 4 || s.Partitions < 0 {
		t.Errorf("stats %+v", s)
	}
}

func BenchmarkIncremental100(b *testing.B) {
	c := &client{version: 12, logs: map[int32]log{}, cache: fetchsession.New(fetchsession.Options{Slots: 1})}
	var parts []int32
	for p := range int32(100) {
		parts = append(parts, p)
	}
	id, _, _, _ := c.fetch(c.request(0, 0, parts))
	req := c.request(id, 1, nil)
	var f fetchsession.Fetch
	out := make([]fetchsession.Outcome, 100)
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := c.cache.Open(req, false, &f); err != nil {
			b.Fatal(err)
		}
		clear(out)
		f.Finish(out)
		req.SessionEpoch++
	}
}
