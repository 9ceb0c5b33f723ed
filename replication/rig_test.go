package replication_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/protocol/record"
	"barnabas/replication"
	"barnabas/storage"
)

// broker is the id of the broker under test.
const broker = int32(1)

// rig is a replica manager over real logs in a temporary directory.
type rig struct {
	t     testing.TB
	m     *replication.Manager
	logs  *storage.Manager
	close func()

	mu       sync.Mutex
	settings replication.TopicSettings
	epoch    int32
}

func defaults() replication.TopicSettings {
	return replication.TopicSettings{
		MaxMessageBytes: 1 << 20, SegmentBytes: 1 << 30, MinISR: 1, BeforeMaxMs: 1<<63 - 1, AfterMaxMs: 1<<63 - 1,
		Delete: true, Compression: record.Compression{FromProducer: true},
	}
}

// newRig opens logs in dir and starts the manager.
func newRig(t testing.TB, dir string, change ...func(*replication.Options)) *rig {
	t.Helper()
	r := &rig{t: t, settings: defaults(), epoch: -1}
	ctx, cancel := context.WithCancel(context.Background())
	logs, err := storage.Open(ctx, storage.Options{
		Dirs: []string{dir}, BrokerID: broker, ClusterID: "c", Clock: clock.System(), Logger: zap.NewNop(),
		LogConfig: func(string) storage.Config { return storage.DefaultConfig() },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.logs = logs
	opts := replication.Options{
		Logs: logs, BrokerID: broker,
		LogConfig: func(string) storage.Config { return storage.DefaultConfig() },
		Topic: func(string) replication.TopicSettings {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.settings
		},
	}
	for _, c := range change {
		c(&opts)
	}
	r.m = replication.New(opts)
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.m.Run(ctx) })
	r.close = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		if err := logs.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(r.close)
	return r
}

// set changes the topics' settings.
func (r *rig) set(change func(*replication.TopicSettings)) {
	r.mu.Lock()
	change(&r.settings)
	r.mu.Unlock()
	r.m.ConfigChanged("")
}

// control sends LeaderAndIsr for partitions 0 to n-1 under a new epoch and
// returns the first error code.
func (r *rig) control(topic string, n int32, leader int32, isr, replicas []int32) int16 {
	r.epoch++
	return firstCode(r.m.LeaderAndISR(leaderAndISR(topic, n, state(leader, r.epoch, isr, replicas))))
}

// state is what a controller says of a partition.
func state(leader, epoch int32, isr, replicas []int32) kmsg.LeaderAndISRRequestTopicPartition {
	s := kmsg.NewLeaderAndISRRequestTopicPartition()
	s.Leader, s.LeaderEpoch, s.ISR, s.Replicas = leader, epoch, isr, replicas
	return s
}

// leaderAndISR says the same of partitions 0 to n-1.
func leaderAndISR(topic string, n int32, state kmsg.LeaderAndISRRequestTopicPartition) *kmsg.LeaderAndISRRequest {
	req := kmsg.NewPtrLeaderAndISRRequest()
	req.Version, req.BrokerEpoch = 7, -1
	t := kmsg.NewLeaderAndISRRequestTopicState()
	t.Topic, t.TopicID = topic, idOf(topic)
	for p := range n {
		state.Partition = p
		t.PartitionStates = append(t.PartitionStates, state)
	}
	req.TopicStates = append(req.TopicStates, t)
	return req
}

func firstCode(resp *kmsg.LeaderAndISRResponse) int16 {
	if resp.ErrorCode != 0 {
		return resp.ErrorCode
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return p.ErrorCode
			}
		}
	}
	return 0
}

func idOf(topic string) (id [16]byte) {
	copy(id[:], topic)
	return id
}

// lead makes this broker the only replica of a topic's partitions.
func (r *rig) lead(topic string, n int32) {
	r.t.Helper()
	if code := r.control(topic, n, broker, []int32{broker}, []int32{broker}); code != 0 {
		r.t.Fatalf("LeaderAndIsr: %v", kerr.ErrorForCode(code))
	}
}

func (r *rig) remove(topic string, n int32) {
	r.t.Helper()
	req := kmsg.NewPtrStopReplicaRequest()
	req.Version, req.BrokerEpoch = 4, -1
	t := kmsg.NewStopReplicaRequestTopic()
	t.Topic = topic
	for p := range n {
		s := kmsg.NewStopReplicaRequestTopicPartitionState()
		s.Partition, s.LeaderEpoch, s.Delete = p, -2, true
		t.PartitionStates = append(t.PartitionStates, s)
	}
	req.Topics = append(req.Topics, t)
	resp := r.m.StopReplica(req)
	for _, p := range resp.Partitions {
		if p.ErrorCode != 0 {
			r.t.Fatalf("StopReplica: %v", kerr.ErrorForCode(p.ErrorCode))
		}
	}
}

// batch has one record for each value.
func batch(values ...string) []byte {
	b := record.NewBuilder(record.BuilderOptions{})
	for i, v := range values {
		b.Append(1_600_000_000_000+int64(i), nil, []byte(v))
	}
	return b.Build()
}

// produce appends to partition 0 of t and returns the part and the wait, if any.
func (r *rig) produce(topic string, acks int16, timeout time.Duration, data []byte) ([]replication.ProducePart, *replication.DelayedProduce) {
	parts := []replication.ProducePart{{Partition: r.m.Partition(topic, 0), Records: data}}
	return parts, r.m.Append(parts, &replication.AppendOptions{Version: 9, Acks: acks, Timeout: timeout})
}

// put appends and expects success at once.
func (r *rig) put(topic string, data []byte) int64 {
	r.t.Helper()
	parts, wait := r.produce(topic, -1, 0, data)
	if wait != nil || parts[0].Err != nil {
		r.t.Fatalf("append: %v, waits: %v", parts[0].Err, wait != nil)
	}
	return parts[0].BaseOffset
}

// fetch reads partition 0 of the topic.
func (r *rig) fetch(topic string, offset int64, change ...func(*replication.ReadOptions)) ([]replication.FetchPart, *replication.DelayedFetch) {
	o := &replication.ReadOptions{ReplicaID: -1, BrokerEpoch: -1, AnyReplica: true, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: 20 * time.Second}
	for _, c := range change {
		c(o)
	}
	parts := []replication.FetchPart{{Partition: r.m.Partition(topic, 0), Offset: offset, MaxBytes: 1 << 20, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1}}
	return parts, r.m.Read(parts, o, false)
}

// offsets are the base offsets of the batches in a part, "cut" for a rest.
func offsets(t testing.TB, f *replication.FetchPart) (out []string) {
	t.Helper()
	if f.Region == nil {
		return nil
	}
	data := make([]byte, f.Region.Len())
	if _, err := f.Region.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	f.Release()
	for len(data) > 0 {
		b, rest, err := record.Next(data)
		if err != nil {
			return append(out, "cut")
		}
		if !b.ChecksumOK() {
			t.Error("a batch with a wrong checksum")
		}
		out = append(out, fmt.Sprint(b.BaseOffset()))
		data = rest
	}
	return out
}

// waiting starts a wait and gives a channel that is closed by its wake.
func waiting(start func(func())) <-chan struct{} {
	done := make(chan struct{})
	start(func() { close(done) })
	return done
}

func woken(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("not woken")
	}
}

func asleep(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
		t.Fatal("woken without a reason")
	default:
	}
}

// spoil breaks the checksum of a batch.
func spoil(b []byte) []byte {
	binary.BigEndian.PutUint32(b[17:], binary.BigEndian.Uint32(b[17:])^1)
	return b
}
