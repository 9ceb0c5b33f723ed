package metadata_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap/zaptest"

	"barnabas/config"
	"barnabas/internal/clock"
	"barnabas/metadata"
	"barnabas/metadata/image"
	"barnabas/metadata/store"
	"barnabas/metadata/store/embedded"
	"barnabas/metadata/znode"
)

// localBroker is a replica manager that obeys, and notes what it was told.
type localBroker struct {
	mu       sync.Mutex
	orders   []*kmsg.LeaderAndISRRequest
	leads    map[string]int32 // partitions it has, by topic
	epoch    int64
	failing  map[string]bool // topics whose log directory has failed
	noDelete bool            // it refuses to delete
	hold     chan struct{}   // orders wait for it, if not nil
}

func (b *localBroker) SetBrokerEpoch(e int64) { b.epoch = e }

func (b *localBroker) LeaderAndISR(req *kmsg.LeaderAndISRRequest) *kmsg.LeaderAndISRResponse {
	if b.hold != nil {
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orders = append(b.orders, req)
	resp := kmsg.NewPtrLeaderAndISRResponse()
	resp.Version = req.Version
	for _, t := range req.TopicStates {
		out := kmsg.NewLeaderAndISRResponseTopic()
		out.TopicID = t.TopicID
		for _, p := range t.PartitionStates {
			o := kmsg.NewLeaderAndISRResponseTopicPartition()
			o.Partition = p.Partition
			if b.failing[t.Topic] {
				o.ErrorCode = kerr.KafkaStorageError.Code
			} else {
				b.leads[t.Topic]++
			}
			out.Partitions = append(out.Partitions, o)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

func (b *localBroker) StopReplica(req *kmsg.StopReplicaRequest) *kmsg.StopReplicaResponse {
	b.mu.Lock()
	defer b.mu.Unlock()
	resp := kmsg.NewPtrStopReplicaResponse()
	resp.Version = req.Version
	for _, t := range req.Topics {
		for _, p := range t.PartitionStates {
			o := kmsg.NewStopReplicaResponsePartition()
			o.Topic, o.Partition = t.Topic, p.Partition
			if b.noDelete {
				o.ErrorCode = kerr.KafkaStorageError.Code
			} else if b.leads[t.Topic]--; b.leads[t.Topic] <= 0 {
				delete(b.leads, t.Topic)
			}
			resp.Partitions = append(resp.Partitions, o)
		}
	}
	return resp
}

// rig is a Metadata over an embedded store.
type rig struct {
	t      *testing.T
	path   string
	store  *embedded.Store
	local  *localBroker
	m      *metadata.Metadata
	stop   func()
	mu     sync.Mutex
	config []string // what OnConfig heard
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "metadata")}
	r.open()
	r.start(&localBroker{leads: map[string]int32{}})
	return r
}

func (r *rig) open() {
	r.t.Helper()
	s, err := embedded.Open(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.store = s
}

func (r *rig) start(local *localBroker) {
	r.t.Helper()
	r.local = local
	r.m = metadata.New(metadata.Options{
		Store: r.store, BrokerID: 1, Local: local, Static: config.Defaults(), Clock: clock.System(), Logger: zaptest.NewLogger(r.t),
		Endpoints: []metadata.Endpoint{{Listener: "PLAINTEXT", SecurityProtocol: "PLAINTEXT", Host: "h", Port: 9092}},
		OnConfig: func(kind, name string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.config = append(r.config, kind+"/"+name)
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	m := r.m
	go func() { done <- m.Run(ctx) }()
	var once sync.Once
	s := r.store
	r.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				r.t.Errorf("Run: %v", err)
			}
			if err := s.Close(); err != nil {
				r.t.Error(err)
			}
		})
	}
	r.t.Cleanup(r.stop)
	select {
	case <-m.Ready():
	case err := <-done:
		r.t.Fatal(err)
	}
}

// again stops everything, lets change work on the store, and starts again.
func (r *rig) again(local *localBroker, change func(s store.Store)) {
	r.t.Helper()
	r.stop()
	r.open()
	if change != nil {
		change(r.store)
	}
	r.start(local)
}

func (r *rig) create(topics ...metadata.NewTopic) []metadata.CreatedTopic {
	r.t.Helper()
	out, err := r.m.CreateTopics(r.t.Context(), topics, time.Minute, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func topic(name string, partitions int32) metadata.NewTopic {
	return metadata.NewTopic{Name: name, Partitions: partitions, ReplicationFactor: -1}
}

func (r *rig) znodes(parent string) []string {
	r.t.Helper()
	names, err := r.store.Children(r.t.Context(), parent, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return names
}

func (r *rig) data(path string) string {
	r.t.Helper()
	n, err := r.store.Get(r.t.Context(), path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(n.Data)
}

func TestRegistrationAndElection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stat, _, err := r.store.Exists(t.Context(), znode.BrokerPath(1), nil)
	if err != nil || stat.Czxid != r.m.BrokerEpoch() || r.local.epoch != stat.Czxid || stat.EphemeralOwner != r.store.Session() {
		t.Errorf("%+v, epoch %d, %v", stat, r.m.BrokerEpoch(), err)
	}
	if got := r.data(znode.BrokerPath(1)); !strings.Contains(got, `"endpoints":["PLAINTEXT://h:9092"]`) {
		t.Error(got)
	}
	if got := r.data(znode.ControllerEpochPath); got != "1" {
		t.Error(got)
	}
	im := r.m.Image()
	if im.ControllerID != 1 || im.ClusterID == "" || im.Broker(1).Epoch != stat.Czxid {
		t.Errorf("%+v", im)
	}
	for _, p := range znode.PersistentPaths() {
		r.znodes(p)
	}
	before, id := r.m.BrokerEpoch(), im.ClusterID
	r.again(&localBroker{leads: map[string]int32{}}, nil)
	if r.m.BrokerEpoch() <= before || r.data(znode.ControllerEpochPath) != "2" || r.m.Image().ClusterID != id {
		t.Errorf("epoch %d after %d, controller epoch %s", r.m.BrokerEpoch(), before, r.data(znode.ControllerEpochPath))
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := topic("a", 3)
	a.Config = map[string]string{"retention.ms": "7"}
	out := r.create(a, topic("b.c", -1), topic("bad name", 1), topic("a", 1))
	if out[0].Err != nil || out[0].Partitions != 3 || out[0].ReplicationFactor != 1 || out[0].ID == [16]byte{} {
		t.Errorf("%+v", out[0])
	}
	if out[1].Err != nil || !errors.Is(out[2].Err, kerr.InvalidTopicException) {
		t.Errorf("%+v, %+v", out[1], out[2])
	}
	got := r.m.Image().Topic("a")
	if got == nil || got.ID != out[0].ID || len(got.Partitions) != 3 || r.m.Image().TopicByID(out[0].ID) != got {
		t.Fatalf("%+v", got)
	}
	for _, p := range got.Partitions {
		if p.Leader != 1 || p.LeaderEpoch != 0 || !slices.Equal(p.ISR, []int32{1}) || len(p.Offline) != 0 {
			t.Errorf("%+v", p)
		}
	}
	if r.m.Image().TopicConfig("a")["retention.ms"] != "7" || r.data("/config/topics/a") != `{"version":1,"config":{"retention.ms":"7"}}` {
		t.Error("settings are not there")
	}
	if r.data("/brokers/topics/a/partitions/2/state") != `{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}` {
		t.Error(r.data("/brokers/topics/a/partitions/2/state"))
	}
	out = r.create(topic("a", 0), topic("b_c", 1))
	if !errors.Is(out[0].Err, kerr.TopicAlreadyExists) || !errors.Is(out[1].Err, kerr.InvalidTopicException) {
		t.Errorf("%+v", out)
	}
	if out := r.create(topic("p.q", 1), topic("p_q", 1)); out[0].Err != nil || !errors.Is(out[1].Err, kerr.InvalidTopicException) {
		t.Errorf("%+v", out)
	}
	bad := topic("x", 1)
	bad.Config = map[string]string{"no.such": "1"}
	if out := r.create(bad); !errors.Is(out[0].Err, kerr.InvalidConfig) || !strings.Contains(out[0].Err.Error(), "Unknown topic config name: no.such") {
		t.Errorf("%+v", out)
	}
	if out, err := r.m.CreateTopics(t.Context(), []metadata.NewTopic{topic("v", 2)}, time.Minute, true); err != nil || out[0].Err != nil || out[0].Partitions != 2 || r.m.Image().Topic("v") != nil {
		t.Errorf("%+v, %v", out, err)
	}
	r.local.mu.Lock()
	defer r.local.mu.Unlock()
	if len(r.local.orders) != 2 { // one for all that a call made
		t.Errorf("%d LeaderAndIsr requests", len(r.local.orders))
	}
	if o := r.local.orders[0]; o.BrokerEpoch != r.m.BrokerEpoch() || o.ControllerEpoch != 1 || !o.TopicStates[0].PartitionStates[0].IsNew || len(o.LiveLeaders) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.local.hold = make(chan struct{})
	out, err := r.m.CreateTopics(t.Context(), []metadata.NewTopic{topic("now", 1)}, 0, false)
	if err != nil || !errors.Is(out[0].Err, kerr.RequestTimedOut) || out[0].ID == [16]byte{} || r.m.Image().Topic("now") != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	close(r.local.hold)
	lost := metadata.NewTopic{Name: "lost", Partitions: -1, ReplicationFactor: -1, Assignment: map[int32][]int32{0: {99}}}
	out, err = r.m.CreateTopics(t.Context(), []metadata.NewTopic{lost}, 20*time.Millisecond, false)
	if err != nil || !errors.Is(out[0].Err, kerr.RequestTimedOut) {
		t.Fatalf("%+v, %v", out, err)
	}
	if r.m.Image().Topic("now") == nil || r.m.Image().Topic("lost") != nil {
		t.Error("the first topic must be there by now, and the second has no leader")
	}
	if errs, err := r.m.DeleteTopics(t.Context(), []string{"lost"}, time.Minute); err != nil || errs[0] != nil {
		t.Errorf("%v, %v", errs, err)
	}
	if got := r.znodes("/brokers/topics"); !slices.Equal(got, []string{"now"}) {
		t.Error(got)
	}
}

func TestGrow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(topic("a", 1))
	before := r.m.Image()
	errs, err := r.m.CreatePartitions(t.Context(), []metadata.Growth{{Topic: "a", Count: 3}, {Topic: "none", Count: 3}}, time.Minute, false)
	if err != nil || errs[0] != nil || !errors.Is(errs[1], kerr.UnknownTopicOrPartition) {
		t.Fatal(errs, err)
	}
	if n := len(r.m.Image().Topic("a").Partitions); n != 3 || len(before.Topic("a").Partitions) != 1 {
		t.Errorf("%d partitions", n)
	}
	if errs, err := r.m.CreatePartitions(t.Context(), []metadata.Growth{{Topic: "a", Count: 9}}, time.Minute, true); err != nil || errs[0] != nil || len(r.m.Image().Topic("a").Partitions) != 3 {
		t.Error(errs, err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := topic("a", 2)
	a.Config = map[string]string{"retention.ms": "7"}
	id := r.create(a)[0].ID
	errs, err := r.m.DeleteTopics(t.Context(), []string{"a", "none", "a"}, time.Minute)
	if err != nil || errs[0] != nil || !errors.Is(errs[1], kerr.UnknownTopicOrPartition) || errs[2] != nil {
		t.Fatal(errs, err)
	}
	im := r.m.Image()
	if im.Topic("a") != nil || im.TopicByID(id) != nil || im.TopicConfig("a") != nil || len(r.local.leads) != 0 {
		t.Error("something of the topic is left")
	}
	for _, p := range []string{"/brokers/topics", "/config/topics", "/admin/delete_topics"} {
		if got := r.znodes(p); len(got) != 0 {
			t.Errorf("%s: %v", p, got)
		}
	}
	if again := r.create(topic("a", 1)); again[0].Err != nil || again[0].ID == id {
		t.Errorf("%+v", again)
	}
}

// TestRestart: a start finishes what was half done, and changes no epoch.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.local.noDelete = true
	kept := topic("kept", 2)
	kept.Config = map[string]string{"retention.ms": "7"}
	ids := r.create(kept, topic("dying", 2))
	if errs, err := r.m.DeleteTopics(t.Context(), []string{"dying"}, time.Minute); err != nil || errs[0] != nil {
		t.Fatal(errs, err)
	}
	if out := r.create(topic("dying", 1)); !errors.Is(out[0].Err, kerr.TopicAlreadyExists) || !strings.Contains(out[0].Err.Error(), "marked for deletion") {
		t.Errorf("%+v", out)
	}
	if got := r.znodes("/admin/delete_topics"); !slices.Equal(got, []string{"dying"}) {
		t.Fatalf("the znodes went before the replicas: %v", got)
	}
	next := &localBroker{leads: map[string]int32{}}
	r.again(next, func(s store.Store) {
		doc := znode.Topic{ID: znode.TopicID{5}, Partitions: map[int32][]int32{0: {1}, 1: {1}}}
		for _, op := range []store.Op{
			store.Create("/brokers/topics/born", doc.Encode(), 0), // and the broker died
			store.Create("/brokers/topics/old", []byte(`{"version":1,"partitions":{"0":[1]}}`), 0),
			store.Create("/admin/delete_topics/gone", nil, 0),
			store.Create("/config/topics/gone", znode.EncodeConfig(nil), 0),
		} {
			if _, err := store.Do(t.Context(), s, op); err != nil {
				t.Fatal(err)
			}
		}
	})
	im := r.m.Image()
	if got := im.Topic("kept"); got == nil || got.ID != ids[0].ID || got.Partitions[1].LeaderEpoch != 0 || im.TopicConfig("kept")["retention.ms"] != "7" {
		t.Errorf("%+v", got)
	}
	if got := im.Topic("born"); got == nil || len(got.Partitions) != 2 || got.Partitions[0].Leader != 1 {
		t.Errorf("%+v", got)
	}
	if got := im.Topic("old"); got == nil || got.ID == [16]byte{} || !strings.Contains(r.data("/brokers/topics/old"), znode.FormatTopicID(got.ID)) {
		t.Errorf("a topic without id: %+v", got)
	}
	if im.Topic("dying") != nil || len(r.znodes("/admin/delete_topics")) != 0 {
		t.Error("the deletion did not go on")
	}
	if got := r.znodes("/config/topics"); !slices.Equal(got, []string{"kept"}) && !slices.Equal(got, []string{"born", "kept"}) {
		t.Error(got)
	}
	if got := slices.Sorted(maps.Keys(next.leads)); !slices.Equal(got, []string{"born", "kept", "old"}) || len(next.orders) != 1 || next.orders[0].Type != 2 {
		t.Errorf("%v in %d orders", got, len(next.orders))
	}
}

func TestFailedLogDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.local.failing = map[string]bool{"a": true}
	out, err := r.m.CreateTopics(t.Context(), []metadata.NewTopic{topic("a", 1)}, 10*time.Millisecond, false)
	if err != nil || !errors.Is(out[0].Err, kerr.RequestTimedOut) {
		t.Fatalf("%+v, %v", out, err)
	}
	p := r.m.Image().Topic("a").Partitions[0]
	if p.Leader != image.NoLeader || p.LeaderEpoch != 1 || !slices.Equal(p.Offline, []int32{1}) || !slices.Equal(p.ISR, []int32{1}) {
		t.Errorf("%+v", p)
	}
	r.again(&localBroker{leads: map[string]int32{}}, nil)
	if p := r.m.Image().Topic("a").Partitions[0]; p.Leader != 1 || p.LeaderEpoch != 2 {
		t.Errorf("the directory is well again: %+v", p)
	}
}

func TestSetConfig(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(topic("a", 1))
	ctx := t.Context()
	for _, c := range []struct {
		kind, name string
		values     map[string]string
	}{
		{"topics", "a", map[string]string{"retention.ms": "5"}},
		{"brokers", "<default>", map[string]string{"log.retention.ms": "6"}},
		{"brokers", "1", map[string]string{"log.retention.ms": "7"}},
		{"topics", "a", nil},
	} {
		if err := r.m.SetConfig(ctx, c.kind, c.name, c.values); err != nil {
			t.Fatal(err)
		}
	}
	im := r.m.Image()
	if im.TopicConfig("a") != nil || im.BrokerConfig("")["log.retention.ms"] != "6" || im.BrokerConfig("1")["log.retention.ms"] != "7" {
		t.Error("settings are not in the image")
	}
	if want := []string{"topics/a", "brokers/<default>", "brokers/1", "topics/a"}; !slices.Equal(r.config, want) {
		t.Errorf("heard %v", r.config)
	}
	changes := r.znodes("/config/changes")
	if len(changes) != 4 || r.data("/config/changes/"+changes[1]) != `{"version":2,"entity_path":"brokers/<default>"}` {
		t.Errorf("%v", changes)
	}
	if err := r.m.SetConfig(ctx, "topics", "none", nil); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Error(err)
	}
	r.again(&localBroker{leads: map[string]int32{}}, nil)
	if im := r.m.Image(); im.BrokerConfig("")["log.retention.ms"] != "6" || im.BrokerConfig("1")["log.retention.ms"] != "7" {
		t.Error("settings did not survive")
	}
}

func TestProducerIDsAreNeverReused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := map[int64]bool{}
	var mu sync.Mutex
	take := func(n int) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range n {
					id, err := r.m.NextProducerID(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if seen[id] {
						t.Errorf("%d again", id)
					}
					seen[id] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	take(600)
	if got := r.data(znode.ProducerIDBlockPath); got != `{"version":1,"broker":1,"block_start":"2000","block_end":"2999"}` {
		t.Error(got)
	}
	r.again(&localBroker{leads: map[string]int32{}}, nil)
	take(1)
	if !seen[3000] {
		t.Error("the block after the last one begins at 3000")
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stop()
	if _, err := r.m.CreateTopics(t.Context(), []metadata.NewTopic{topic("a", 1)}, time.Second, false); !errors.Is(err, metadata.ErrStopped) {
		t.Error(err)
	}
}

func TestClusterID(t *testing.T) {
	t.Parallel()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if id, err := metadata.ClusterID(t.Context(), s, "proposed"); err != nil || id != "proposed" {
		t.Error(id, err)
	}
	if id, err := metadata.ClusterID(t.Context(), s, "other"); err != nil || id != "proposed" {
		t.Error(id, err)
	}
}
