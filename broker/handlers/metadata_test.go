package handlers

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestMetadataForms(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	if got := ask[*kmsg.MetadataResponse](c, metadataRequest(12, true)).Topics; len(got) != 0 {
		t.Errorf("a fresh broker has %d topics", len(got))
	}
	c.create(wanted("a", 2, 1), wanted("b", 1, 1))
	none := metadataRequest(12, true)
	none.Topics = []kmsg.MetadataRequestTopic{}
	none0 := metadataRequest(0, true)
	none0.Topics = []kmsg.MetadataRequestTopic{}
	a, b := "a 0 [0 e0 l1 [1]] [1 e0 l1 [1]]", "b 0 [0 e0 l1 [1]]"
	for _, x := range []struct {
		req  *kmsg.MetadataRequest
		want []string
	}{
		{metadataRequest(12, true), []string{a, b}},
		{none, nil},
		{none0, []string{a, b}},
		{metadataRequest(12, false, "b", "b", "none"), []string{b, "none 3"}},
		{metadataRequest(12, true, "a b", ".", ""), []string{"a b 17", ". 17", " 17"}},
	} {
		if d := cmp.Diff(x.want, toldTopics(ask[*kmsg.MetadataResponse](c, x.req))); d != "" {
			t.Error(d)
		}
	}
}

func TestMetadataByID(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	c.create(wanted("a", 1, 1), wanted("b", 1, 1))
	id := ask[*kmsg.MetadataResponse](c, metadataRequest(12, false, "a")).Topics[0].TopicID
	byID := func(version int16, name string, ids ...[16]byte) *kmsg.MetadataRequest {
		req := metadataRequest(version, false)
		for _, id := range ids {
			x := kmsg.NewMetadataRequestTopic()
			x.TopicID = id
			req.Topics = append(req.Topics, x)
		}
		if name != "" {
			req.Topics = append(req.Topics, metadataRequest(version, false, name).Topics...)
		}
		return req
	}
	for _, x := range []struct {
		name string
		req  *kmsg.MetadataRequest
		want []string
	}{
		{"known and unknown", byID(12, "", id, [16]byte{9}), []string{"- 100", "a 0 [0 e0 l1 [1]]"}},
		{"with a name", byID(12, "b", id), []string{"a 0 [0 e0 l1 [1]]"}},
		{"neither", byID(12, "", [16]byte{}), []string{" -1"}},
		{"too early", byID(10, "", id), []string{" 42"}},
	} {
		if d := cmp.Diff(x.want, toldTopics(ask[*kmsg.MetadataResponse](c, x.req))); d != "" {
			t.Errorf("%s: %s", x.name, d)
		}
	}
}

func TestMetadataCreatesTopics(t *testing.T) {
	t.Parallel()
	r := newTopicRig(t, "num.partitions=3")
	c := r.on("IN")
	for version, want := range map[int16]string{3: "v3 5", 12: "v12 5", 13: "v13 3"} {
		name := fmt.Sprint("v", version)
		if d := cmp.Diff([]string{want}, toldTopics(ask[*kmsg.MetadataResponse](c, metadataRequest(version, true, name)))); d != "" {
			t.Error(d)
		}
		c.create(wanted("after-"+name, 1, 1)) // commands take turns: the topic is there now
		if got := ask[*kmsg.MetadataResponse](c, metadataRequest(version, false, name)).Topics[0]; got.ErrorCode != 0 || len(got.Partitions) != 3 {
			t.Errorf("%s: error %d, %d partitions", name, got.ErrorCode, len(got.Partitions))
		}
	}
	if d := cmp.Diff([]string{"ghost 3"}, toldTopics(ask[*kmsg.MetadataResponse](c, metadataRequest(12, false, "ghost")))); d != "" {
		t.Error(d)
	}
	off := newTopicRig(t, "auto.create.topics.enable=false").on("IN")
	if d := cmp.Diff([]string{"never 3"}, toldTopics(ask[*kmsg.MetadataResponse](off, metadataRequest(12, true, "never")))); d != "" {
		t.Error(d)
	}
	if got := ask[*kmsg.MetadataResponse](off, metadataRequest(12, true)).Topics; len(got) != 0 {
		t.Errorf("%d topics were created", len(got))
	}
}

