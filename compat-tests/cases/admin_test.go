package cases

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
)

// C41: topics of a fresh broker.
func TestC41(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	list := func() []string {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = nil
		names := []string{}
		for _, topic := range harness.Do[*kmsg.MetadataResponse](c, req, 12).Topics {
			names = append(names, *topic.Topic)
		}
		return names
	}
	if names := list(); len(names) != 0 {
		t.Errorf("a fresh broker has %v", names)
	}
	c.CreateTopic("first", 1)
	if names := list(); !slices.Equal(names, []string{"first"}) {
		t.Errorf("topics %v", names)
	}
	none := metadata(c, 12)
	if len(none.Topics) != 0 || len(none.Brokers) != 1 || none.ControllerID != 1 || none.ClusterID == nil {
		t.Errorf("an empty list of topics: %+v", none)
	}
	if d := harness.Do[*kmsg.DescribeClusterResponse](c, kmsg.NewPtrDescribeClusterRequest(), 0); d.ClusterID != *none.ClusterID || len(d.Brokers) != 1 {
		t.Errorf("DescribeCluster: %+v", d)
	}
}

// C42: looking does not create, producing does if it may.
func TestC42(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed")
	}
	b := harness.Start(t)
	c := b.Dial()
	if m := metadata(c, 12, "ghost"); m.Topics[0].ErrorCode != 3 || len(metadata(c, 12).Topics) != 0 {
		t.Errorf("ghost: %+v", m.Topics[0])
	}
	produce := func(b *harness.Broker, topic string) error {
		cmd := exec.Command("kcat", "-P", "-b", b.Addr, "-t", topic, "-X", "message.timeout.ms=3000")
		cmd.Stdin = strings.NewReader("a\n")
		out, err := cmd.CombinedOutput()
		if err == nil && strings.Contains(string(out), "Delivery failed") {
			err = fmt.Errorf("%s", out)
		}
		return err
	}
	if err := produce(b, "made"); err != nil {
		t.Error(err)
	}
	if end := c.ListOffset("made", -1).Offset; end != 1 {
		t.Errorf("made ends at %d", end)
	}
	off := harness.Start(t, "auto.create.topics.enable=false")
	if err := produce(off, "never"); err == nil {
		t.Error("producing to a topic that may not be created succeeded")
	}
	if m := metadata(off.Dial(), 12, "never"); m.Topics[0].ErrorCode != 3 {
		t.Errorf("never: %+v", m.Topics[0])
	}
}

// C45 (its addresses): each listener tells its own address.
func TestC45(t *testing.T) {
	t.Parallel()
	in, out := harness.FreePort(t), harness.FreePort(t)
	harness.StartAt(t, fmt.Sprintf("127.0.0.1:%d", out),
		fmt.Sprintf("listeners=IN://127.0.0.1:%d,OUT://127.0.0.1:%d", in, out),
		fmt.Sprintf("advertised.listeners=IN://127.0.0.1:%d,OUT://localhost:%d", in, out),
		"listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT", "inter.broker.listener.name=IN")
	for port, host := range map[int]string{in: "127.0.0.1", out: "localhost"} {
		c := harness.DialAddr(t, fmt.Sprintf("127.0.0.1:%d", port))
		m := metadata(c, 12)
		d := harness.Do[*kmsg.DescribeClusterResponse](c, kmsg.NewPtrDescribeClusterRequest(), 0)
		if len(m.Brokers) != 1 || m.Brokers[0].Host != host || int(m.Brokers[0].Port) != port || d.Brokers[0].Host != host || int(d.Brokers[0].Port) != port {
			t.Errorf("port %d: Metadata %+v, DescribeCluster %+v", port, m.Brokers, d.Brokers)
		}
	}
}

// C74: what CreateTopics refuses, and validate_only.
func TestC74(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	create := func(name string, partitions int32, replicas int16, validate bool, config ...string) (int16, string) {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly = 10000, validate
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, partitions, replicas
		for i := 0; i+1 < len(config); i += 2 {
			cfg := kmsg.NewCreateTopicsRequestTopicConfig()
			cfg.Name, cfg.Value = config[i], &config[i+1]
			rt.Configs = append(rt.Configs, cfg)
		}
		req.Topics = append(req.Topics, rt)
		r := harness.Do[*kmsg.CreateTopicsResponse](c, req, 5).Topics[0]
		if r.ErrorMessage == nil {
			return r.ErrorCode, ""
		}
		return r.ErrorCode, *r.ErrorMessage
	}
	for _, x := range []struct {
		name       string
		partitions int32
		replicas   int16
		validate   bool
		config     []string
		code       int16
	}{
		{name: "ok", partitions: 1, replicas: 1},
		{name: "ok", partitions: 1, replicas: 1, code: 36},
		{name: "ok", partitions: 1, replicas: 1, validate: true, code: 36},
		{name: "rf", partitions: 1, replicas: 3, code: 38},
		{name: "none", partitions: 0, replicas: 1, code: 37},
		{name: "bad name!", partitions: 1, replicas: 1, code: 17},
		{name: "a.b", partitions: 1, replicas: 1},
		{name: "a_b", partitions: 1, replicas: 1, code: 17},
		{name: "cfg", partitions: 1, replicas: 1, config: []string{"foo", "bar"}, code: 40},
		{name: "only", partitions: 1, replicas: 1, validate: true},
	} {
		code, message := create(x.name, x.partitions, x.replicas, x.validate, x.config...)
		if code != x.code || (code != 0 && message == "") {
			t.Errorf("%+v: error %d %q", x, code, message)
		}
	}
	if m := metadata(c, 12, "only"); m.Topics[0].ErrorCode != 3 {
		t.Error("a topic was created that was only to be validated")
	}
}

