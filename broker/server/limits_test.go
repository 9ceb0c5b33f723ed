package server_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/broker/server"
)

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	routes := map[int16]server.Handler{2: always(func() kmsg.Response { return kmsg.NewPtrListOffsetsResponse() })}
	t.Run("the one that is idle longest gives way", func(t *testing.T) {
		t.Parallel()
		r := start(t, server.Limits{MaxConnections: 2}, routes)
		first, second := r.dial(), r.dial()
		first.send(listOffsetsRequest(), 1)
		first.receive()
		second.send(listOffsetsRequest(), 1)
		second.receive()
		third := r.dial()
		third.send(listOffsetsRequest(), 1)
		third.receive()
		first.wantClosed()
		second.send(listOffsetsRequest(), 2)
		second.receive()
	})
	t.Run("per address", func(t *testing.T) {
		t.Parallel()
		r := start(t, server.Limits{MaxConnectionsPerIP: 5, PerIPOverrides: map[string]int{"127.0.0.1": 1}}, routes)
		first := r.dial()
		first.send(listOffsetsRequest(), 1)
		first.receive()
		r.dial().wantClosed()
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		r := start(t, server.Limits{IdleTimeout: 50 * time.Millisecond}, routes)
		c := r.dial()
		c.send(listOffsetsRequest(), 1)
		c.receive()
		c.wantClosed()
	})
	t.Run("a request that stalls", func(t *testing.T) {
		t.Parallel()
		r := start(t, server.Limits{StallTimeout: 50 * time.Millisecond}, routes)
		c := r.dial()
		if _, err := c.nc.Write([]byte{0, 0, 0, 20, 0, 2, 0, 5, 0, 0, 0, 1, 0}); err != nil {
			t.Fatal(err)
		}
		c.wantClosed()
	})
}

// fileRegion is a region of a file of the test's.
type fileRegion struct {
	f        *os.File
	at       int64
	n        int
	released *atomic.Int32
}

func (r *fileRegion) Len() int                                { return r.n }
func (r *fileRegion) ReadAt(p []byte, off int64) (int, error) { return r.f.ReadAt(p, r.at+off) }
func (r *fileRegion) File() (uintptr, int64, bool)            { return r.f.Fd(), r.at, true }
func (r *fileRegion) Release()                                { r.released.Add(1) }

// pieces encodes bytes and regions in turn.
type pieces struct{ regions []*fileRegion }

func (p *pieces) Encode(o *server.Out) {
	for _, r := range p.regions {
		o.Buf = append(o.Buf, "before"...)
		o.Region(r)
	}
	o.Buf = append(o.Buf, "end"...)
}

func testFile(t *testing.T, size int) (*os.File, []byte) {
	t.Helper()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	name := filepath.Join(t.TempDir(), "segment")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, data
}

func TestRegionsLeaveBetweenTheBytes(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"copied": 1000, "sent": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, data := testFile(t, size)
			var released atomic.Int32
			r := start(t, server.Limits{}, map[int16]server.Handler{
				1: func(context.Context, *server.Call, kmsg.Request) server.Reply {
					return server.NowEncoded(&pieces{[]*fileRegion{{f, 0, size / 2, &released}, {f, int64(size / 3), size / 2, &released}}})
				},
			})
			c := r.dial()
			var want bytes.Buffer
			want.WriteString("before")
			want.Write(data[:size/2])
			want.WriteString("before")
			want.Write(data[size/3 : size/3+size/2])
			want.WriteString("end")
			for id := range int32(3) {
				c.send(fetchRequest(), id)
				if _, got := c.receive(); !bytes.Equal(got, want.Bytes()) {
					t.Fatalf("reply of %d bytes is not the one encoded", len(got))
				}
			}
			eventually(t, "all regions are given back", func() bool { return released.Load() == 6 })
		})
	}
}

func TestAFileThatIsTooShortClosesTheConnection(t *testing.T) {
	t.Parallel()
	f, _ := testFile(t, 100<<10)
	var released atomic.Int32
	r := start(t, server.Limits{}, map[int16]server.Handler{
		1: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			return server.NowEncoded(&pieces{[]*fileRegion{{f, 0, 200 << 10, &released}}})
		},
	})
	c := r.dial()
	c.send(fetchRequest(), 1)
	c.wantClosed()
	eventually(t, "the region is given back", func() bool { return released.Load() == 1 })
}

func TestASlowReaderDelaysNobodyAndIsClosedInTheEnd(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	f, _ := testFile(t, size)
	var released atomic.Int32
	r := start(t, server.Limits{StallTimeout: 300 * time.Millisecond}, map[int16]server.Handler{
		1: func(context.Context, *server.Call, kmsg.Request) server.Reply {
			return server.NowEncoded(&pieces{[]*fileRegion{{f, 0, size, &released}}})
		},
	})
	slow, fast := r.dial(), r.dial()
	slow.send(fetchRequest(), 1)
	fast.send(fetchRequest(), 1)
	fast.receive()
	eventually(t, "the stalled reader's region is given back", func() bool { return released.Load() == 2 })
	if n, _ := io.Copy(io.Discard, slow.nc); n >= size {
		t.Fatalf("the slow reader got all of %d bytes", n)
	}
}

func TestStoppingAnswersWhatIsInFlight(t *testing.T) {
	t.Parallel()
	g := newGate(kmsg.NewPtrProduceResponse())
	r := start(t, server.Limits{}, map[int16]server.Handler{
		0: func(context.Context, *server.Call, kmsg.Request) server.Reply { return server.Later(g) },
	})
	c := r.dial()
	c.send(produceRequest(), 7)
	<-g.started
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	eventually(t, "the listener is closed", func() bool {
		nc, err := net.Dial("tcp", r.s.Addrs()[0].String())
		if err == nil {
			_ = nc.Close()
		}
		return err != nil
	})
	g.open()
	if id, _ := c.receive(); id != 7 {
		t.Fatalf("reply %d, want 7", id)
	}
	c.wantClosed()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}
