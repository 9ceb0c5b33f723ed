package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"barnabas/config"
)

// configWorld stands for metadata: two kinds of entities with settings.
type configWorld struct {
	topics, brokers map[string]map[string]string
	failure         error
}

func (w *configWorld) resources() *configResources {
	return &configResources{
		static:   config.Defaults(),
		brokerID: 1,
		topic: func(name string) (map[string]string, bool) {
			own, ok := w.topics[name]
			return own, ok
		},
		dynamic: func() config.Dynamic {
			return config.Dynamic{Broker: w.brokers["1"], Default: w.brokers[config.DefaultEntity]}
		},
		set: func(_ context.Context, kind, name string, values map[string]string) error {
			if w.failure != nil {
				return w.failure
			}
			map[string]map[string]map[string]string{"topics": w.topics, "brokers": w.brokers}[kind][name] = maps.Clone(values)
			return nil
		},
		code: func(err error, _ string) int16 {
			var ke *kerr.Error
			if errors.As(err, &ke) {
				return ke.Code
			}
			return -1
		},
		loggers: loggers{zap.NewAtomicLevelAt(zapcore.InfoLevel)},
	}
}

func newConfigWorld() *configWorld {
	return &configWorld{
		topics:  map[string]map[string]string{"t": {"cleanup.policy": "compact", "segment.ms": "9"}},
		brokers: map[string]map[string]string{},
	}
}

const (
	aTopic  = kmsg.ConfigResourceTypeTopic
	aBroker = kmsg.ConfigResourceTypeBroker
	aLogger = kmsg.ConfigResourceTypeBrokerLogger
)

// describedConfigs asks for some settings and writes what comes back in one line each.
func describedConfigs(c *configResources, kind kmsg.ConfigResourceType, name string, configs ...string) string {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Version, req.IncludeSynonyms = 4, true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, configs
	req.Resources = append(req.Resources, r)
	out := c.describe(req).Resources[0]
	lines := []string{fmt.Sprintf("%d %q", out.ErrorCode, *out.ErrorMessage)}
	for _, e := range out.Configs {
		lines = append(lines, fmt.Sprintf("%s=%s source %d, %d synonyms", e.Name, configText(e.Value), e.Source, len(e.ConfigSynonyms)))
	}
	return strings.Join(lines, "; ")
}

func configText(s *string) string {
	if s == nil {
		return "<null>"
	}
	return *s
}

func configOutcome(code int16, message *string) string {
	if message == nil {
		return fmt.Sprint(code)
	}
	return fmt.Sprintf("%d %s", code, *message)
}

// alteredConfigs sends AlterConfigs with pairs like key=value; a pair without = has no
// value.
func alteredConfigs(c *configResources, kind kmsg.ConfigResourceType, name string, pairs ...string) string {
	resp := c.alter(context.Background(), alterConfigsRequest(false, kind, name, pairs...))
	return configOutcome(resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage)
}

func alterConfigsRequest(validateOnly bool, kind kmsg.ConfigResourceType, name string, pairs ...string) *kmsg.AlterConfigsRequest {
	req := kmsg.NewPtrAlterConfigsRequest()
	req.Version, req.ValidateOnly = 2, validateOnly
	r := kmsg.NewAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, p := range pairs {
		pair := kmsg.NewAlterConfigsRequestResourceConfig()
		pair.Name, pair.Value = cutConfigPair(p)
		r.Configs = append(r.Configs, pair)
	}
	req.Resources = append(req.Resources, r)
	return req
}

func cutConfigPair(p string) (string, *string) {
	name, v, ok := strings.Cut(p, "=")
	if !ok {
		return name, nil
	}
	return name, &v
}

// changedConfigs sends IncrementalAlterConfigs with steps like =key=value (set), -key
// (delete), +key=value (append), ~key=value (subtract), ?key=value (an
// operation that nobody knows).
func changedConfigs(c *configResources, kind kmsg.ConfigResourceType, name string, steps ...string) string {
	resp := c.change(context.Background(), changeConfigsRequest(kind, name, steps...))
	return configOutcome(resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage)
}

