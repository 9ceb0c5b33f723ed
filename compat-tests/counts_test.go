package compat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/api"
	"barnabas/protocol/record"
)

// populate gives every array of a request one element and every string a name, so
// that a count, a length and a number stand in every position that there is.
func populate(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		populate(v.Elem(), name)
	case reflect.Struct:
		if d, ok := v.Addr().Interface().(interface{ Default() }); ok {
			d.Default()
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Version" && f.Name != "UnknownTags" {
				populate(v.Field(i), name)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(harness.Batch(record.BuilderOptions{}, 1000, name))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0), name)
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true) // validate_only
	default:
	}
}

// populated is a request of an API that changes little: it validates only, or
// names topics that cannot be.
func populated(key, version int16) kmsg.Request {
	name := "t"
	switch kmsg.Key(key) {
	case kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions:
		name = "no such!" // a count of partitions may become any number
	default:
	}
	req := kmsg.RequestForKey(key)
	populate(reflect.ValueOf(req), name)
	switch r := req.(type) {
	case *kmsg.ProduceRequest:
		r.TransactionID, r.Acks = nil, 1
	case *kmsg.FetchRequest:
		r.MaxWaitMillis, r.MinBytes = 0, 0
	case *kmsg.InitProducerIDRequest:
		r.TransactionalID = nil
	default:
	}
	req.SetVersion(version)
	return req
}

// patches are a frame with a bad number at each position: as a fixed-width number
// and, in flexible versions, as one of variable length.
func patches(req kmsg.Request) (frames [][]byte) {
	whole := harness.Frame(req, 7)
	for at := 8; at+4 <= len(whole); at++ {
		for _, bad := range []uint32{0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff} {
			f := append([]byte(nil), whole...)
			binary.BigEndian.PutUint32(f[at:], bad)
			frames = append(frames, f)
		}
		if !req.IsFlexible() {
			continue
		}
		for _, bad := range []string{"\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\x07", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x00"} {
			f := append(append(append([]byte(nil), whole[:at]...), bad...), whole[at+1:]...)
			binary.BigEndian.PutUint32(f, uint32(len(f)-4))
			frames = append(frames, f)
		}
	}
	return frames
}

// prober sends frames on one connection while it lasts.
type prober struct {
	b *harness.Broker
	c net.Conn
}

// send sends a frame and a good request behind it, and tells whether the broker
// answered something or closed the connection.
func (p *prober) send(frame []byte) error {
	if p.c == nil {
		c, err := net.Dial("tcp", p.b.Addr)
		if err != nil {
			return fmt.Errorf("no new connection: %w", err)
		}
		p.c = c
	}
	probe := kmsg.NewPtrApiVersionsRequest()
	_ = p.c.SetDeadline(time.Now().Add(20 * time.Second))
	_, err := p.c.Write(append(append([]byte(nil), frame...), harness.Frame(probe, 1_000_000)...))
	for err == nil {
		var head [8]byte
		if _, err = io.ReadFull(p.c, head[:]); err != nil {
			break
		}
		size := int(binary.BigEndian.Uint32(head[:])) - 4
		if size < 0 || size > 64<<20 {
			return fmt.Errorf("a reply of %d bytes", size)
		}
		if _, err = io.ReadFull(p.c, make([]byte, size)); err == nil && binary.BigEndian.Uint32(head[4:]) == 1_000_000 {
			return nil // the connection goes on
		}
	}
	_ = p.c.Close()
	p.c = nil
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("neither an answer nor a closed connection after 20 s")
	}
	return nil // closed
}

// bystander produces and fetches all the time and keeps its slowest turn.
type bystander struct {
	slowest atomic.Int64
	failed  atomic.Pointer[string]
	stop    chan struct{}
	done    chan struct{}
}

