package server_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap/zaptest"

	"barnabas/broker/server"
	"barnabas/internal/clock"
	"barnabas/internal/metrics"
)

// rig is a server whose handlers are the test's.
type rig struct {
	t    *testing.T
	s    *server.Server
	stop func() error
}

func start(t *testing.T, limits server.Limits, routes map[int16]server.Handler) *rig {
	t.Helper()
	s, err := server.New(server.Options{
		Listeners: []server.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}}, Routes: routes, Limits: limits,
		Clock: clock.System(), Logger: zaptest.NewLogger(t), StopTimeout: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	r := &rig{t: t, s: s, stop: sync.OnceValue(func() error { cancel(); return <-done })}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// client speaks to a rig in whole frames.
type client struct {
	t  *testing.T
	nc net.Conn
}

func (r *rig) dial() *client {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.s.Addrs()[0].String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{r.t, nc}
}

func frame(req kmsg.Request, id int32) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, id)
}

func (c *client) send(req kmsg.Request, id int32) {
	c.t.Helper()
	if _, err := c.nc.Write(frame(req, id)); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads a reply and gives its correlation id and what follows it.
func (c *client) receive() (id int32, rest []byte) {
	c.t.Helper()
	id, rest, err := c.tryReceive()
	if err != nil {
		c.t.Fatal(err)
	}
	return id, rest
}

func (c *client) tryReceive() (id int32, rest []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(c.nc, size[:]); err != nil {
		return 0, nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c.nc, b); err != nil {
		return 0, nil, err
	}
	return int32(binary.BigEndian.Uint32(b)), b[4:], nil
}

func (c *client) wantClosed() {
	c.t.Helper()
	if id, _, err := c.tryReceive(); err == nil {
		c.t.Fatalf("reply %d, want a closed connection", id)
	}
}

// gate is a Wait that the test opens.
type gate struct {
	resp     kmsg.Response
	wake     atomic.Pointer[func()]
	started  chan struct{}
	canceled chan struct{}
}

func newGate(resp kmsg.Response) *gate {
	return &gate{resp: resp, started: make(chan struct{}), canceled: make(chan struct{})}
}

func (g *gate) Start(wake func()) { g.wake.Store(&wake); close(g.started) }
func (g *gate) Reply() server.Reply {
	return server.Now(g.resp)
}
func (g *gate) Cancel() { close(g.canceled) }
func (g *gate) open()   { (*g.wake.Load())() }

func produceRequest() kmsg.Request {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks = 9, -1
	return r
}

func listOffsetsRequest() kmsg.Request {
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version = 5
	return r
}

func fetchRequest() kmsg.Request {
	r := kmsg.NewPtrFetchRequest()
	r.Version = 11
	return r
}

func always(resp func() kmsg.Response) server.Handler {
	return func(context.Context, *server.Call, kmsg.Request) server.Reply { return server.Now(resp()) }
}

func TestProducesStartBehindWaitingOnesAndAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	gates := make(chan *gate, 8)
	listed := make(chan struct{}, 1)
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			g := newGate(kmsg.NewPtrProduceResponse())
			gates <- g
			return server.Later(g)
		},
		2: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			listed <- struct{}{}
			return server.Now(kmsg.NewPtrListOffsetsResponse())
		},
	})
	c := r.dial()
	for id := range int32(5) {
		c.send(produceRequest(), id)
	}
	c.send(listOffsetsRequest(), 5)
	var waiting []*gate
	for range 5 {
		g := <-gates // all five start before the first is answered
		<-g.started
		waiting = append(waiting, g)
	}
	for i := 4; i > 0; i-- {
		waiting[i].open() // the later ones are ready first
	}
	select {
	case <-listed:
		t.Fatal("ListOffsets started while produces before it were waiting")
	default:
	}
	waiting[0].open()
	for want := range int32(6) {
		if id, _ := c.receive(); id != want {
			t.Fatalf("reply %d, want %d", id, want)
		}
	}
}

func TestAParkedFetchHoldsUpEverythingButProduce(t *testing.T) {
	t.Parallel()
	fetched := newGate(kmsg.NewPtrFetchResponse())
	produced := make(chan struct{}, 1)
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			produced <- struct{}{}
			return server.Now(kmsg.NewPtrProduceResponse())
		},
		1: func(context.Context, *server.Call, kmsg.Request) server.Reply { return server.Later(fetched) },
	})
	c := r.dial()
	c.send(fetchRequest(), 1)
	c.send(produceRequest(), 2)
	<-produced
	fetched.open()
	for want := int32(1); want <= 2; want++ {
		if id, _ := c.receive(); id != want {
			t.Fatalf("reply %d, want %d", id, want)
		}
	}
}

