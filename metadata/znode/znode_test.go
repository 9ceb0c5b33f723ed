package znode_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"barnabas/metadata/znode"
)

var someID = znode.TopicID{0xfb, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// TestGolden: what we write is what Kafka 3.9 writes, and we read it again.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		doc        any
		encode     func() []byte
		decode     func([]byte) (any, error)
	}{
		{
			"cluster id", `{"version":"1","id":"abc"}`, "abc",
			func() []byte { return znode.EncodeClusterID("abc") },
			func(b []byte) (any, error) { return znode.DecodeClusterID(b) },
		},
		{
			"controller", `{"version":2,"brokerid":1,"timestamp":"99","kraftControllerEpoch":-1}`, &znode.Controller{BrokerID: 1, TimestampMs: 99},
			(&znode.Controller{BrokerID: 1, TimestampMs: 99}).Encode,
			func(b []byte) (any, error) { return znode.DecodeController(b) },
		},
		{
			"controller epoch", `7`, int32(7),
			func() []byte { return znode.EncodeControllerEpoch(7) },
			func(b []byte) (any, error) { return znode.DecodeControllerEpoch(b) },
		},
		{
			"topic", `{"version":3,"topic_id":"-wECAwQFBgcICQoLDA0ODw","partitions":{"0":[1,2],"10":[3]},"adding_replicas":{"0":[2]},"removing_replicas":{}}`,
			&znode.Topic{ID: someID, Partitions: map[int32][]int32{0: {1, 2}, 10: {3}}, Adding: map[int32][]int32{0: {2}}, Removing: map[int32][]int32{}},
			(&znode.Topic{ID: someID, Partitions: map[int32][]int32{0: {1, 2}, 10: {3}}, Adding: map[int32][]int32{0: {2}}}).Encode,
			func(b []byte) (any, error) { return znode.DecodeTopic(b) },
		},
		{
			"partition state", `{"controller_epoch":5,"leader":1,"version":1,"leader_epoch":2,"isr":[1,2]}`,
			&znode.PartitionState{Leader: 1, LeaderEpoch: 2, ControllerEpoch: 5, ISR: []int32{1, 2}},
			(&znode.PartitionState{Leader: 1, LeaderEpoch: 2, ControllerEpoch: 5, ISR: []int32{1, 2}}).Encode,
			func(b []byte) (any, error) { return znode.DecodePartitionState(b) },
		},
		{
			"recovering", `{"controller_epoch":5,"leader":1,"version":1,"leader_epoch":2,"isr":[1],"leader_recovery_state":1}`,
			&znode.PartitionState{Leader: 1, LeaderEpoch: 2, ControllerEpoch: 5, ISR: []int32{1}, Recovery: znode.Recovering},
			(&znode.PartitionState{Leader: 1, LeaderEpoch: 2, ControllerEpoch: 5, ISR: []int32{1}, Recovery: znode.Recovering}).Encode,
			func(b []byte) (any, error) { return znode.DecodePartitionState(b) },
		},
		{
			"config", `{"version":1,"config":{"retention.ms":"1"}}`,
			map[string]string{"retention.ms": "1"},
			func() []byte { return znode.EncodeConfig(map[string]string{"retention.ms": "1"}) },
			func(b []byte) (any, error) { return znode.DecodeConfig(b) },
		},
		{
			"config change", `{"version":2,"entity_path":"topics/t"}`, "topics/t",
			func() []byte { return znode.EncodeConfigChange("topics/t") },
			func(b []byte) (any, error) { return znode.DecodeConfigChange(b) },
		},
		{
			"producer ids", `{"version":1,"broker":1,"block_start":"0","block_end":"999"}`, &znode.ProducerIDBlock{BrokerID: 1, First: 0, Last: 999},
			(&znode.ProducerIDBlock{BrokerID: 1, First: 0, Last: 999}).Encode,
			func(b []byte) (any, error) { return znode.DecodeProducerIDBlock(b) },
		},
		{
			"broker", `{"version":5,"host":"h","port":9092,"jmx_port":-1,"timestamp":"42","endpoints":["SASL://h:9093","INSIDE://h:9092"],` +
				`"listener_security_protocol_map":{"INSIDE":"PLAINTEXT","SASL":"SASL_SSL"},"rack":"r","features":{}}`, someBroker(), someBroker().Encode,
			func(b []byte) (any, error) { return znode.DecodeBroker(b) },
		},
		{
			"log dir event", `{"version":1,"broker":1,"event":1}`, &znode.LogDirEvent{BrokerID: 1, Event: 1},
			(&znode.LogDirEvent{BrokerID: 1, Event: 1}).Encode,
			func(b []byte) (any, error) { return znode.DecodeLogDirEvent(b) },
		},
		{
			"acl", `{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"}]}`,
			[]znode.ACLEntry{{Principal: "User:a", PermissionType: "Allow", Operation: "Read", Host: "*"}},
			func() []byte {
				return znode.EncodeACL([]znode.ACLEntry{{Principal: "User:a", PermissionType: "Allow", Operation: "Read", Host: "*"}})
			},
			func(b []byte) (any, error) { return znode.DecodeACL(b) },
		},
	} {
		if got := c.encode(); string(got) != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
		if got, err := c.decode([]byte(c.want)); err != nil || !reflect.DeepEqual(got, c.doc) {
			t.Errorf("%s: read %+v, %v; want %+v", c.name, got, err, c.doc)
		}
	}
}

