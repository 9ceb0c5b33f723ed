package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// toldCreated is one line a topic.
func toldCreated(resp *kmsg.CreateTopicsResponse) (out []string) {
	for _, t := range resp.Topics {
		out = append(out, fmt.Sprintf("%s %d %s p%d r%d c%d id=%v", t.Topic, t.ErrorCode, text(t.ErrorMessage), t.NumPartitions, t.ReplicationFactor,
			len(t.Configs), t.TopicID != [16]byte{}))
	}
	return out
}

func TestCreateTopicsAnswers(t *testing.T) {
	t.Parallel()
	r := newTopicRig(t, "num.partitions=4")
	c := r.on("IN")
	c.create(wanted("there", 1, 1), wanted("a.b", 1, 1))
	both := wanted("both", 2, 1)
	both.ReplicaAssignment = assignment([]int32{1}, []int32{1})
	manual := wanted("manual", -1, -1)
	manual.ReplicaAssignment = assignment([]int32{1}, []int32{1})
	nobody := wanted("nobody", -1, -1)
	nobody.ReplicaAssignment = assignment([]int32{9})
	for _, x := range []struct {
		topics []kmsg.CreateTopicsRequestTopic
		want   []string
	}{
		{[]kmsg.CreateTopicsRequestTopic{wanted("new", 3, 1)}, []string{"new 0 - p3 r1 c36 id=true"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("usual", -1, -1)}, []string{"usual 0 - p4 r1 c36 id=true"}},
		{[]kmsg.CreateTopicsRequestTopic{manual}, []string{"manual 0 - p2 r1 c36 id=true"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("there", 0, 9, "no.such", "1")}, []string{"there 36 Topic 'there' already exists. p-1 r-1 c0 id=false"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("a_b", 1, 1)}, []string{"a_b 17 Topic 'a_b' collides with existing topics: a.b p-1 r-1 c0 id=false"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("p0", 0, 9)}, []string{"p0 37 Number of partitions must be larger than 0. p-1 r-1 c0 id=false"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("r2", 1, 2)}, []string{"r2 38 Replication factor: 2 larger than available brokers: 1. p-1 r-1 c0 id=false"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("", 1, 1)}, []string{" 17 Topic name is invalid: the empty string is not allowed p-1 r-1 c0 id=false"}},
		{
			[]kmsg.CreateTopicsRequestTopic{wanted("bad", 1, 1, "retention.ms", "soon")},
			[]string{"bad 40 Invalid value soon for configuration retention.ms: Not a number of type LONG p-1 r-1 c0 id=false"},
		},
		{[]kmsg.CreateTopicsRequestTopic{both}, []string{"both 42 Both numPartitions or replicationFactor and replicasAssignments were set. " +
			"Both cannot be used at the same time. p-1 r-1 c0 id=false"}},
		{[]kmsg.CreateTopicsRequestTopic{wanted("twice", 1, 1), wanted("once", 1, 1), wanted("twice", 2, 1)}, []string{
			"twice 42 Found multiple entries for this topic. p-1 r-1 c0 id=false", "once 0 - p1 r1 c36 id=true",
			"twice 42 Found multiple entries for this topic. p-1 r-1 c0 id=false",
		}},
		{
			[]kmsg.CreateTopicsRequestTopic{wanted("__cluster_metadata", 1, 1)},
			[]string{"__cluster_metadata 42 Creation of internal topic __cluster_metadata is prohibited. p-1 r-1 c0 id=false"},
		},
		{nil, nil},
	} {
		if d := cmp.Diff(x.want, toldCreated(ask[*kmsg.CreateTopicsResponse](c, createRequest(7, x.topics...)))); d != "" {
			t.Error(d)
		}
	}
	late := createRequest(7, nobody)
	late.TimeoutMillis = 50
	if d := cmp.Diff([]string{"nobody 7 - p-1 r-1 c0 id=true"}, toldCreated(ask[*kmsg.CreateTopicsResponse](c, late))); d != "" {
		t.Error(d)
	}
}

func assignment(parts ...[]int32) (out []kmsg.CreateTopicsRequestTopicReplicaAssignment) {
	for i, p := range parts {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), p
		out = append(out, a)
	}
	return out
}

func TestCreateTopicsCanOnlyValidate(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	req := createRequest(5, wanted("t", 3, 1, "retention.ms", " 1000 "))
	req.ValidateOnly = true
	resp := ask[*kmsg.CreateTopicsResponse](c, req)
	if d := cmp.Diff([]string{"t 0 - p3 r1 c36 id=false"}, toldCreated(resp)); d != "" {
		t.Error(d)
	}
	i := slices.IndexFunc(resp.Topics[0].Configs, func(e kmsg.CreateTopicsResponseTopicConfig) bool { return e.Name == "retention.ms" })
	if e := resp.Topics[0].Configs[i]; text(e.Value) != "1000" || e.Source != 1 {
		t.Errorf("retention.ms = %s from %d", text(e.Value), e.Source)
	}
	if d := cmp.Diff([]string{"t 3"}, toldTopics(ask[*kmsg.MetadataResponse](c, metadataRequest(12, false, "t")))); d != "" {
		t.Error(d)
	}
}

// toldTopics is one line a topic of a Metadata answer.
func toldTopics(resp *kmsg.MetadataResponse) (out []string) {
	for _, t := range resp.Topics {
		line := fmt.Sprintf("%s %d", text(t.Topic), t.ErrorCode)
		for _, p := range t.Partitions {
			line += fmt.Sprintf(" [%d e%d l%d %v]", p.Partition, p.ErrorCode, p.Leader, p.Replicas)
		}
		out = append(out, line)
	}
	return out
}

