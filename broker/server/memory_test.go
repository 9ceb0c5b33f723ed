package server_test

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/broker/server"
	"barnabas/internal/clock"
)

// worstFrame is a request of about size bytes that costs the most to decode: an
// array full of elements with a tagged field that nobody knows.
func worstFrame(size int) []byte {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 9
	req.Topics = make([]kmsg.MetadataRequestTopic, size/6)
	empty := ""
	for i := range req.Topics {
		req.Topics[i].Topic = &empty
		req.Topics[i].UnknownTags.Set(100, nil)
	}
	return frame(req, 1)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTheBudgetHolds sends the worst frame on 64 connections at once, while
// handlers hold what they got: the heap stays within the budget.
func TestTheBudgetHolds(t *testing.T) {
	const memory = 64 << 20
	release, inside := make(chan struct{}), make(chan struct{}, 64)
	var most, running atomic.Int64
	r := start(t, server.Limits{Memory: memory, StallTimeout: time.Minute}, map[int16]server.Handler{
		3: func(_ context.Context, _ *server.Call, req kmsg.Request) server.Reply {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			inside <- struct{}{}
			<-release
			running.Add(-1)
			runtime.KeepAlive(req)
			return server.Now(kmsg.NewPtrMetadataResponse())
		},
	})
	bytes := worstFrame(100 << 10)
	runtime.GC()
	before := heap()
	var wg sync.WaitGroup
	var replies atomic.Int32
	for range 64 {
		c := r.dial()
		wg.Go(func() {
			if _, err := c.nc.Write(bytes); err != nil {
				return
			}
			if _, _, err := c.tryReceive(); err == nil {
				replies.Add(1)
			}
		})
	}
	<-inside
	peak := int64(0)
	for range 50 {
		runtime.GC()
		peak = max(peak, heap()-before)
		time.Sleep(2 * time.Millisecond)
	}
	close(release)
	wg.Wait()
	t.Logf("heap grew by %d MiB at most, %d requests were inside at once", peak>>20, most.Load())
	if peak > memory {
		t.Errorf("the heap grew by %d bytes, the budget is %d", peak, memory)
	}
	if replies.Load() != 64 {
		t.Errorf("%d of 64 requests were answered", replies.Load())
	}
}

// TestIdleConnectionsAreCheap measures what a connection costs that made a
// request and idles.
func TestIdleConnectionsAreCheap(t *testing.T) {
	const n = 500
	r := start(t, server.Limits{}, map[int16]server.Handler{2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() })})
	stacks := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := stacks()
	var conns []net.Conn
	for range n {
		c := r.dial()
		c.send(listOffsetsRequest(), 1)
		c.receive()
		conns = append(conns, c.nc)
	}
	each := (stacks() - before) / n
	t.Logf("%d bytes of heap and stack for a connection, the test's side of it included", each)
	if each > 16<<10 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	runtime.KeepAlive(conns)
}

// BenchmarkRequest is the cost of a small request and its reply, with the
// client's side of it.
func BenchmarkRequest(b *testing.B) {
	s, err := server.New(server.Options{
		Listeners: []server.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}},
		Routes:    map[int16]server.Handler{2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() })},
		Clock:     clock.System(), Logger: zap.NewNop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() { cancel(); <-done }()
	nc, err := net.Dial("tcp", s.Addrs()[0].String())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	request, reply := frame(listOffsetsRequest(), 1), make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := nc.Read(reply); err != nil {
			b.Fatal(err)
		}
	}
}
