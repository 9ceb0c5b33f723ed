package image_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"barnabas/metadata/image"
)

func TestLookups(t *testing.T) {
	t.Parallel()
	e := new(image.Image).Edit()
	e.SetCluster("c", 2)
	e.SetBrokers([]*image.Broker{{ID: 2, Rack: "r"}, {ID: 1, Endpoints: []image.Endpoint{{Listener: "L", Host: "h", Port: 9}}}})
	e.PutTopic(&image.Topic{Name: "b", ID: [16]byte{2}})
	e.PutTopic(&image.Topic{Name: "a", ID: [16]byte{3}})
	e.SetTopicConfig("a", map[string]string{"k": "v"})
	e.SetBrokerConfig("", map[string]string{"d": "1"})
	e.SetBrokerConfig("1", map[string]string{"o": "1"})
	im := e.Done()
	if im.ClusterID != "c" || im.ControllerID != 2 || im.NumBrokers() != 2 || im.Broker(2).Rack != "r" || im.Broker(3) != nil {
		t.Error("the cluster is not as it was put")
	}
	if p, ok := im.Broker(1).Endpoint("L"); !ok || p.Port != 9 {
		t.Error(p, ok)
	}
	if _, ok := im.Broker(2).Endpoint("L"); ok {
		t.Error("an endpoint that is not there")
	}
	if im.TopicByID([16]byte{2}).Name != "b" || im.Topic("a").ID != [16]byte{3} || im.TopicByID([16]byte{9}) != nil {
		t.Error("a topic is not where it should be")
	}
	if im.TopicConfig("a")["k"] != "v" || im.TopicConfig("b") != nil || im.BrokerConfig("")["d"] != "1" || im.BrokerConfig("1")["o"] != "1" {
		t.Error("settings are not as they were put")
	}
	e = im.Edit()
	e.SetTopicConfig("a", nil)
	e.SetBrokerConfig("1", nil)
	if next := e.Done(); next.TopicConfig("a") != nil || next.BrokerConfig("1") != nil || im.TopicConfig("a") == nil {
		t.Error("settings are not gone, or gone from the snapshot before")
	}
}

// TestEditsAgainstMap puts, replaces and removes topics at random and compares
// with a map; the snapshots before stay as they were.
func TestEditsAgainstMap(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	im, want := new(image.Image), map[string][16]byte{}
	for round := range 200 {
		before, names := im, slices.Sorted(maps.Keys(want))
		e := im.Edit()
		for range rnd.IntN(5) {
			name := fmt.Sprint("t", rnd.IntN(30))
			if rnd.IntN(3) == 0 {
				e.RemoveTopic(name)
				delete(want, name)
				continue
			}
			id := [16]byte{byte(rnd.IntN(200)), byte(round), byte(rnd.IntN(250))}
			e.PutTopic(&image.Topic{Name: name, ID: id})
			want[name] = id
		}
		im = e.Done()
		var got []string
		for topic := range im.Topics() {
			got = append(got, topic.Name)
			if topic.ID != want[topic.Name] || im.TopicByID(topic.ID) != topic || im.Topic(topic.Name) != topic {
				t.Fatalf("round %d: %s", round, topic.Name)
			}
		}
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) || im.NumTopics() != len(want) {
			t.Fatalf("round %d: %v", round, got)
		}
		var old []string
		for topic := range before.Topics() {
			old = append(old, topic.Name)
		}
		if !slices.Equal(old, names) {
			t.Fatalf("round %d: the snapshot before changed: %v", round, old)
		}
	}
}

func TestTopicsFrom(t *testing.T) {
	t.Parallel()
	e := new(image.Image).Edit()
	for _, n := range []string{"a", "c", "e"} {
		e.PutTopic(&image.Topic{Name: n})
	}
	im := e.Done()
	for from, want := range map[string]string{"": "ace", "c": "ce", "d": "e", "f": ""} {
		got := ""
		for topic := range im.TopicsFrom(from) {
			got += topic.Name
		}
		if got != want {
			t.Errorf("from %q: %q, want %q", from, got, want)
		}
	}
}

// BenchmarkOneMoreTopic is a change of one topic among 10,000.
func BenchmarkOneMoreTopic(b *testing.B) {
	e := new(image.Image).Edit()
	for i := range 10_000 {
		e.PutTopic(&image.Topic{Name: fmt.Sprintf("topic-%05d", i), ID: [16]byte{byte(i), byte(i >> 8), 1}})
	}
	im := e.Done()
	b.ReportAllocs()
	for b.Loop() {
		e := im.Edit()
		e.PutTopic(&image.Topic{Name: "topic-05000", ID: [16]byte{7, 7, 7}})
		im = e.Done()
	}
}
