package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// loadFile is Load with a file of that text, environment and overrides. The
// file is called server.properties in errors and warnings.
func loadFile(t testing.TB, text string, env, overrides []string) (*Static, []string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, warnings, err := Load(LoadOptions{File: path, Env: env, Overrides: overrides, Hostname: "host.test"})
	for i := range warnings {
		warnings[i] = strings.ReplaceAll(warnings[i], dir+"/", "")
	}
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return s, warnings, err
}

func TestDefaultsNeedNothing(t *testing.T) {
	t.Parallel()
	s, warnings, err := Load(LoadOptions{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %q", err, warnings)
	}
	b := s.Broker()
	want := []Listener{{
		Name: "PLAINTEXT", SecurityProtocol: "PLAINTEXT", Host: "127.0.0.1", Port: 9092,
		AdvertisedHost: "127.0.0.1", AdvertisedPort: 9092, Advertised: true,
	}}
	if diff := cmp.Diff(want, b.Listeners); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
	if b.ID != 1 || !slices.Equal(b.LogDirs, []string{"./data"}) || b.MetadataPath != "data/barnabas.metadata" ||
		b.MetricsListener != "127.0.0.1:9644" || !b.AutoCreateTopics || b.PendingReplies != 64 {
		t.Errorf("got %+v", b)
	}
	if b.OffsetsReplicationFactor != 1 || b.TransactionReplicationFactor != 1 || b.TransactionMinISR != 1 {
		t.Errorf("internal topics: %+v", b.InternalTopics)
	}
}

func TestKafkasOwnFileWorks(t *testing.T) {
	t.Parallel()
	text := `
# The values of the server.properties that Kafka 3.9 ships.
broker.id=0
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kafka-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.retention.check.interval.ms=300000
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=0
`
	_, _, err := loadFile(t, text, nil, nil)
	if want := "server.properties:17: zookeeper.connect=localhost:2181: "; err == nil || !strings.HasPrefix(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), "--override zookeeper.connect=") {
		t.Fatalf("got %v, want %s… with the remedy", err, want)
	}
	s, warnings, err := loadFile(t, text, nil, []string{"zookeeper.connect="})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %q", err, warnings)
	}
	if b := s.Broker(); b.ID != 0 || b.LogDirs[0] != "/tmp/kafka-logs" {
		t.Errorf("got %+v", b)
	}
}

