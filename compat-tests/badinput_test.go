package compat

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/api"
	"barnabas/protocol/record"
)

// TestBadInput sends what no client should. The broker lives, other clients are
// served, and memory stays bounded.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	good := b.Dial()
	good.CreateTopic("t", 1)
	healthy := func(after string) {
		t.Helper()
		if p := good.Produce(9, "t", 0, harness.Batch(record.BuilderOptions{}, 1000, "a")); p.ErrorCode != 0 {
			t.Errorf("after %s: error %d", after, p.ErrorCode)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	send := func(frame []byte) {
		nc, err := net.Dial("tcp", b.Addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(200 * time.Millisecond))
		_, _ = nc.Write(frame)
		_, _ = nc.Read(make([]byte, 1<<10))
		_ = nc.Close()
	}
	for range 50 {
		garbage := make([]byte, 4+r.IntN(200))
		for i := range garbage {
			garbage[i] = byte(r.Uint32())
		}
		send(garbage)
		binary.BigEndian.PutUint32(garbage, uint32(len(garbage)-4))
		send(garbage)
	}
	healthy("garbage")
	for _, a := range api.Table() {
		req := kmsg.RequestForKey(a.Key)
		for _, v := range []int16{a.Min, a.Max} {
			req.SetVersion(v)
			whole := harness.Frame(req, 1)
			for n := 4; n < len(whole); n += 3 { // cut, with a length that says so
				cut := append([]byte(nil), whole[:n]...)
				binary.BigEndian.PutUint32(cut, uint32(n-4))
				nc, err := net.Dial("tcp", b.Addr)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = nc.Write(cut)
				_ = nc.Close()
			}
		}
	}
	healthy("truncated frames")
	for _, a := range api.Table() {
		req := kmsg.RequestForKey(a.Key)
		req.SetVersion(a.Min)
		whole := harness.Frame(req, 1)
		for at := 14; at+4 <= len(whole); at++ { // a negative or huge number in every position
			for _, bad := range []uint32{0xffffffff, 0x80000000, 0x7fffffff} {
				patched := append([]byte(nil), whole...)
				binary.BigEndian.PutUint32(patched[at:], bad)
				nc, err := net.Dial("tcp", b.Addr)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = nc.Write(patched)
				_ = nc.Close()
			}
		}
	}
	healthy("negative and huge counts")
	if log := b.Log(); containsAny(log, "bug:", "panic") {
		t.Errorf("the log has a bug:\n%s", log)
	}
	if rss := b.RSS(); rss > 300<<20 {
		t.Errorf("%d MiB resident", rss>>20)
	}
}

// TestIdleConnections opens 2,000 connections that made a request and idle, with
// some that dribble beside them.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	const n = 2000
	b := harness.Start(t)
	good := b.Dial()
	good.CreateTopic("t", 1)
	before := b.RSS()
	for range n {
		c := b.Dial()
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "idle", "1"
		if r := harness.Do[*kmsg.ApiVersionsResponse](c, req, 3); r.ErrorCode != 0 {
			t.Fatal(r.ErrorCode)
		}
	}
	for range 20 {
		if _, err := b.Dial().NC.Write([]byte{0, 0, 1}); err != nil {
			t.Fatal(err)
		}
	}
	each := (b.RSS() - before) / n
	t.Logf("%d bytes of resident memory for an idle connection", each)
	if each > 16<<10 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	if p := good.Produce(9, "t", 0, harness.Batch(record.BuilderOptions{}, 1000, "a")); p.ErrorCode != 0 {
		t.Errorf("beside them: error %d", p.ErrorCode)
	}
}
