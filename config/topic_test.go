package config

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTopicDefaults(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintf("%+v", Defaults().Topic(Dynamic{}, nil))
	want := "{CleanupDelete:true CleanupCompact:false CompressionType:producer GzipLevel:-1 LZ4Level:9 ZstdLevel:3 DeleteRetentionMs:86400000 " +
		"FileDeleteDelayMs:60000 FlushMessages:9223372036854775807 FlushMs:9223372036854775807 FollowerThrottledReplicas:[] LeaderThrottledReplicas:[] " +
		"IndexIntervalBytes:4096 LocalRetentionBytes:-2 LocalRetentionMs:-2 MaxCompactionLagMs:9223372036854775807 MinCompactionLagMs:0 " +
		"MaxMessageBytes:1048588 MessageDownconversion:true MessageFormatVersion:3.0-IV1 LogAppendTime:false TimestampBeforeMaxMs:9223372036854775807 " +
		"TimestampAfterMaxMs:9223372036854775807 MinCleanableDirtyRatio:0.5 MinInSyncReplicas:1 Preallocate:false RemoteStorage:false " +
		"RemoteLogCopyDisable:false RemoteLogDeleteOnDisable:false RetentionBytes:-1 RetentionMs:604800000 SegmentBytes:1073741824 " +
		"SegmentIndexBytes:10485760 SegmentJitterMs:0 SegmentMs:604800000 UncleanLeaderElection:false}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRetentionComesFromTheFirstThatIsSet is the order of the three units, of
// the layers, and of a topic's own value.
func TestRetentionComesFromTheFirstThatIsSet(t *testing.T) {
	t.Parallel()
	const hour = 3600 * 1000
	for _, tc := range []struct {
		static []string
		d      Dynamic
		own    map[string]string
		want   int64
	}{
		{nil, Dynamic{}, nil, 168 * hour},
		{[]string{"log.retention.hours=2"}, Dynamic{}, nil, 2 * hour},
		{[]string{"log.retention.hours=2", "log.retention.minutes=3"}, Dynamic{}, nil, 3 * 60000},
		{[]string{"log.retention.hours=2", "log.retention.minutes=3", "log.retention.ms=4"}, Dynamic{}, nil, 4},
		{[]string{"log.retention.hours=-1"}, Dynamic{}, nil, -1},
		{[]string{"log.retention.minutes=-7"}, Dynamic{}, nil, -1},
		{[]string{"log.retention.ms=4"}, Dynamic{Default: map[string]string{"log.retention.ms": "5"}}, nil, 5},
		{[]string{"log.retention.minutes=4"}, Dynamic{Default: map[string]string{"log.retention.ms": "5"}}, nil, 5},
		{nil, Dynamic{Default: map[string]string{"log.retention.ms": "5"}, Broker: map[string]string{"log.retention.ms": "6"}}, nil, 6},
		{nil, Dynamic{Broker: map[string]string{"log.retention.ms": "x"}}, nil, 168 * hour},
		{nil, Dynamic{Broker: map[string]string{"log.retention.hours": "1"}}, nil, 168 * hour}, // not at run time
		{[]string{"log.retention.ms=4"}, Dynamic{}, map[string]string{"retention.ms": "7"}, 7},
		{[]string{"log.retention.ms=4"}, Dynamic{}, map[string]string{"retention.ms": "x"}, 4},
	} {
		s := load(t, tc.static...)
		if got := s.Topic(tc.d, tc.own).RetentionMs; got != tc.want {
			t.Errorf("%v %v %v: %d, want %d", tc.static, tc.d, tc.own, got, tc.want)
		}
		for _, e := range s.DescribeTopic(tc.d, tc.own) {
			if e.Name == "retention.ms" && *e.Value != fmt.Sprint(tc.want) {
				t.Errorf("%v %v %v is described as %s, want %d", tc.static, tc.d, tc.own, *e.Value, tc.want)
			}
		}
	}
}

func TestOtherUnits(t *testing.T) {
	t.Parallel()
	s := load(t, "log.roll.hours=1", "log.roll.jitter.hours=2", "log.flush.scheduler.interval.ms=3", "log.message.timestamp.difference.max.ms=4")
	got := s.Topic(Dynamic{}, map[string]string{"message.timestamp.after.max.ms": "5"})
	if got.SegmentMs != 3600000 || got.SegmentJitterMs != 7200000 || got.FlushMs != 3 || got.TimestampBeforeMaxMs != 4 || got.TimestampAfterMaxMs != 5 {
		t.Errorf("got %+v", got)
	}
	own := s.Topic(Dynamic{}, map[string]string{"cleanup.policy": "compact, delete", "message.timestamp.type": "LogAppendTime"})
	if !own.CleanupCompact || !own.CleanupDelete || !own.LogAppendTime {
		t.Errorf("got %+v", own)
	}
}

func TestTopicRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key, value, want string
		standalone       bool
	}{
		{"no.such", "1", "Unknown topic config name: no.such", true},
		{"retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1", false},
		{"segment.bytes", "13", "Invalid value 13 for configuration segment.bytes: Value must be at least 14", false},
		{"max.compaction.lag.ms", "0", "Invalid value 0 for configuration max.compaction.lag.ms: Value must be at least 1", false},
		{"min.compaction.lag.ms", "9", "conflict topic config setting min.compaction.lag.ms (9) > max.compaction.lag.ms (8)", true},
		{"remote.storage.enable", "true", "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.", false},
		{"remote.log.copy.disable", "true", "It is invalid to set `remote.log.delete.on.disable` or `remote.log.copy.disable` under Zookeeper's mode.", true},
	} {
		own := map[string]string{tc.key: tc.value}
		err := load(t, "log.cleaner.max.compaction.lag.ms=8").ValidateTopic(Dynamic{}, own)
		var invalid *Invalid
		if !errors.As(err, &invalid) || invalid.Message != tc.want || invalid.Standalone != tc.standalone {
			t.Errorf("%s=%s: %v", tc.key, tc.value, err)
		}
	}
	if err := ValidateTopic(map[string]string{"min.compaction.lag.ms": "9", "cleanup.policy": ""}); err != nil {
		t.Error(err)
	}
}