func someBroker() *znode.Broker {
	return &znode.Broker{
		Endpoints: []znode.Endpoint{{Listener: "SASL", SecurityProtocol: "SASL_SSL", Host: "h", Port: 9093}, {Listener: "INSIDE", SecurityProtocol: "PLAINTEXT", Host: "h", Port: 9092}},
		Rack:      "r", JMXPort: -1, TimestampMs: 42, Features: map[string]znode.VersionRange{},
	}
}

// TestOldVersions: documents of earlier Kafkas are read.
func TestOldVersions(t *testing.T) {
	t.Parallel()
	if b, err := znode.DecodeBroker([]byte(`{"version":1,"host":"h","port":9092,"jmx_port":1,"timestamp":"2"}`)); err != nil || b.Endpoints[0].Port != 9092 || b.JMXPort != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err := znode.DecodeBroker([]byte(`{"version":3,"host":null,"port":-1,"timestamp":"2","endpoints":["SSL://[::1]:1"],"rack":"r"}`)); err != nil || b.Endpoints[0].Host != "::1" || b.Endpoints[0].SecurityProtocol != "SSL" {
		t.Errorf("%+v, %v", b, err)
	}
	if c, err := znode.DecodeController([]byte(`{"version":1,"brokerid":3,"timestamp":"2"}`)); err != nil || c.BrokerID != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if topic, err := znode.DecodeTopic([]byte(`{"version":1,"partitions":{"0":[1]}}`)); err != nil || topic.ID != (znode.TopicID{}) || len(topic.Partitions) != 1 {
		t.Errorf("%+v, %v", topic, err)
	}
	if entity, err := znode.DecodeConfigChange([]byte(`{"version":1,"entity_type":"topics","entity_name":"t"}`)); err != nil || entity != "topics/t" {
		t.Errorf("%q, %v", entity, err)
	}
	if b, err := znode.DecodeProducerIDBlock(nil); err != nil || b != nil {
		t.Errorf("%+v, %v", b, err)
	}
}

// FuzzDecode: no document makes a reader panic, and what it reads it can write
// and read again.
func FuzzDecode(f *testing.F) {
	f.Add(someBroker().Encode())
	f.Add((&znode.Topic{ID: someID, Partitions: map[int32][]int32{0: {1}}}).Encode())
	f.Add((&znode.PartitionState{ISR: []int32{1}}).Encode())
	f.Add(znode.EncodeConfig(map[string]string{"a": "b"}))
	f.Add([]byte(`{"version":2,"entity_path":"topics/t"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if topic, err := znode.DecodeTopic(b); err == nil {
			once := topic.Encode()
			again, err := znode.DecodeTopic(once)
			if err != nil || !bytes.Equal(once, again.Encode()) {
				t.Fatalf("%s: %v", once, err)
			}
		}
		if s, err := znode.DecodePartitionState(b); err == nil {
			if again, err := znode.DecodePartitionState(s.Encode()); err != nil || again.Leader != s.Leader || len(again.ISR) != len(s.ISR) {
				t.Fatalf("%+v: %v", s, err)
			}
		}
		if values, err := znode.DecodeConfig(b); err == nil {
			if _, err := znode.DecodeConfig(znode.EncodeConfig(values)); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = znode.DecodeBroker(b)
		_, _ = znode.DecodeController(b)
		_, _ = znode.DecodeControllerEpoch(b)
		_, _ = znode.DecodeClusterID(b)
		_, _ = znode.DecodeConfigChange(b)
		_, _ = znode.DecodeProducerIDBlock(b)
		_, _ = znode.DecodeACL(b)
		_, _ = znode.DecodeFeatures(b)
		_, _ = znode.DecodeMigration(b)
		_, _ = znode.DecodePartitions(b)
		_, _ = znode.DecodeReassignments(b)
	})
}

func TestPathsAreValid(t *testing.T) {
	t.Parallel()
	for _, p := range append(znode.PersistentPaths(), znode.PartitionStatePath("t", 3), znode.BrokerPath(1), znode.EntityConfigPath(znode.Brokers, znode.DefaultEntity)) {
		if !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.Contains(p, "//") {
			t.Errorf("%q", p)
		}
	}
	if n := znode.SequenceNumber("config_change_0000000012"); n != 12 {
		t.Error(n)
	}
}