func changeConfigsRequest(kind kmsg.ConfigResourceType, name string, steps ...string) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version = 1
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, s := range steps {
		ch := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		ch.Name, ch.Value = cutConfigPair(s[1:])
		if ch.Op = kmsg.IncrementalAlterConfigOp(strings.IndexByte("=-+~", s[0])); ch.Op < 0 {
			ch.Op = 9
		}
		r.Configs = append(r.Configs, ch)
	}
	req.Resources = append(req.Resources, r)
	return req
}

// TestConfigRefusals holds every refusal against the recorded answer of Kafka
// 3.9.1.
func TestConfigRefusals(t *testing.T) {
	t.Parallel()
	const invalid = "40 Invalid config value for resource ConfigResource(type=TOPIC, name='t'): Invalid value "
	const inner = "42 Invalid value org.apache.kafka.common.config.ConfigException: "
	for _, tc := range []struct {
		kind       kmsg.ConfigResourceType
		name, pair string
		want       string
	}{
		{aTopic, "t", "no.such=1", "40 Unknown topic config name: no.such"},
		{aTopic, "t", "=5", "40 Unknown topic config name: "},
		{aTopic, "t", "log.retention.ms=5", "40 Unknown topic config name: log.retention.ms"},
		{aTopic, "t", "retention.ms=soon", invalid + "soon for configuration retention.ms: Not a number of type LONG"},
		{aTopic, "t", "retention.ms=", invalid + " for configuration retention.ms: Not a number of type LONG"},
		{aTopic, "t", "retention.ms", "42 Null value not supported for : retention.ms"},
		{aTopic, "t", "segment.bytes=99999999999", invalid + "99999999999 for configuration segment.bytes: Not a number of type INT"},
		{aTopic, "t", "cleanup.policy=burn", invalid + "burn for configuration cleanup.policy: String must be one of: compact, delete"},
		{aTopic, "t", "preallocate=maybe", invalid + "maybe for configuration preallocate: Expected value to be either true or false"},
		{aTopic, "t", "min.cleanable.dirty.ratio=2", invalid + "2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"},
		{aTopic, "t", "compression.gzip.level=99", invalid + "99 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1"},
		{aTopic, "none", "retention.ms=5", "3 The topic 'none' does not exist."},
		{aTopic, "a b", "retention.ms=5", "3 The topic 'a b' does not exist."},
		{aTopic, "", "retention.ms=5", "42 Default topic resources are not allowed."},
		{0, "x", "retention.ms=5", "42 Unknown resource type 0"},
		{3, "x", "retention.ms=5", "42 Unknown resource type 3"},
		{16, "x", "retention.ms=5", "42 AlterConfigs is only supported for topics and brokers, but resource type is CLIENT_METRICS"},
		{32, "x", "retention.ms=5", "42 Unknown resource type 32"},
		{99, "x", "retention.ms=5", "42 Unknown resource type 99"},
		{aBroker, "77", "log.retention.ms=5", "42 Unexpected broker id, expected 1, but received 77"},
		{aBroker, "abc", "log.retention.ms=5", "42 Node id must be an integer, but it is: abc"},
		{aBroker, "1", "log.dirs=x", "42 Cannot update these configs dynamically: Set(log.dirs)"},
		{aBroker, "", "log.cleaner.threads=x", "42 Invalid value x for configuration log.cleaner.threads: Not a number of type INT"},
		{aBroker, "", "log.cleaner.threads=0", "42 Invalid value 0 for configuration log.cleaner.threads: Value must be at least 1"},
		{aBroker, "1", "num.io.threads=1000", inner + "Dynamic thread count update validation failed for num.io.threads=1000, " +
			"value should not be greater than double the current value 8 for configuration Invalid dynamic configuration"},
		{aBroker, "1", "ssl.keystore.type=PEM", "42 These security configs can be dynamically updated only per-listener using the listener prefix: HashSet(ssl.keystore.type)"},
	} {
		c := newConfigWorld().resources()
		if got := alteredConfigs(c, tc.kind, tc.name, tc.pair); got != tc.want {
			t.Errorf("AlterConfigs %d %q %s:\n got %s\nwant %s", tc.kind, tc.name, tc.pair, got, tc.want)
		}
		if got := changedConfigs(c, tc.kind, tc.name, "="+tc.pair); got != tc.want {
			t.Errorf("IncrementalAlterConfigs %d %q %s:\n got %s\nwant %s", tc.kind, tc.name, tc.pair, got, tc.want)
		}
	}
}