func TestEndpointsAreThoseOfTheListener(t *testing.T) {
	t.Parallel()
	r := newTopicRig(t)
	r.on("IN").create(wanted("t", 1, 1))
	for listener, want := range map[string][]string{"IN": {"1 in.example:1"}, "OUT": {"1 out.example:2"}, "LOST": nil} {
		c := r.on(listener)
		var fromMetadata, fromCluster []string
		for _, b := range ask[*kmsg.MetadataResponse](c, metadataRequest(12, false)).Brokers {
			fromMetadata = append(fromMetadata, fmt.Sprintf("%d %s:%d", b.NodeID, b.Host, b.Port))
		}
		req := kmsg.NewPtrDescribeClusterRequest()
		req.Version = 2
		cluster := ask[*kmsg.DescribeClusterResponse](c, req)
		for _, b := range cluster.Brokers {
			fromCluster = append(fromCluster, fmt.Sprintf("%d %s:%d", b.NodeID, b.Host, b.Port))
		}
		if d := cmp.Diff(want, fromMetadata) + cmp.Diff(want, fromCluster); d != "" {
			t.Errorf("%s: %s", listener, d)
		}
		if controller := int32(len(want)*2 - 1); cluster.ControllerID != controller {
			t.Errorf("%s: controller %d, want %d", listener, cluster.ControllerID, controller)
		}
	}
	for version, want := range map[int16]string{0: "t 0 [0 e5 l-1 []]", 5: "t 0 [0 e5 l-1 [1]]", 6: "t 0 [0 e72 l-1 [1]]"} {
		if d := cmp.Diff([]string{want}, toldTopics(ask[*kmsg.MetadataResponse](r.on("LOST"), metadataRequest(version, false, "t")))); d != "" {
			t.Errorf("version %d: %s", version, d)
		}
	}
}

func TestAuthorizedOperations(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	c.create(wanted("t", 1, 1))
	req := metadataRequest(9, false, "t")
	if got := ask[*kmsg.MetadataResponse](c, req); got.AuthorizedOperations != math.MinInt32 || got.Topics[0].AuthorizedOperations != math.MinInt32 {
		t.Errorf("not asked for: %d, %d", got.AuthorizedOperations, got.Topics[0].AuthorizedOperations)
	}
	req.IncludeClusterAuthorizedOperations, req.IncludeTopicAuthorizedOperations = true, true
	if got := ask[*kmsg.MetadataResponse](c, req); got.AuthorizedOperations != 8096 || got.Topics[0].AuthorizedOperations != 3576 {
		t.Errorf("asked for: %d, %d", got.AuthorizedOperations, got.Topics[0].AuthorizedOperations)
	}
}

func TestDescribeClusterKnowsBrokersOnly(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	for kind, want := range map[int8]string{
		1: "0 -", 0: "115 Unsupported endpoint type 0", 3: "115 Unsupported endpoint type 3",
		2: "114 The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
	} {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.Version, req.EndpointType = 1, kind
		resp := ask[*kmsg.DescribeClusterResponse](c, req)
		if got := fmt.Sprintf("%d %s", resp.ErrorCode, text(resp.ErrorMessage)); got != want {
			t.Errorf("kind %d: %s, want %s", kind, got, want)
		}
	}
}

