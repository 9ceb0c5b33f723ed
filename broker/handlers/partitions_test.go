package handlers

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/broker/fetchsession"
	"barnabas/broker/server"
	"barnabas/internal/clock"
	"barnabas/metadata/image"
	"barnabas/protocol/record"
	"barnabas/replication"
	"barnabas/storage"
)

// dataRig is a broker with the partition APIs only: real logs, a real server,
// topics made by control requests.
type dataRig struct {
	t        testing.TB
	h        *Handlers
	addr     string
	mu       sync.Mutex
	settings map[string]replication.TopicSettings
	epoch    int32
}

func newDataRig(t testing.TB) *dataRig {
	t.Helper()
	r := &dataRig{t: t, settings: map[string]replication.TopicSettings{}, epoch: -1}
	logConfig := func(string) storage.Config { return storage.DefaultConfig() }
	ctx, cancel := context.WithCancel(context.Background())
	logs, err := storage.Open(ctx, storage.Options{
		Dirs: []string{t.TempDir()}, BrokerID: 1, ClusterID: "c", Clock: clock.System(), Logger: zap.NewNop(), LogConfig: logConfig,
	})
	if err != nil {
		t.Fatal(err)
	}
	replicas := replication.New(replication.Options{Logs: logs, BrokerID: 1, LogConfig: logConfig, Topic: r.topicSettings})
	r.h = New(Options{
		Replicas: replicas, Logs: logs, BrokerID: 1, Clock: clock.System(), Logger: zap.NewNop(),
		Sessions: fetchsession.New(fetchsession.Options{Slots: 100}),
	})
	srv, err := server.New(server.Options{
		Listeners: []server.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}},
		Routes: map[int16]server.Handler{
			kmsg.Produce.Int16():              route(r.h.produce),
			kmsg.Fetch.Int16():                route(r.h.fetch),
			kmsg.ListOffsets.Int16():          route(r.h.listOffsets),
			kmsg.DeleteRecords.Int16():        route(r.h.deleteRecords),
			kmsg.OffsetForLeaderEpoch.Int16(): route(r.h.offsetForLeaderEpoch),
		},
		Clock: clock.System(), Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.addr = srv.Addrs()[0].String()
	var wg sync.WaitGroup
	wg.Go(func() { _ = replicas.Run(ctx) })
	wg.Go(func() { _ = srv.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := logs.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

func (r *dataRig) topicSettings(name string) replication.TopicSettings {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.settings[name]; ok {
		return s
	}
	return replication.TopicSettings{
		MaxMessageBytes: 1 << 20, SegmentBytes: 1 << 30, MinISR: 1, BeforeMaxMs: 1<<63 - 1, AfterMaxMs: 1<<63 - 1,
		Delete: true, Compression: record.Compression{FromProducer: true},
	}
}

// topic makes a topic of n partitions with changed settings.
func (r *dataRig) topic(name string, n int32, change ...func(*replication.TopicSettings)) {
	s := r.topicSettings(name)
	for _, c := range change {
		c(&s)
	}
	r.mu.Lock()
	r.settings[name] = s
	r.mu.Unlock()
	r.lead(name, n, 1)
}

func testID(topic string) (id [16]byte) {
	copy(id[:], topic)
	return id
}

// lead makes a broker the leader of partitions 0 to n-1; we are number 1.
func (r *dataRig) lead(name string, n, leader int32) {
	r.t.Helper()
	r.epoch++
	req := kmsg.NewPtrLeaderAndISRRequest()
	req.Version, req.BrokerEpoch = 7, -1
	t := kmsg.NewLeaderAndISRRequestTopicState()
	t.Topic, t.TopicID = name, testID(name)
	for p := range n {
		s := kmsg.NewLeaderAndISRRequestTopicPartition()
		s.Partition, s.Leader, s.LeaderEpoch, s.ISR, s.Replicas = p, leader, r.epoch, []int32{leader}, []int32{leader}
		if leader != 1 {
			s.Replicas = append(s.Replicas, 1)
		}
		t.PartitionStates = append(t.PartitionStates, s)
	}
	req.TopicStates = append(req.TopicStates, t)
	for _, t := range r.h.replicas.LeaderAndISR(req).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				r.t.Fatalf("LeaderAndIsr: %d", p.ErrorCode)
			}
		}
	}
}