func TestAlterConfigsReplacesAll(t *testing.T) {
	t.Parallel()
	w := newConfigWorld()
	c := w.resources()
	for _, step := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"retention.ms=5", "segment.ms=7"}, "cleanup.policy=delete source 5, 1 synonyms; retention.ms=5 source 1, 1 synonyms; segment.ms=7 source 1, 1 synonyms"},
		{[]string{"cleanup.policy=compact, delete"}, "cleanup.policy=compact,delete source 1, 2 synonyms; retention.ms=604800000 source 5, 0 synonyms; segment.ms=604800000 source 5, 0 synonyms"},
		{nil, "cleanup.policy=delete source 5, 1 synonyms; retention.ms=604800000 source 5, 0 synonyms; segment.ms=604800000 source 5, 0 synonyms"},
	} {
		if got := alteredConfigs(c, aTopic, "t", step.pairs...); got != "0" {
			t.Fatalf("altering to %v: %s", step.pairs, got)
		}
		if diff := cmp.Diff(`0 ""; `+step.want, describedConfigs(c, aTopic, "t", "cleanup.policy", "retention.ms", "segment.ms")); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step.pairs, diff)
		}
	}
	if r := c.alter(context.Background(), alterConfigsRequest(true, aTopic, "t", "retention.ms=9")).Resources[0]; r.ErrorCode != 0 || w.topics["t"]["retention.ms"] != "" {
		t.Error("a validation changed the topic")
	}
}

func TestAlterConfigsRepeated(t *testing.T) {
	t.Parallel()
	c := newConfigWorld().resources()
	if got, want := alteredConfigs(c, aTopic, "t", "retention.ms=5", "retention.ms=6"), "42 Error due to duplicate config keys"; got != want {
		t.Errorf("one key twice: %s, want %s", got, want)
	}
	req := alterConfigsRequest(false, aTopic, "t", "retention.ms=7")
	req.Resources = append(req.Resources, alterConfigsRequest(false, aTopic, "t", "retention.ms=8").Resources...)
	req.Resources = append(req.Resources, alterConfigsRequest(false, aBroker, "", "log.retention.ms=8").Resources...)
	var got []int16
	for _, r := range c.alter(context.Background(), req).Resources {
		got = append(got, r.ErrorCode)
	}
	if diff := cmp.Diff([]int16{42, 42, 0}, got); diff != "" {
		t.Errorf("a resource twice (-want +got):\n%s", diff)
	}
}

func TestAlterConfigsOfSeveralIsPerResource(t *testing.T) {
	t.Parallel()
	w := newConfigWorld()
	c := w.resources()
	req := alterConfigsRequest(false, aTopic, "t", "retention.ms=7")
	req.Resources = append(req.Resources, alterConfigsRequest(false, aTopic, "none", "retention.ms=8").Resources...)
	resp := c.alter(context.Background(), req)
	if resp.Resources[0].ErrorCode != 0 || resp.Resources[1].ErrorCode != 3 || w.topics["t"]["retention.ms"] != "7" {
		t.Errorf("got %d and %d, topic %v", resp.Resources[0].ErrorCode, resp.Resources[1].ErrorCode, w.topics["t"])
	}
}