func watch(c *harness.Conn, topic string) *bystander {
	s := &bystander{stop: make(chan struct{}), done: make(chan struct{})}
	_ = c.NC.SetDeadline(time.Time{})
	go func() {
		defer close(s.done)
		for {
			select {
			case <-s.stop:
				return
			default:
			}
			began := time.Now()
			if err := produceAndFetch(c, topic); err != nil {
				text := err.Error()
				s.failed.Store(&text)
				return
			}
			if took := int64(time.Since(began)); took > s.slowest.Load() {
				s.slowest.Store(took)
			}
			time.Sleep(5 * time.Millisecond) // leaves the processor to the broker
		}
	}()
	return s
}

func produceAndFetch(c *harness.Conn, topic string) error {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10000
	rt, rp := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	rt.Topic, rp.Records = topic, harness.Batch(record.BuilderOptions{}, 1000, "beside")
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	r, err := harness.TryDo(c, req, 9)
	if err != nil {
		return err
	}
	p := r.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return fmt.Errorf("produce: error %d", p.ErrorCode)
	}
	r, err = harness.TryDo(c, harness.FetchRequest(topic, p.BaseOffset, 0), 11)
	if err != nil {
		return err
	}
	if f := r.(*kmsg.FetchResponse).Topics[0].Partitions[0]; f.ErrorCode != 0 || len(f.RecordBatches) == 0 {
		return fmt.Errorf("fetch: error %d, %d bytes", f.ErrorCode, len(f.RecordBatches))
	}
	return nil
}

// check ends the bystander and wants it unharmed.
func (s *bystander) check(t *testing.T) {
	t.Helper()
	close(s.stop)
	<-s.done
	if f := s.failed.Load(); f != nil {
		t.Errorf("a client beside it: %s", *f)
	}
	slowest := time.Duration(s.slowest.Load())
	t.Logf("the slowest produce and fetch beside it took %v", slowest)
	if slowest > 5*time.Second {
		t.Errorf("a client beside it waited %v", slowest)
	}
}

// TestBadCounts puts negative and huge numbers in every position of a full request
// of every API: each is answered or closes its connection, nobody else notices,
// and memory stays bounded.
func TestBadCounts(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("t", 1)
	c.CreateTopic("beside", 1)
	side := watch(b.Dial(), "beside")
	p, n := &prober{b: b}, 0
	for _, a := range api.Table() {
		for _, v := range []int16{a.Min, (a.Min + a.Max) / 2, a.Max} {
			for _, f := range patches(populated(a.Key, v)) {
				n++
				if err := p.send(f); err != nil {
					t.Fatalf("%s version %d: %v\nframe %x", kmsg.NameForKey(a.Key), v, err, f)
				}
			}
		}
	}
	t.Logf("%d frames, %d MiB resident", n, b.RSS()>>20)
	side.check(t)
	if log := b.Log(); containsAny(log, "bug:", "panic") {
		t.Errorf("the log has a bug")
	}
	if rss := b.RSS(); rss > 300<<20 {
		t.Errorf("%d MiB resident", rss>>20)
	}
}

// TestSlowLoris has clients that send a request byte by byte, which is their right,
// and clients that stop within one, which are disconnected. Nobody else waits.
func TestSlowLoris(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a stalled client has 30 seconds")
	}
	b := harness.Start(t)
	b.Dial().CreateTopic("beside", 1)
	side := watch(b.Dial(), "beside")
	slow := kmsg.NewPtrApiVersionsRequest()
	slow.SetVersion(3)
	slow.ClientSoftwareName, slow.ClientSoftwareVersion = "loris", "1"
	whole := harness.Frame(slow, 3)
	stalled := make([]*harness.Conn, 100)
	for i := range stalled {
		stalled[i] = b.Dial()
		if _, err := stalled[i].NC.Write(whole[:1+i%(len(whole)-1)]); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	dribbling := b.Dial()
	for i := range whole {
		if _, err := dribbling.NC.Write(whole[i : i+1]); err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		time.Sleep(50 * time.Millisecond) // the client is slow
	}
	if _, err := dribbling.ReadFrame(); err != nil {
		t.Errorf("a request byte by byte: %v", err)
	}
	for i, c := range stalled {
		if !c.Closed() {
			t.Fatalf("connection %d stays open %v after its client stopped within a request", i, time.Since(began))
		}
	}
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("stalled clients were closed after %v", took)
	}
	side.check(t)
}
