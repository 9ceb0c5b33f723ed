package handlers

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/broker/server"
	"barnabas/config"
	"barnabas/internal/clock"
	"barnabas/metadata"
	"barnabas/metadata/store/embedded"
)

// topicRig is a broker with the APIs about topics only: real metadata on a file,
// a real server with two listeners, and replicas that do as they are told.
type topicRig struct {
	t    testing.TB
	h    *Handlers
	meta *metadata.Metadata
	addr map[string]string // by listener
}

// obedient is a broker whose replicas have no logs.
type obedient struct{}

func (obedient) LeaderAndISR(req *kmsg.LeaderAndISRRequest) *kmsg.LeaderAndISRResponse {
	resp := req.ResponseKind().(*kmsg.LeaderAndISRResponse)
	for i := range req.TopicStates {
		t := kmsg.NewLeaderAndISRResponseTopic()
		t.TopicID = req.TopicStates[i].TopicID
		for _, p := range req.TopicStates[i].PartitionStates {
			a := kmsg.NewLeaderAndISRResponseTopicPartition()
			a.Partition = p.Partition
			t.Partitions = append(t.Partitions, a)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func (obedient) StopReplica(req *kmsg.StopReplicaRequest) *kmsg.StopReplicaResponse {
	resp := req.ResponseKind().(*kmsg.StopReplicaResponse)
	for i := range req.Topics {
		for _, p := range req.Topics[i].PartitionStates {
			a := kmsg.NewStopReplicaResponsePartition()
			a.Topic, a.Partition = req.Topics[i].Topic, p.Partition
			resp.Partitions = append(resp.Partitions, a)
		}
	}
	return resp
}

func newTopicRig(t testing.TB, overrides ...string) *topicRig {
	t.Helper()
	static, _, err := config.Load(config.LoadOptions{Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	file, err := embedded.Open(filepath.Join(t.TempDir(), "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	endpoints := []metadata.Endpoint{
		{Listener: "IN", SecurityProtocol: "PLAINTEXT", Host: "in.example", Port: 1},
		{Listener: "OUT", SecurityProtocol: "PLAINTEXT", Host: "out.example", Port: 2},
	}
	r := &topicRig{t: t, addr: make(map[string]string)}
	r.meta = metadata.New(metadata.Options{
		Store: file, BrokerID: 1, Endpoints: endpoints, Local: obedient{}, Static: static, Clock: clock.System(), Logger: zap.NewNop(),
	})
	r.h = New(Options{Static: static, Metadata: r.meta, BrokerID: 1, Clock: clock.System(), Logger: zap.NewNop()})
	srv, err := server.New(server.Options{
		Listeners: []server.Listener{{Name: "IN", Address: "127.0.0.1:0"}, {Name: "OUT", Address: "127.0.0.1:0"}, {Name: "LOST", Address: "127.0.0.1:0"}},
		Routes: map[int16]server.Handler{
			kmsg.Metadata.Int16():                route(r.h.metadata),
			kmsg.CreateTopics.Int16():            route(r.h.createTopics),
			kmsg.DeleteTopics.Int16():            route(r.h.deleteTopics),
			kmsg.CreatePartitions.Int16():        route(r.h.createPartitions),
			kmsg.DescribeCluster.Int16():         route(r.h.describeCluster),
			kmsg.DescribeTopicPartitions.Int16(): route(r.h.describeTopicPartitions),
			kmsg.InitProducerID.Int16():          route(r.h.initProducerID),
		},
		Clock: clock.System(), Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"IN", "OUT", "LOST"} {
		r.addr[name] = srv.Addrs()[i].String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.meta.Run(ctx); err != nil {
			t.Errorf("metadata: %v", err)
		}
	})
	wg.Go(func() { _ = srv.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := file.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	<-r.meta.Ready()
	return r
}

// on connects to a listener.
func (r *topicRig) on(listener string) *client {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.addr[listener])
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return &client{t: r.t, nc: nc}
}

// wanted is one topic of a CreateTopics request.
func wanted(name string, partitions int32, replicas int16, configs ...string) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, replicas
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, c)
	}
	return t
}

func createRequest(version int16, topics ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis, req.Topics = version, 10_000, topics
	return req
}

// create makes topics that are fine.
func (c *client) create(topics ...kmsg.CreateTopicsRequestTopic) {
	c.t.Helper()
	for _, t := range ask[*kmsg.CreateTopicsResponse](c, createRequest(7, topics...)).Topics {
		if t.ErrorCode != 0 {
			c.t.Fatalf("create %s: %v", t.Topic, kerr.ErrorForCode(t.ErrorCode))
		}
	}
}

func metadataRequest(version int16, create bool, names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.AllowAutoTopicCreation = version, create
	for _, n := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &n
		req.Topics = append(req.Topics, t)
	}
	return req
}