// C75: the broker's defaults, and assignments.
func TestC75(t *testing.T) {
	t.Parallel()
	c := harness.Start(t, "num.partitions=4").Dial()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10000
	d, a := kmsg.NewCreateTopicsRequestTopic(), kmsg.NewCreateTopicsRequestTopic()
	d.Topic, d.NumPartitions, d.ReplicationFactor = "d", -1, -1
	a.Topic, a.NumPartitions, a.ReplicationFactor = "a", -1, -1
	ra := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	ra.Replicas = []int32{1}
	a.ReplicaAssignment = append(a.ReplicaAssignment, ra)
	req.Topics = append(req.Topics, d, a)
	r := harness.Do[*kmsg.CreateTopicsResponse](c, req, 5)
	for i, want := range []int32{4, 1} {
		if x := r.Topics[i]; x.ErrorCode != 0 || x.NumPartitions != want || x.ReplicationFactor != 1 {
			t.Errorf("%+v", x)
		}
	}
	if m := metadata(c, 12, "d"); len(m.Topics[0].Partitions) != 4 {
		t.Errorf("%d partitions", len(m.Topics[0].Partitions))
	}
}

// C77: DeleteRecords below the start does nothing, above the end it is refused.
func TestC77(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("t", 1)
	for range 10 {
		c.Produce(9, "t", 0, plain("a"))
	}
	for _, x := range []struct {
		offset int64
		code   int16
		low    int64
	}{{4, 0, 4}, {2, 0, 4}, {11, 1, -1}, {-1, 0, 10}} {
		if p := deleteRecords(t, c, "t", x.offset); p.ErrorCode != x.code || p.LowWatermark != x.low {
			t.Errorf("%d: %+v", x.offset, p)
		}
	}
	if p := c.Produce(9, "t", 0, plain("b")); p.BaseOffset != 10 {
		t.Errorf("%+v", p)
	}
	if p := c.Fetch(11, "t", 0, 9); p.ErrorCode != 1 {
		t.Errorf("a deleted offset: error %d", p.ErrorCode)
	}
	c.CreateTopic("c", 1, "cleanup.policy", "compact")
	if p := deleteRecords(t, c, "c", 1); p.ErrorCode != 44 {
		t.Errorf("a compacted topic: %+v", p)
	}
	b.Stop()
	b.Restart()
	if start := b.Dial().ListOffset("t", -2).Offset; start != 10 {
		t.Errorf("the log starts at %d after a restart", start)
	}
}

// C78: log directories and what they hold.
func TestC78(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("t", 2)
	ask := func(topics ...kmsg.DescribeLogDirsRequestTopic) kmsg.DescribeLogDirsResponseDir {
		t.Helper()
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Topics = topics
		r := harness.Do[*kmsg.DescribeLogDirsResponse](c, req, 4)
		if len(r.Dirs) != 1 || r.Dirs[0].ErrorCode != 0 || r.Dirs[0].Dir != b.Dir || r.Dirs[0].TotalBytes <= 0 || r.Dirs[0].UsableBytes <= 0 {
			t.Fatalf("%+v", r)
		}
		return r.Dirs[0]
	}
	before := ask()
	if len(before.Topics) != 1 || len(before.Topics[0].Partitions) != 2 || before.Topics[0].Partitions[0].Size != 0 {
		t.Errorf("%+v", before)
	}
	c.Produce(9, "t", 0, plain(strings.Repeat("x", 1<<20-1000)))
	if p := ask().Topics[0].Partitions[0]; p.Size < 1<<20-1000 || p.IsFuture || p.OffsetLag != 0 {
		t.Errorf("%+v", p)
	}
	nope := kmsg.NewDescribeLogDirsRequestTopic()
	nope.Topic, nope.Partitions = "nope", []int32{0}
	if d := ask(nope); len(d.Topics) != 0 {
		t.Errorf("an unknown topic: %+v", d)
	}
}

// C81 (without consumers): growing a topic.
func TestC81(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("p", 2)
	for _, x := range []struct {
		topic    string
		count    int32
		validate bool
		code     int16
	}{{"p", 5, false, 0}, {"p", 5, false, 37}, {"p", 3, false, 37}, {"nosuch", 2, false, 3}, {"p", 6, true, 0}} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.TimeoutMillis, req.ValidateOnly = 5000, x.validate
		rt := kmsg.NewCreatePartitionsRequestTopic()
		rt.Topic, rt.Count = x.topic, x.count
		req.Topics = append(req.Topics, rt)
		if r := harness.Do[*kmsg.CreatePartitionsResponse](c, req, 1).Topics[0]; r.ErrorCode != x.code {
			t.Errorf("%+v: error %d", x, r.ErrorCode)
		}
	}
	if n := len(metadata(c, 12, "p").Topics[0].Partitions); n != 5 {
		t.Errorf("%d partitions", n)
	}
	for p := range int32(5) {
		if r := c.Produce(9, "p", p, plain("a")); r.ErrorCode != 0 {
			t.Errorf("partition %d: error %d", p, r.ErrorCode)
		}
	}
}