// client is a connection that sends requests and reads answers in order.
type client struct {
	t    testing.TB
	nc   net.Conn
	corr int32
	buf  []byte
}

func (r *dataRig) client() *client {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return &client{t: r.t, nc: nc}
}

func (c *client) send(req kmsg.Request) {
	c.t.Helper()
	c.corr++
	if _, err := c.nc.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, c.corr)); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads the answer to a request, or reports that the connection closed.
func (c *client) receive(req kmsg.Request) (kmsg.Response, bool) {
	c.t.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	var size [4]byte
	if _, err := io.ReadFull(c.nc, size[:]); err != nil {
		return nil, false
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c.nc, body); err != nil {
		c.t.Fatal(err)
	}
	body = body[4:]
	if req.IsFlexible() {
		body = body[1:]
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body); err != nil {
		c.t.Fatalf("answer of %T version %d: %v", req, req.GetVersion(), err)
	}
	return resp, true
}

// exchange sends a frame and reads the frame that answers it.
func (c *client) exchange(frame []byte) {
	if _, err := c.nc.Write(frame); err != nil {
		c.t.Fatal(err)
	}
	c.buf = slices.Grow(c.buf[:0], 64<<10)[:4]
	if _, err := io.ReadFull(c.nc, c.buf); err != nil {
		c.t.Fatal(err)
	}
	c.buf = c.buf[:binary.BigEndian.Uint32(c.buf)]
	if _, err := io.ReadFull(c.nc, c.buf); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a request and reads its answer.
func ask[R kmsg.Response](c *client, req kmsg.Request) R {
	c.t.Helper()
	c.send(req)
	resp, ok := c.receive(req)
	if !ok {
		c.t.Fatalf("%T: the connection was closed", req)
	}
	return resp.(R)
}

// quiet holds that nothing comes for a moment.
func (c *client) quiet() {
	c.t.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if n, err := c.nc.Read(make([]byte, 1)); n > 0 || err == io.EOF {
		c.t.Fatalf("an answer, or the end, before its time: %d, %v", n, err)
	}
}

func testBatch(values ...string) []byte {
	b := record.NewBuilder(record.BuilderOptions{})
	for _, v := range values {
		b.Append(1_600_000_000_000, nil, []byte(v))
	}
	return b.Build()
}

// produceRequest sends data to the given partitions of a topic.
func produceRequest(version, acks int16, topic string, data []byte, parts ...int32) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = version, acks, 5000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, testID(topic)
	if len(parts) == 0 {
		parts = []int32{0}
	}
	for _, p := range parts {
		q := kmsg.NewProduceRequestTopicPartition()
		q.Partition, q.Records = p, slices.Clone(data)
		t.Partitions = append(t.Partitions, q)
	}
	req.Topics = append(req.Topics, t)
	return req
}

func fetchRequest(version int16, topic string, offset int64, parts ...int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.ReplicaID, req.MinBytes, req.MaxBytes, req.MaxWaitMillis, req.SessionEpoch = version, -1, 1, 1<<20, 10000, -1
	if len(parts) == 0 {
		parts = []int32{0}
	}
	addFetch(req, topic, offset, parts...)
	return req
}

func addFetch(req *kmsg.FetchRequest, topic string, offset int64, parts ...int32) {
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, testID(topic)
	for _, p := range parts {
		q := kmsg.NewFetchRequestTopicPartition()
		q.Partition, q.FetchOffset, q.PartitionMaxBytes = p, offset, 1<<20
		t.Partitions = append(t.Partitions, q)
	}
	req.Topics = append(req.Topics, t)
}