func TestIncrementalAlterConfigs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		steps []string
		want  string
		after map[string]string
	}{
		{[]string{"=retention.ms=5"}, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9", "retention.ms": "5"}},
		{[]string{"-cleanup.policy"}, "0", map[string]string{"segment.ms": "9"}},
		{[]string{"-cleanup.policy=compact"}, "0", map[string]string{"segment.ms": "9"}},
		{[]string{"-retention.ms", "-no.such"}, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9"}},
		{[]string{"+cleanup.policy=delete"}, "0", map[string]string{"cleanup.policy": "compact,delete", "segment.ms": "9"}},
		{[]string{"+cleanup.policy=compact"}, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9"}},
		{[]string{"+leader.replication.throttled.replicas=0:1"}, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9", "leader.replication.throttled.replicas": "0:1"}},
		{[]string{"+retention.ms=5"}, "40 Config value append is not allowed for config key: retention.ms", nil},
		{[]string{"+no.such=5"}, "-1", nil},
		{[]string{"~cleanup.policy=compact"}, "0", map[string]string{"cleanup.policy": "", "segment.ms": "9"}},
		{[]string{"~cleanup.policy=delete"}, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9"}},
		{[]string{"~retention.ms=5"}, "40 Config value subtract is not allowed for config key: retention.ms", nil},
		{[]string{"?retention.ms=5"}, "-1", nil},
		{[]string{"=retention.ms=5", "=retention.ms=6"}, "42 Error due to duplicate config keys", nil},
		{[]string{"=retention.ms=5", "-retention.ms"}, "42 Error due to duplicate config keys", nil},
		{nil, "0", map[string]string{"cleanup.policy": "compact", "segment.ms": "9"}},
		{[]string{"=min.compaction.lag.ms=10", "=max.compaction.lag.ms=5"}, "40 conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)", nil},
	} {
		w := newConfigWorld()
		before := maps.Clone(w.topics["t"])
		if got := changedConfigs(w.resources(), aTopic, "t", tc.steps...); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.steps, got, tc.want)
		}
		if tc.after == nil {
			tc.after = before
		}
		if diff := cmp.Diff(tc.after, w.topics["t"]); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", tc.steps, diff)
		}
	}
}

func TestBrokerConfigsAtRunTime(t *testing.T) {
	t.Parallel()
	w := newConfigWorld()
	w.topics["f"] = nil
	c := w.resources()
	const key = "log.retention.ms"
	steps := []struct{ do, want string }{
		{changedConfigs(c, aBroker, "", "="+key+"=7000"), "0"},
		{describedConfigs(c, aBroker, "", key), `0 ""; log.retention.ms=7000 source 3, 1 synonyms`},
		{describedConfigs(c, aBroker, "1", key), `0 ""; log.retention.ms=7000 source 3, 2 synonyms`},
		{describedConfigs(c, aTopic, "f", "retention.ms"), `0 ""; retention.ms=7000 source 3, 2 synonyms`},
		{changedConfigs(c, aBroker, "1", "="+key+"=8000"), "0"},
		{describedConfigs(c, aTopic, "f", "retention.ms"), `0 ""; retention.ms=8000 source 2, 3 synonyms`},
		{alteredConfigs(c, aBroker, "1"), "0"},
		{changedConfigs(c, aBroker, "", "-"+key), "0"},
		{describedConfigs(c, aBroker, "", key), `0 ""`},
		{describedConfigs(c, aTopic, "f", "retention.ms"), `0 ""; retention.ms=604800000 source 5, 0 synonyms`},
		{changedConfigs(c, aBroker, "1", "=no.such=1"), "0"}, // Kafka stores what it does not know
		{changedConfigs(c, aBroker, "1", "=listener.name.plaintext.max.connections=5"), "0"},
		{changedConfigs(c, aBroker, "1", "=listeners=PLAINTEXT://:9999"), "42 Barnabas cannot change listeners at run time: listeners change only at a restart"},
		{changedConfigs(c, aBroker, "1", "+no.such=1"), "-1"},
		{changedConfigs(c, aBroker, "1", "?log.retention.ms=1"), "42 Unknown operations type 9"},
	}
	for i, s := range steps {
		if s.do != s.want {
			t.Errorf("step %d: %s, want %s", i, s.do, s.want)
		}
	}
}

func TestDescribeConfigsRefusals(t *testing.T) {
	t.Parallel()
	c := newConfigWorld().resources()
	for _, tc := range []struct {
		kind       kmsg.ConfigResourceType
		name, want string
	}{
		{aTopic, "none", `3 ""`},
		{aTopic, "", `17 "Topic name is invalid: the empty string is not allowed"`},
		{aTopic, "..", `17 "Topic name is invalid: '..' is not allowed"`},
		{aTopic, "a b", `17 "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"`},
		{aBroker, "77", `42 "Unexpected broker id, expected 1 or empty string, but received 77"`},
		{aBroker, "abc", `42 "Broker id must be an integer, but it is: abc"`},
		{aBroker, "", `0 ""`},
		{aLogger, "", `42 "Broker id must not be empty"`},
		{aLogger, "77", `42 "Unexpected broker id, expected 1 but received 77"`},
		{aLogger, "abc", `42 "Broker id must be an integer, but it is: abc"`},
		{16, "", `42 "Client metrics subscription name must not be empty"`},
		{16, "x", `0 ""`},
		{0, "x", `42 "` + unknownKindMessage + `"`},
		{32, "", `42 "` + unknownKindMessage + `"`},
	} {
		if got := describedConfigs(c, tc.kind, tc.name, "retention.ms"); got != tc.want {
			t.Errorf("%d %q: %s, want %s", tc.kind, tc.name, got, tc.want)
		}
	}
	long := strings.Repeat("x", 250)
	if got := describedConfigs(c, aTopic, long); !strings.Contains(got, "longer than the max allowed length 249") {
		t.Errorf("a long name: %s", got)
	}
}

func TestDescribeConfigsNames(t *testing.T) {
	t.Parallel()
	c := newConfigWorld().resources()
	for _, tc := range []struct {
		names []string
		n     int
	}{{nil, 36}, {[]string{}, 36}, {[]string{"retention.ms", "retention.ms"}, 1}, {[]string{"retention.ms", "no.such"}, 1}, {[]string{""}, 0}, {[]string{"log.retention.ms"}, 0}} {
		if got := strings.Count(describedConfigs(c, aTopic, "t", tc.names...), "; "); got != tc.n {
			t.Errorf("%q: %d settings, want %d", tc.names, got, tc.n)
		}
	}
	if got := strings.Count(describedConfigs(c, aBroker, "1"), " source "); got != 314 {
		t.Errorf("%d settings of the broker, want 314", got)
	}
}

func TestLoggers(t *testing.T) {
	t.Parallel()
	c := newConfigWorld().resources()
	const api = "kafka.server.KafkaApis"
	steps := []struct{ do, want string }{
		{describedConfigs(c, aLogger, "1", api, "no.such"), `0 ""; kafka.server.KafkaApis=INFO source 6, 0 synonyms`},
		{changedConfigs(c, aLogger, "1", "=no.such=INFO"), "40 Logger no.such does not exist!"},
		{changedConfigs(c, aLogger, "1", "="+api+"=LOUD"), "40 Cannot set the log level of kafka.server.KafkaApis to LOUD as it is not a supported log level. " +
			"Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN"},
		{changedConfigs(c, aLogger, "1", "+"+api+"=INFO"), "42 APPEND operation is not allowed for the BROKER_LOGGER resource"},
		{changedConfigs(c, aLogger, "1", "?"+api+"=INFO"), "42 Unknown operation type 9 is not allowed for the BROKER_LOGGER resource"},
		{changedConfigs(c, aLogger, "1", "-root"), "42 Removing the log level of the root logger is not allowed"},
		{changedConfigs(c, aLogger, "1", "-"+api), "0"},
		{changedConfigs(c, aLogger, "77", "="+api+"=INFO"), "42 Unexpected node id. Expected 1, but received 1"},
		{changedConfigs(c, aLogger, "", "="+api+"=INFO"), "42 Node id must be an integer, but it is: "},
		{changedConfigs(c, aLogger, "1", "="+api), "42 Null value not supported for : " + api},
		{alteredConfigs(c, aLogger, "1", api+"=INFO"), "42 Unknown resource type 8"},
		{changedConfigs(c, aLogger, "1", "="+api+"=WARN", "=root=TRACE"), "0"},
		{describedConfigs(c, aLogger, "1", "root"), `0 ""; root=DEBUG source 6, 0 synonyms`},
	}
	for i, s := range steps {
		if s.do != s.want {
			t.Errorf("step %d: %s, want %s", i, s.do, s.want)
		}
	}
	if l := c.loggers.shared.Level(); l != zapcore.DebugLevel {
		t.Errorf("the level is %s, want debug", l)
	}
}

func TestFailedStoreIsAnswered(t *testing.T) {
	t.Parallel()
	w := newConfigWorld()
	w.failure = fmt.Errorf("store: %w", kerr.RequestTimedOut)
	if got := changedConfigs(w.resources(), aTopic, "t", "=retention.ms=5"); got != "7" {
		t.Errorf("got %s, want 7", got)
	}
}

// TestSecretsAreNotShown describes a password and an unknown setting, which may
// be one.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	w := newConfigWorld()
	w.brokers["1"] = map[string]string{"listener.name.x.ssl.key.password": "hunter2", "my.plugin.token": "hunter2"}
	if got := describedConfigs(w.resources(), aBroker, "1"); strings.Contains(got, "hunter2") {
		t.Error("a secret is shown")
	}
}