func TestNoMoreThanThePendingRepliesWait(t *testing.T) {
	t.Parallel()
	gates := make(chan *gate, 8)
	r := start(t, server.Limits{PendingReplies: 2}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			g := newGate(kmsg.NewPtrProduceResponse())
			gates <- g
			return server.Later(g)
		},
	})
	c := r.dial()
	for id := range int32(3) {
		c.send(produceRequest(), id)
	}
	first, second := <-gates, <-gates
	<-second.started
	select {
	case <-gates:
		t.Fatal("a third produce started")
	case <-time.After(50 * time.Millisecond):
	}
	first.open()
	third := <-gates
	second.open()
	<-third.started
	third.open()
	for want := range int32(3) {
		if id, _ := c.receive(); id != want {
			t.Fatalf("reply %d, want %d", id, want)
		}
	}
}

func TestADisconnectCancelsWhatWaits(t *testing.T) {
	t.Parallel()
	g := newGate(kmsg.NewPtrFetchResponse())
	r := start(t, server.Limits{}, map[int16]server.Handler{
		1: func(context.Context, *server.Call, kmsg.Request) server.Reply { return server.Later(g) },
	})
	c := r.dial()
	c.send(fetchRequest(), 1)
	<-g.started
	_ = c.nc.Close()
	<-g.canceled
}

func TestACloseFollowsTheRepliesBeforeIt(t *testing.T) {
	t.Parallel()
	g := newGate(kmsg.NewPtrProduceResponse())
	var n atomic.Int32
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			if n.Add(1) == 1 {
				return server.Later(g)
			}
			return server.CloseConn()
		},
	})
	c := r.dial()
	c.send(produceRequest(), 1)
	c.send(produceRequest(), 2)
	<-g.started
	g.open()
	if id, _ := c.receive(); id != 1 {
		t.Fatalf("reply %d, want 1", id)
	}
	c.wantClosed()
}

func TestNoneHasNoReply(t *testing.T) {
	t.Parallel()
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply { return server.None() },
		2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() }),
	})
	c := r.dial()
	c.send(produceRequest(), 1)
	c.send(listOffsetsRequest(), 2)
	if id, _ := c.receive(); id != 2 {
		t.Fatalf("reply %d, want 2", id)
	}
}

func TestAPanicCostsTheConnectionOnly(t *testing.T) {
	t.Parallel()
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply { panic("oh") },
		2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() }),
	})
	bad, good := r.dial(), r.dial()
	bad.send(produceRequest(), 1)
	bad.wantClosed()
	good.send(listOffsetsRequest(), 2)
	good.receive()
}

func TestFramesThatCloseTheConnection(t *testing.T) {
	t.Parallel()
	r := start(t, server.Limits{RequestMaxBytes: 1 << 20}, map[int16]server.Handler{
		2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() }),
	})
	whole := frame(listOffsetsRequest(), 1)
	version := append([]byte(nil), whole...)
	version[7] = 99
	key := append([]byte(nil), whole...)
	key[4] = 0x7f
	cut := append([]byte(nil), whole[:len(whole)-2]...)
	binary.BigEndian.PutUint32(cut, uint32(len(cut)-4))
	null := append([]byte(nil), whole...)
	copy(null[len(null)-4:], []byte{0xff, 0xff, 0xff, 0xff}) // the topics
	for name, bytes := range map[string][]byte{
		"null array": null,

		"size 0": {0, 0, 0, 0}, "size -1": {0xff, 0xff, 0xff, 0xff}, "too large": {0, 0x20, 0, 0},
		"http": []byte("GET / HTTP/1.1\r\n\r\n"), "unknown version": version, "unknown API": key, "body cut": cut,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := r.dial()
			if _, err := c.nc.Write(bytes); err != nil {
				t.Fatal(err)
			}
			c.wantClosed()
		})
	}
	t.Run("surplus bytes are ignored", func(t *testing.T) {
		t.Parallel()
		c := r.dial()
		long := append(append([]byte(nil), whole...), 0xff, 0xff, 0xff)
		binary.BigEndian.PutUint32(long, uint32(len(long)-4))
		if _, err := c.nc.Write(long); err != nil {
			t.Fatal(err)
		}
		c.receive()
	})
}

func TestErrorsInRepliesAreCounted(t *testing.T) {
	t.Parallel()
	registry := metrics.New()
	s, err := server.New(server.Options{
		Listeners: []server.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}}, Metrics: registry, Clock: clock.System(), Logger: zaptest.NewLogger(t),
		Routes: map[int16]server.Handler{2: always(func() kmsg.Response {
			r := kmsg.NewPtrListOffsetsResponse()
			r.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsResponseTopicPartition{{ErrorCode: 3}, {}}}}
			return r
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	r := &rig{t: t, s: s}
	c := r.dial()
	c.send(listOffsetsRequest(), 1)
	c.receive()
	count := registry.Counter("kafka_network_requestmetrics_errors_total", "", metrics.Label{Name: "request", Value: "ListOffsets"}, metrics.Label{Name: "error", Value: "UNKNOWN_TOPIC_OR_PARTITION"})
	eventually(t, "the error is counted", func() bool { return count.Value() == 1 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