func TestKRaftFileWorksWithWarnings(t *testing.T) {
	t.Parallel()
	s, warnings, err := loadFile(t, `process.roles=broker,controller
node.id=3
controller.quorum.voters=3@localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
log.dirs=/tmp/kraft
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 3 || !strings.Contains(warnings[0], "server.properties:7: controller.listener.names belongs to KRaft") {
		t.Errorf("warnings %q", warnings)
	}
	if b := s.Broker(); b.ID != 3 || len(b.Listeners) != 1 || b.Listeners[0].Name != "PLAINTEXT" {
		t.Errorf("got %+v", b)
	}
}

// TestLoadProblems has every form of error with its place, value, range and
// remedy.
func TestLoadProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"num.io.threads=0", "server.properties:1: num.io.threads=0: Value must be at least 1 (allowed: [1,...])"},
		{"\n\nnum.partitions = many", "server.properties:3: num.partitions=many: Not a number of type INT (allowed: [1,...])"},
		{"auto.create.topics.enable=yes", "server.properties:1: auto.create.topics.enable=yes: Expected value to be either true or false (allowed: true or false)"},
		{"log.cleanup.policy=burn", "server.properties:1: log.cleanup.policy=burn: String must be one of: compact, delete (allowed: [compact, delete])"},
		{"socket.send.buffer.bytes=99999999999", "server.properties:1: socket.send.buffer.bytes=99999999999: Not a number of type INT (allowed: [-2147483648,...,2147483647])"},
		{"barnabas.metrics.listener=9644", "server.properties:1: barnabas.metrics.listener=9644: Not an address of the form host:port (allowed: host:port, or empty)"},
		{"barnabas.metrics.listener=:70000", "server.properties:1: barnabas.metrics.listener=:70000: The port must be from 0 to 65535 (allowed: host:port, or empty)"},
		{"broker.id=1\nnode.id=2", "server.properties:2: node.id=2: You must set `node.id` to the same value as `broker.id`.; broker.id is set to 1 at server.properties:1"},
		{"broker.id=2000", "server.properties:1: broker.id=2000: broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id"},
		{"broker.id=-2\nbroker.id.generation.enable=false", "server.properties:1: broker.id=-2: broker.id must be greater than or equal to 0"},
		{"log.roll.ms=0", "server.properties:1: log.roll.ms=0: log.roll.ms must be greater than or equal to 1"},
		{"log.retention.ms=0", "server.properties:1: log.retention.ms=0: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"},
		{"log.dirs=,", "server.properties:1: log.dirs=,: At least one log directory must be defined via log.dirs or log.dir."},
		{"log.cleaner.threads=200", "log.cleaner.dedupe.buffer.size=134217728: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."},
		{"max.connections.per.ip=0", "server.properties:1: max.connections.per.ip=0: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set."},
		{"max.connections.per.ip.overrides=a b:3", "server.properties:1: max.connections.per.ip.overrides=a b:3: max.connections.per.ip.overrides contains invalid addresses : a b"},
		{"queued.max.request.bytes=5", "server.properties:1: queued.max.request.bytes=5: queued.max.request.bytes must be larger or equal to socket.request.max.bytes"},
		{"log.cleaner.min.compaction.lag.ms=9\nlog.cleaner.max.compaction.lag.ms=5", "server.properties:1: log.cleaner.min.compaction.lag.ms=9: conflict topic config setting min.compaction.lag.ms (9) > max.compaction.lag.ms (5)"},
		{"ssl.key.password=hunter2\nnum.partitions=\\u00", "server.properties:2: not in the syntax of a properties file: invalid unicode literal"},
		{"listener.name.x.num.network.threads=0", "server.properties:1: listener.name.x.num.network.threads=0: Value must be at least 1 (allowed: [1,...])"},
	} {
		if _, _, err := loadFile(t, tc.text, nil, nil); err == nil || err.Error() != tc.want {
			t.Errorf("%q:\n got %v\nwant %s", tc.text, err, tc.want)
		}
	}
}

func TestLoadTellsAllProblems(t *testing.T) {
	t.Parallel()
	_, _, err := loadFile(t, "num.io.threads=0\nlog.segment.bytes=x", []string{"KAFKA_NUM_PARTITIONS=-1"}, []string{"message.max.bytes=-1"})
	want := []string{
		"server.properties:2: log.segment.bytes=x: Not a number of type INT (allowed: [14,...])",
		"--override: message.max.bytes=-1: Value must be at least 0 (allowed: [0,...])",
		"server.properties:1: num.io.threads=0: Value must be at least 1 (allowed: [1,...])",
		"environment KAFKA_NUM_PARTITIONS: num.partitions=-1: Value must be at least 1 (allowed: [1,...])",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestLoadSourcesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if _, _, err := Load(LoadOptions{File: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, o := range []string{"x", "=5", " "} {
		if _, _, err := Load(LoadOptions{Overrides: []string{o}}); err == nil || !strings.Contains(err.Error(), "use key=value") {
			t.Errorf("--override %q: %v", o, err)
		}
	}
	if _, _, err := loadFile(t, strings.Repeat("#", maxFileBytes+1), nil, nil); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a file that is too large: %v", err)
	}
}

// TestFailClosed sets every key whose absence would weaken security or
// durability.
func TestFailClosed(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"ssl.client.auth": "required", "security.inter.broker.protocol": "SSL", "allow.everyone.if.no.acl.found": "false",
		"connections.max.reauth.ms": "1000", "remote.log.storage.system.enable": "true", "zookeeper.metadata.migration.enable": "true",
	}
	for key := range refusals {
		v := values[key]
		if s := BrokerSetting(key); v == "" && s != nil && (s.Type == Int || s.Type == Long || s.Type == Short) {
			v = "7"
		} else if v == "" {
			v = "0.5"
		}
		_, _, err := Load(LoadOptions{Overrides: []string{key + "=" + v}})
		if err == nil || !strings.Contains(err.Error(), "remove it") || !strings.Contains(err.Error(), refusals[key].reason) {
			t.Errorf("%s=%s: %v", key, v, err)
		}
		if _, _, err := Load(LoadOptions{Overrides: []string{key + "=" + v, key + "=" + harmless(key)}}); err != nil {
			t.Errorf("%s: the remedy does not work: %v", key, err)
		}
	}
	for _, kv := range []string{
		"listener.name.external.ssl.client.auth=required", "listener.name.external.scram-sha-256.sasl.jaas.config=x",
		"config.providers.file.class=x", "log.dirs=${file:/run/secrets:dir}", "zookeeper.connect=zk:2181",
		"listeners=SSL://:9093", "listeners=SASL_PLAINTEXT://:9093", "listeners=X://:9093",
	} {
		o := []string{kv, "listener.security.protocol.map=X:SASL_SSL,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT"}
		if _, _, err := Load(LoadOptions{Overrides: o}); err == nil || !strings.Contains(err.Error(), "not b") {
			t.Errorf("%s: %v", kv, err)
		}
	}
}

func harmless(key string) string {
	if s := BrokerSetting(key); s != nil && s.HasDefault() {
		return s.Default
	}
	return ""
}

func TestSecretsStayOutOfMessages(t *testing.T) {
	t.Parallel()
	_, warnings, err := loadFile(t, "sasl.jaas.config=hunter2\nlistener.name.x.password.encoder.secret=hunter2\nmy.secret=hunter2\n", []string{"KAFKA_DELEGATION_TOKEN_SECRET_KEY=hunter2"}, nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(fmt.Sprint(warnings), "hunter2") {
		t.Errorf("error %v, warnings %q", err, warnings)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	_, warnings, err := loadFile(t, "no.such=1\nnum.partitions=2\nnum.partitions=3\nssl.keystore.location=/x\noffsets.topic.replication.factor=3\n",
		[]string{"KAFKA_OTHER=1", "KAFKA_HEAP_OPTS=-Xmx1g", "KAFKA_SERVICE_HOST=x", "KAFKA_PORT_9092_TCP=x", "BARNABAS_X=1", "PATH=/"}, []string{"no.such=2"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"server.properties:3: num.partitions is set a second time; the value of line 2 is not used",
		"environment BARNABAS_X: unknown setting barnabas.x is ignored",
		"--override: unknown setting no.such is ignored",
		"environment KAFKA_OTHER: unknown setting other is ignored",
		"server.properties:5: offsets.topic.replication.factor=3: with embedded metadata there is one broker, so internal topics get one replica",
		"server.properties:4: ssl.keystore.location is ignored: no listener uses TLS",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnvironmentNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"KAFKA_LISTENERS": "listeners", "KAFKA_LOG_RETENTION_MS": "log.retention.ms", "KAFKA_A__B": "a_b", "KAFKA_A___B": "a-b", "KAFKA_": "",
		"KAFKA_ZOOKEEPER_CLIENTCNXNSOCKET": "zookeeper.clientCnxnSocket", "BARNABAS_METRICS_LISTENER": "barnabas.metrics.listener",
		"KAFKA_LISTENER_NAME_PLAIN__TEXT_MAX_CONNECTIONS": "listener.name.plain_text.max.connections", "KAFKA_OPTS": "", "XKAFKA_X": "",
	} {
		got := ""
		for _, a := range fromEnvironment([]string{name + "=v"}) {
			got = a.key
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestPrecedence gives a key in any of the sources: the strongest wins.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 7).Draw(t, "sources")
		value := func(name string) int { return rapid.IntRange(1, 1000).Draw(t, name) }
		o, want := LoadOptions{}, 1
		var file []assignment
		if n&1 != 0 {
			want = value("file")
			file = append(file, assignment{"num.partitions", fmt.Sprint(want), Origin{File: "f", Line: 1}})
		}
		if n&2 != 0 {
			want = value("environment")
			o.Env = []string{fmt.Sprintf("KAFKA_NUM_PARTITIONS=%d", want)}
		}
		if n&4 != 0 {
			want = value("override")
			o.Overrides = []string{"num.partitions=7", fmt.Sprintf("num.partitions=%d", want)}
		}
		rest, err := gather(o)
		if err != nil {
			t.Fatal(err)
		}
		l := &loading{given: map[string]given{}}
		for _, a := range append(file, rest...) {
			l.put(a)
		}
		l.checkKeys()
		s := l.static()
		if got := s.Int("num.partitions"); got != int64(want) || len(l.problems) > 0 {
			t.Fatalf("got %d, want %d; problems %v", got, want, l.problems)
		}
		source := StaticBroker
		if n == 0 {
			source = DefaultConfig
		}
		for _, e := range s.DescribeBroker(Dynamic{}) {
			if e.Name == "num.partitions" && e.Source != source {
				t.Fatalf("source %d, want %d", e.Source, source)
			}
		}
	})
}

func TestDurations(t *testing.T) {
	t.Parallel()
	b := load(t, "connections.max.idle.ms=-1", "log.flush.scheduler.interval.ms=9223372036854775807", "replica.lag.time.max.ms=1500").Broker()
	if b.ConnectionsMaxIdle >= 0 || b.FlushSchedulerInterval != 1<<63-1 || b.ReplicaLagTimeMax != 1500*time.Millisecond {
		t.Errorf("got %v, %v, %v", b.ConnectionsMaxIdle, b.FlushSchedulerInterval, b.ReplicaLagTimeMax)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("broker.id=1\nlog.dirs=/a,/b\n", "KAFKA_LISTENERS=PLAINTEXT://:9092", "num.partitions=3")
	f.Add("a\\\n  =b\\u0041\r\n! c\rlisteners: X://[::1]:1", "BARNABAS_X=", "zookeeper.connect=")
	f.Fuzz(func(t *testing.T, text, env, override string) {
		if len(text) > 1<<16 {
			return
		}
		assignments, err := parseProperties("f", text)
		if err != nil {
			return
		}
		l := &loading{given: map[string]given{}}
		assignments = append(assignments, fromEnvironment([]string{env})...)
		if k, v, ok := strings.Cut(override, "="); ok {
			assignments = append(assignments, assignment{k, v, Origin{}})
		}
		for _, a := range assignments {
			if a.origin.File != "" && (a.origin.Line < 1 || a.origin.Line > 1+countLines(text)) {
				t.Fatalf("line %d of %d", a.origin.Line, countLines(text))
			}
			l.put(a)
		}
		l.checkKeys()
		l.joinBrokerIDs()
		if len(l.problems) > 0 {
			return
		}
		s := l.static()
		l.checkListeners(s, "h")
		l.checkTogether(s)
		if len(l.problems) > 0 {
			return
		}
		if b := brokerOf(s.view(Dynamic{}), s.listeners, s.interBroker); len(b.LogDirs) == 0 || len(b.Listeners) == 0 {
			t.Fatalf("got %+v", b)
		}
		s.DescribeBroker(Dynamic{})
	})
}