// TestConfigAnswersAtEveryVersion encodes an answer at every version and reads
// it back.
func TestConfigAnswersAtEveryVersion(t *testing.T) {
	t.Parallel()
	c := newConfigWorld().resources()
	for v := range int16(5) {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Version, req.IncludeSynonyms, req.IncludeDocumentation = v, true, true
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = aBroker, "1"
		req.Resources = append(req.Resources, r)
		resp := kmsg.NewPtrDescribeConfigsResponse()
		resp.Version = v
		if err := resp.ReadFrom(c.describe(req).AppendTo(nil)); err != nil || len(resp.Resources[0].Configs) != 314 {
			t.Fatalf("version %d: %v", v, err)
		}
		for _, e := range resp.Resources[0].Configs {
			if v >= 3 && (e.Documentation == nil || *e.Documentation == "" || e.ConfigType == 0) || e.IsDefault {
				t.Errorf("version %d: %+v", v, e)
			}
		}
	}
	for v := range int16(3) {
		req := alterConfigsRequest(false, aTopic, "none", "retention.ms=5")
		req.Version = v
		resp := kmsg.NewPtrAlterConfigsResponse()
		resp.Version = v
		if err := resp.ReadFrom(c.alter(context.Background(), req).AppendTo(nil)); err != nil || resp.Resources[0].ErrorCode != 3 {
			t.Errorf("AlterConfigs %d: %v", v, err)
		}
	}
	for v := range int16(2) {
		req := changeConfigsRequest(aTopic, "t", "=retention.ms=5")
		req.Version = v
		resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
		resp.Version = v
		if err := resp.ReadFrom(c.change(context.Background(), req).AppendTo(nil)); err != nil || resp.Resources[0].ErrorCode != 0 || resp.Resources[0].ErrorMessage != nil {
			t.Errorf("IncrementalAlterConfigs %d: %v", v, err)
		}
	}
}