func TestDescribeTopicPartitionsPages(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t, "max.request.partition.size.limit=4").on("IN")
	c.create(wanted("a", 3, 1), wanted("b", 2, 1), wanted("c", 1, 1))
	page := func(limit int32, cursor string, partition int32, topics ...string) string {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = limit
		for _, name := range topics {
			x := kmsg.NewDescribeTopicPartitionsRequestTopic()
			x.Topic = name
			req.Topics = append(req.Topics, x)
		}
		if cursor != "" {
			x := kmsg.NewDescribeTopicPartitionsRequestCursor()
			x.Topic, x.Partition = cursor, partition
			req.Cursor = &x
		}
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](c, req)
		out := ""
		for _, x := range resp.Topics {
			out += fmt.Sprintf("%s e%d", text(x.Topic), x.ErrorCode)
			for _, p := range x.Partitions {
				out += fmt.Sprint(" ", p.Partition)
			}
			out += "; "
		}
		if resp.NextCursor != nil {
			out += fmt.Sprintf("> %s %d", resp.NextCursor.Topic, resp.NextCursor.Partition)
		}
		return out
	}
	for _, x := range []struct{ got, want string }{
		{page(100, "", 0), "a e0 0 1 2; b e0 0; > b 1"},
		{page(100, "b", 1), "b e0 1; c e0 0; "},
		{page(0, "", 0, "b", "a"), "a e0 0; > a 1"},
		{page(3, "", 0, "b", "a", "a"), "a e0 0 1 2; > b 0"},
		{page(9, "", 0, "c", "none", "a b"), "a b e17; c e0 0; none e3; "},
		{page(9, "b", -1, "b"), "b e42; "},
		{page(9, "none", 0, "b"), "b e42; "},
	} {
		if x.got != x.want {
			t.Errorf("got  %s\nwant %s", x.got, x.want)
		}
	}
}

func TestInitProducerID(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	seen := map[int64]bool{}
	for range 2100 { // more than two blocks
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.TransactionTimeoutMillis = 4, math.MaxInt32
		resp := ask[*kmsg.InitProducerIDResponse](c, req)
		if resp.ErrorCode != 0 || resp.ProducerEpoch != 0 || seen[resp.ProducerID] {
			t.Fatalf("error %d, producer id %d (seen %v), epoch %d", resp.ErrorCode, resp.ProducerID, seen[resp.ProducerID], resp.ProducerEpoch)
		}
		seen[resp.ProducerID] = true
	}
	for _, x := range []struct {
		id      string
		timeout int32
		pid     int64
		epoch   int16
		want    int16
	}{
		{"", 60000, -1, -1, 42},
		{"tx", 3600000, -1, -1, 50},
		{"tx", 0, -1, -1, 50},
		{"tx", -1, -1, -1, 50},
		{"tx", 900000, -1, -1, 15},
		{"tx", 60000, 5, -1, 42},
		{"tx", 60000, -1, 5, 42},
	} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.TransactionalID, req.TransactionTimeoutMillis, req.ProducerID, req.ProducerEpoch = 4, &x.id, x.timeout, x.pid, x.epoch
		if resp := ask[*kmsg.InitProducerIDResponse](c, req); resp.ErrorCode != x.want || resp.ProducerID != -1 || resp.ProducerEpoch != -1 {
			t.Errorf("%+v: error %d, producer %d, epoch %d", x, resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch)
		}
	}
}

func TestTopicAnswersAtEveryVersion(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	c.create(wanted("t", 1, 1))
	for _, req := range []kmsg.Request{
		metadataRequest(0, true, "t"), createRequest(0, wanted("t", 1, 1)), kmsg.NewPtrDeleteTopicsRequest(),
		kmsg.NewPtrCreatePartitionsRequest(), kmsg.NewPtrDescribeClusterRequest(), kmsg.NewPtrDescribeTopicPartitionsRequest(),
		kmsg.NewPtrInitProducerIDRequest(),
	} {
		for v := int16(0); v <= req.MaxVersion(); v++ {
			req.SetVersion(v)
			c.send(req)
			if _, ok := c.receive(req); !ok {
				t.Fatalf("%T version %d closed the connection", req, v)
			}
		}
	}
}