// told writes a Fetch response down: one word a partition.
func told(resp *kmsg.FetchResponse) string {
	var out []string
	if resp.ErrorCode != 0 {
		out = append(out, fmt.Sprint("error:", resp.ErrorCode))
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			aborted := "null"
			if p.AbortedTransactions != nil {
				aborted = "[]"
			}
			var bases []string
			for data := p.RecordBatches; len(data) > 0; {
				b, rest, err := record.Next(data)
				if err != nil {
					bases = append(bases, "cut")
					break
				}
				bases = append(bases, fmt.Sprint(b.BaseOffset()))
				data = rest
			}
			out = append(out, fmt.Sprintf("%d:e%d:hw%d:lso%d:start%d:ab%s:[%s]", p.Partition, p.ErrorCode, p.HighWatermark,
				p.LastStableOffset, p.LogStartOffset, aborted, strings.Join(bases, " ")))
		}
	}
	return strings.Join(out, " ")
}

// toldProduce writes a Produce response down.
func toldProduce(resp *kmsg.ProduceResponse) string {
	var out []string
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			s := fmt.Sprintf("%d:e%d:base%d:time%d:start%d", p.Partition, p.ErrorCode, p.BaseOffset, p.LogAppendTime, p.LogStartOffset)
			if p.ErrorMessage != nil {
				s += ":" + *p.ErrorMessage
			}
			for _, r := range p.ErrorRecords {
				s += fmt.Sprintf(":record%d:%s", r.RelativeOffset, *r.ErrorMessage)
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

func TestPartitionsThatAreNotHere(t *testing.T) {
	t.Parallel()
	im := new(image.Image).Edit()
	im.PutTopic(&image.Topic{Name: "t", ID: testID("t"), Partitions: []image.Partition{
		{Leader: 2, LeaderEpoch: 7, Replicas: []int32{2}}, {Leader: 3, LeaderEpoch: 8, Replicas: []int32{3}}, image.Unknown(),
	}})
	im.SetBrokers([]*image.Broker{{ID: 2, Rack: "r", Endpoints: []image.Endpoint{{Listener: "INSIDE", Host: "a", Port: 1}, {Listener: "OUTSIDE", Host: "b", Port: 2}}}})
	cluster := im.Done()
	for _, tt := range []struct {
		key       topicKey
		byID      bool
		partition int32
		want      *kerr.Error
	}{
		{topicKey{name: "t"}, false, 0, kerr.NotLeaderForPartition},
		{topicKey{name: "t"}, false, 2, kerr.UnknownTopicOrPartition},
		{topicKey{name: "t"}, false, 3, kerr.UnknownTopicOrPartition},
		{topicKey{name: "t"}, false, -1, kerr.UnknownTopicOrPartition},
		{topicKey{name: "none"}, false, 0, kerr.UnknownTopicOrPartition},
		{topicKey{}, false, 0, kerr.UnknownTopicOrPartition},
		{topicKey{id: testID("t")}, true, 1, kerr.NotLeaderForPartition},
		{topicKey{id: testID("t")}, true, 3, kerr.UnknownTopicOrPartition},
		{topicKey{id: testID("none")}, true, 0, kerr.UnknownTopicID},
		{topicKey{}, true, 0, kerr.UnknownTopicID},
	} {
		if got := absentFrom(cluster, tt.key, tt.byID, tt.partition); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	hint, ok := hintFrom(cluster, "OUTSIDE", "t", 0)
	if !ok || hint.leader != 2 || hint.epoch != 7 || !hint.known || hint.host != "b" || hint.port != 2 || *hint.rack != "r" {
		t.Errorf("a leader that lives: %+v", hint)
	}
	if hint, ok := hintFrom(cluster, "OUTSIDE", "t", 1); !ok || hint.leader != 3 || hint.known {
		t.Errorf("a leader that is down: %+v", hint)
	}
	if _, ok := hintFrom(cluster, "OUTSIDE", "none", 0); ok {
		t.Error("a leader of nothing")
	}
}