func TestDeleteTopicsAnswers(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	c.create(wanted("a", 2, 1), wanted("b", 1, 1), wanted("d", 1, 1))
	ids := map[string][16]byte{}
	for _, x := range ask[*kmsg.MetadataResponse](c, metadataRequest(12, false)).Topics {
		ids[*x.Topic] = x.TopicID
	}
	named := func(name string, id [16]byte) (x kmsg.DeleteTopicsRequestTopic) {
		if name != "" {
			x.Topic = &name
		}
		x.TopicID = id
		return x
	}
	for _, x := range []struct {
		topics []kmsg.DeleteTopicsRequestTopic
		want   []string
	}{
		{[]kmsg.DeleteTopicsRequestTopic{named("none", [16]byte{}), named("", [16]byte{1}), named("", [16]byte{})}, []string{"none 3", "- 100", "- 29"}},
		{[]kmsg.DeleteTopicsRequestTopic{named("a", ids["a"])}, []string{"a 42"}},
		{[]kmsg.DeleteTopicsRequestTopic{named("a", [16]byte{}), named("", ids["b"]), named("a", [16]byte{})}, []string{"a 0", "b 0", "a 0"}},
		{[]kmsg.DeleteTopicsRequestTopic{named("a", [16]byte{}), named("", ids["b"])}, []string{"a 3", "- 100"}},
	} {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TimeoutMillis, req.Topics = 6, 10_000, x.topics
		var got []string
		for _, a := range ask[*kmsg.DeleteTopicsResponse](c, req).Topics {
			got = append(got, fmt.Sprintf("%s %d", text(a.Topic), a.ErrorCode))
		}
		if d := cmp.Diff(x.want, got); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff([]string{"d 0 [0 e0 l1 [1]]"}, toldTopics(ask[*kmsg.MetadataResponse](c, metadataRequest(12, false)))); d != "" {
		t.Error(d)
	}
	c.create(wanted("a", 1, 1)) // the name is free again, under another id
	if again := ask[*kmsg.MetadataResponse](c, metadataRequest(12, false, "a")).Topics[0].TopicID; again == ids["a"] {
		t.Error("a topic came back with its old id")
	}
}

func TestDeletionCanBeDisabled(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t, "delete.topic.enable=false").on("IN")
	for version, want := range map[int16]int16{2: 42, 5: 73} {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TopicNames = version, []string{"t"}
		if got := ask[*kmsg.DeleteTopicsResponse](c, req).Topics[0].ErrorCode; got != want {
			t.Errorf("version %d: %d, want %d", version, got, want)
		}
	}
}

func TestCreatePartitionsAnswers(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	c.create(wanted("t", 1, 1))
	grow := func(topic string, count int32, parts ...[]int32) kmsg.CreatePartitionsRequestTopic {
		x := kmsg.NewCreatePartitionsRequestTopic()
		x.Topic, x.Count = topic, count
		for _, p := range parts {
			a := kmsg.NewCreatePartitionsRequestTopicAssignment()
			a.Replicas = p
			x.Assignment = append(x.Assignment, a)
		}
		return x
	}
	empty := grow("t", 3)
	empty.Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{}
	for _, x := range []struct {
		validate bool
		topics   []kmsg.CreatePartitionsRequestTopic
		want     []string
	}{
		{false, []kmsg.CreatePartitionsRequestTopic{grow("none", 3), grow("", 3)}, []string{"none 3 The topic 'none' does not exist.", " -1 -"}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 2), grow("t", 3)}, []string{"t 42 Duplicate topic in request."}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 1)}, []string{"t 37 Topic already has 1 partitions."}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 0)}, []string{"t 37 Topic currently has 1 partitions, which is higher than the requested 0."}},
		{false, []kmsg.CreatePartitionsRequestTopic{empty}, []string{"t 39 Increasing the number of partitions by 2 but 0 assignments provided."}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 2, []int32{9})}, []string{"t 39 Unknown broker(s) in replica assignment: 9."}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 2, []int32{})}, []string{"t 39 Cannot have replication factor of 0 for partition id 1."}},
		{
			false,
			[]kmsg.CreatePartitionsRequestTopic{grow("t", 2, []int32{1, 1})},
			[]string{"t 39 Duplicate brokers not allowed in replica assignment: 1, 1 for partition id 1."},
		},
		{true, []kmsg.CreatePartitionsRequestTopic{grow("t", 5)}, []string{"t 0 -"}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 2)}, []string{"t 0 -"}},
		{false, []kmsg.CreatePartitionsRequestTopic{grow("t", 3, []int32{1})}, []string{"t 0 -"}},
	} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Version, req.TimeoutMillis, req.ValidateOnly, req.Topics = 3, 10_000, x.validate, x.topics
		var got []string
		for _, a := range ask[*kmsg.CreatePartitionsResponse](c, req).Topics {
			got = append(got, fmt.Sprintf("%s %d %s", a.Topic, a.ErrorCode, text(a.ErrorMessage)))
		}
		if d := cmp.Diff(x.want, got); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff([]string{"t 0 [0 e0 l1 [1]] [1 e0 l1 [1]] [2 e0 l1 [1]]"}, toldTopics(ask[*kmsg.MetadataResponse](c, metadataRequest(12, false, "t")))); d != "" {
		t.Error(d)
	}
}

func TestNamesInRequestsMayBeLong(t *testing.T) {
	t.Parallel()
	c := newTopicRig(t).on("IN")
	for n, want := range map[int]int16{249: 0, 250: 17} {
		resp := ask[*kmsg.CreateTopicsResponse](c, createRequest(4, wanted(strings.Repeat("n", n), 1, 1)))
		if got := resp.Topics[0].ErrorCode; got != want {
			t.Errorf("a name of %d: %d, want %d", n, got, want)
		}
	}
}