// TestAcceptedIsInForce sets random values of random topic settings: what is
// accepted is what is described and, as text, read again as itself.
func TestAcceptedIsInForce(t *testing.T) {
	t.Parallel()
	s := Defaults()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(topicNames).Draw(t, "name")
		raw := rapid.OneOf(
			rapid.SampledFrom([]string{"true", "FALSE", " delete , compact", "gzip", "0.25", "LogAppendTime", "3.0", "1:2,3:4", ""}),
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.Int64().Draw(t, "long")) }),
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(-2, 20).Draw(t, "int")) }),
			rapid.String(),
		).Draw(t, "value")
		own := map[string]string{name: raw}
		if s.ValidateTopic(Dynamic{}, own) != nil {
			return
		}
		for _, e := range s.DescribeTopic(Dynamic{}, own) {
			if e.Name != name {
				continue
			}
			if e.Source != DynamicTopic || e.Value == nil {
				t.Fatalf("%+v", e)
			}
			if err := s.ValidateTopic(Dynamic{}, map[string]string{name: *e.Value}); err != nil {
				t.Fatalf("%q was accepted, is described as %q: %v", raw, *e.Value, err)
			}
		}
	})
}

func TestBrokerChangeRefusals(t *testing.T) {
	t.Parallel()
	const inner = "Invalid value org.apache.kafka.common.config.ConfigException: "
	for _, tc := range []struct {
		perBroker bool
		change    string
		want      string
	}{
		{true, "log.dirs=x broker.id=2", "Cannot update these configs dynamically: Set(broker.id, log.dirs)"},
		{true, "listener.name.x.max.connections=5", ""},
		{false, "listener.name.x.max.connections=5", ""},
		{true, "no.such=1", ""},
		{true, "leader.replication.throttled.rate=5", ""},
		{true, "leader.replication.throttled.rate=-5", "Invalid value -5 for configuration leader.replication.throttled.rate: Value must be at least 0"},
		{false, "listeners=PLAINTEXT://:1", "Cannot update these configs at default cluster level, broker id must be specified: Set(listeners)"},
		{false, "listener.name.x.ssl.key.password=x", "Cannot update these configs at default cluster level, broker id must be specified: Set(listener.name.x.ssl.key.password)"},
		{true, "listener.name.x.ssl.key.password=hunter2", "Barnabas cannot change listener.name.x.ssl.key.password at run time: " + noTLS},
		{true, "listener.name.x.scram-sha-256.sasl.jaas.config=hunter2", "Barnabas cannot change listener.name.x.scram-sha-256.sasl.jaas.config at run time: " + noSASL},
		{true, "advertised.listeners=PLAINTEXT://a:1", "Barnabas cannot change advertised.listeners at run time: listeners change only at a restart"},
		{true, "metric.reporters=a.B", "Barnabas cannot change metric.reporters at run time: reporters are Java classes; the metrics are served at barnabas.metrics.listener"},
		{true, "principal.builder.class=a.B", "Barnabas cannot change principal.builder.class at run time: " + refusals["principal.builder.class"].reason},
		{true, "log.cleaner.dedupe.buffer.size=5", "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."},
		{true, "log.retention.ms=0", "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"},
		{true, "num.io.threads=3", inner + "Dynamic thread count update validation failed for num.io.threads=3, value should be at least half the current value 8 for configuration Invalid dynamic configuration"},
		{true, "num.io.threads=16", ""},
		{true, "num.replica.fetchers=0", inner + "Dynamic thread count update validation failed for num.replica.fetchers=0, value should be at least 1 for configuration Invalid dynamic configuration"},
		{true, "log.cleaner.threads=3", inner + "Log cleaner threads cannot be increased to more than double the current value 1 for configuration Invalid dynamic configuration"},
		{true, "producer.id.expiration.ms=-1", "Invalid value -1 for configuration producer.id.expiration.ms: Value must be at least 1"},
		{true, "max.connections.per.ip=0", "requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set."},
		{true, "max.connections.per.ip=0 max.connections.per.ip.overrides=127.0.0.1:5", ""},
		{false, "unclean.leader.election.enable=true min.insync.replicas=2", ""},
	} {
		values := map[string]string{}
		for _, kv := range strings.Fields(tc.change) {
			k, v, _ := strings.Cut(kv, "=")
			values[k] = v
		}
		err := Defaults().ValidateBrokerChange(BrokerChange{PerBroker: tc.perBroker, Values: values})
		if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
			t.Errorf("%s:\n got %s\nwant %s", tc.change, got, tc.want)
		}
	}
}

func TestListChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range [][4]string{
		{"a,b", "b,c", "a,b,c", "a"}, {"", "a", "a", ""}, {"a", "", "a,", "a"}, {"a,a,b", "a", "a,a,b", "a,b"}, {"a", "b,b", "a,b,b", "a"}, {"a,", "b", "a,b", "a"},
	} {
		if got := AppendTo(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%q + %q = %q, want %q", tc[0], tc[1], got, tc[2])
		}
		if got := SubtractFrom(tc[0], tc[1]); got != tc[3] {
			t.Errorf("%q - %q = %q, want %q", tc[0], tc[1], got, tc[3])
		}
	}
}

func TestDescribeBrokerAtRunTime(t *testing.T) {
	t.Parallel()
	s := load(t, "log.retention.minutes=9", "no.such=hunter2", "barnabas.pending.replies=5", "listener.name.x.max.connections=7")
	d := Dynamic{
		Broker:  map[string]string{"log.retention.ms": "1", "log.dirs": "/evil", "my.own": "hunter2"},
		Default: map[string]string{"log.retention.ms": "2", "listeners": "PLAINTEXT://:1"},
	}
	want := map[string]string{
		"log.retention.ms":                `log.retention.ms LONG "1" 2 w log.retention.ms="1"@2 log.retention.ms="2"@3 log.retention.minutes="9"@4 log.retention.hours="168"@5`,
		"log.dirs":                        `log.dirs STRING - 5 r`,
		"listeners":                       `listeners STRING "<place>" 5 w listeners="<place>"@5`,
		"no.such":                         `no.such UNKNOWN - 4 rs no.such=-@4`,
		"my.own":                          `my.own UNKNOWN - 2 rs my.own=-@2`,
		"barnabas.pending.replies":        `barnabas.pending.replies INT "5" 4 r barnabas.pending.replies="5"@4 barnabas.pending.replies="64"@5`,
		"listener.name.x.max.connections": `listener.name.x.max.connections INT "7" 4 r listener.name.x.max.connections="7"@4 max.connections="2147483647"@5`,
	}
	entries := s.DescribeBroker(d)
	for _, e := range entries {
		if w, ok := want[e.Name]; ok && entryLine(e) != w {
			t.Errorf("got  %s\nwant %s", entryLine(e), w)
		}
		delete(want, e.Name)
	}
	if len(want) > 0 {
		t.Errorf("not described: %v", want)
	}
	var lines []string
	for _, e := range s.DescribeDefaultBroker(d) {
		lines = append(lines, entryLine(e))
	}
	if got, want := strings.Join(lines, "\n"), `log.retention.ms LONG "2" 3 w log.retention.ms="2"@3`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if b := s.BrokerAt(Dynamic{Default: map[string]string{"max.connections": "3"}}); b.MaxConnections != 3 || b.LogDirs[0] != "./data" {
		t.Errorf("got %+v", b)
	}
}

func TestGetters(t *testing.T) {
	t.Parallel()
	s := Defaults()
	if s.Int("group.max.size") != math.MaxInt32 || !s.Bool("log.cleaner.enable") || s.Float("log.cleaner.io.buffer.load.factor") != 0.9 ||
		s.Text("ssl.protocol") != "TLSv1.3" || len(s.Strings("group.consumer.assignors")) != 2 {
		t.Error("a getter is wrong")
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown name is no bug")
		}
	}()
	s.Int("no.such")
}

func BenchmarkTopic(b *testing.B) {
	s := Defaults()
	d := Dynamic{Default: map[string]string{"log.retention.ms": "7000"}}
	own := map[string]string{"cleanup.policy": "compact", "segment.ms": "9"}
	b.ReportAllocs()
	for b.Loop() {
		s.Topic(d, own)
	}
}

func BenchmarkDescribeBroker(b *testing.B) {
	s := Defaults()
	b.ReportAllocs()
	for b.Loop() {
		s.DescribeBroker(Dynamic{})
	}
}
