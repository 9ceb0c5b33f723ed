package cases

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
)

func describe(c *harness.Conn, kind kmsg.ConfigResourceType, name string, names ...string) kmsg.DescribeConfigsResponseResource {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, names
	req.Resources = append(req.Resources, r)
	return harness.Do[*kmsg.DescribeConfigsResponse](c, req, 4).Resources[0]
}

func setting(r kmsg.DescribeConfigsResponseResource, name string) (kmsg.DescribeConfigsResponseResourceConfig, bool) {
	for _, c := range r.Configs {
		if c.Name == name {
			return c, true
		}
	}
	return kmsg.DescribeConfigsResponseResourceConfig{}, false
}

func wantSetting(t *testing.T, r kmsg.DescribeConfigsResponseResource, name, value string, source kmsg.ConfigSource) {
	t.Helper()
	c, ok := setting(r, name)
	if !ok || c.Value == nil || *c.Value != value || c.Source != source {
		t.Errorf("%s: %+v, want %q from %v", name, c, value, source)
	}
}

// C82: all settings, with types, sources and synonyms.
func TestC82(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("t", 1, "retention.ms", "1000")
	topic := describe(c, kmsg.ConfigResourceTypeTopic, "t")
	if len(topic.Configs) != 36 {
		t.Errorf("%d settings of a topic", len(topic.Configs))
	}
	wantSetting(t, topic, "retention.ms", "1000", kmsg.ConfigSourceDynamicTopicConfig)
	// Kafka gives no default synonym of retention.ms: log.retention.ms has none. That
	// of max.message.bytes has.
	if r, _ := setting(topic, "retention.ms"); r.ConfigType != kmsg.ConfigTypeLong || len(r.ConfigSynonyms) != 1 {
		t.Errorf("retention.ms: %+v", r)
	}
	if r, _ := setting(topic, "max.message.bytes"); r.ConfigType != kmsg.ConfigTypeInt || len(r.ConfigSynonyms) != 1 || r.ConfigSynonyms[0].Name != "message.max.bytes" {
		t.Errorf("max.message.bytes: %+v", r)
	}
	broker := describe(c, kmsg.ConfigResourceTypeBroker, "1")
	for _, name := range []string{"num.partitions", "log.dirs", "advertised.listeners", "authorizer.class.name"} {
		if _, ok := setting(broker, name); !ok {
			t.Errorf("the broker has no %s", name)
		}
	}
	if p, ok := setting(broker, "ssl.keystore.password"); !ok || !p.IsSensitive || p.Value != nil {
		t.Errorf("ssl.keystore.password: %+v", p)
	}
	if r := describe(c, kmsg.ConfigResourceTypeTopic, "nosuch"); r.ErrorCode != 3 {
		t.Errorf("an unknown topic: error %d", r.ErrorCode)
	}
	if r := describe(c, kmsg.ConfigResourceTypeTopic, "t", "cleanup.policy"); len(r.Configs) != 1 {
		t.Errorf("%d settings, one was asked for", len(r.Configs))
	}
}

// C83: AlterConfigs replaces the whole set.
func TestC83(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("t", 1, "cleanup.policy", "compact", "retention.ms", "1000", "segment.ms", "2000")
	alter := func(validate bool, name, value string) int16 {
		req := kmsg.NewPtrAlterConfigsRequest()
		req.ValidateOnly = validate
		r, cfg := kmsg.NewAlterConfigsRequestResource(), kmsg.NewAlterConfigsRequestResourceConfig()
		r.ResourceType, r.ResourceName, cfg.Name, cfg.Value = kmsg.ConfigResourceTypeTopic, "t", name, &value
		r.Configs = append(r.Configs, cfg)
		req.Resources = append(req.Resources, r)
		return harness.Do[*kmsg.AlterConfigsResponse](c, req, 1).Resources[0].ErrorCode
	}
	if code := alter(false, "retention.ms", "5000"); code != 0 {
		t.Fatal(code)
	}
	check := func() {
		t.Helper()
		r := describe(c, kmsg.ConfigResourceTypeTopic, "t")
		wantSetting(t, r, "retention.ms", "5000", kmsg.ConfigSourceDynamicTopicConfig)
		wantSetting(t, r, "cleanup.policy", "delete", kmsg.ConfigSourceDefaultConfig)
		wantSetting(t, r, "segment.ms", "604800000", kmsg.ConfigSourceDefaultConfig)
	}
	check()
	if code := alter(true, "retention.ms", "x"); code != 40 {
		t.Errorf("a bad value: error %d", code)
	}
	if code := alter(false, "nosuch", "1"); code != 40 {
		t.Errorf("an unknown setting: error %d", code)
	}
	check()
}

// C84: what a fresh topic says of its settings, and a cluster's default.
func TestC84(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("f", 1)
	wantSetting(t, describe(c, kmsg.ConfigResourceTypeTopic, "f"), "cleanup.policy", "delete", kmsg.ConfigSourceDefaultConfig)
	change := func(op kmsg.IncrementalAlterConfigOp, value *string) {
		t.Helper()
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r, cfg := kmsg.NewIncrementalAlterConfigsRequestResource(), kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		r.ResourceType, cfg.Name, cfg.Op, cfg.Value = kmsg.ConfigResourceTypeBroker, "log.retention.ms", op, value
		r.Configs = append(r.Configs, cfg)
		req.Resources = append(req.Resources, r)
		if x := harness.Do[*kmsg.IncrementalAlterConfigsResponse](c, req, 1).Resources[0]; x.ErrorCode != 0 {
			t.Fatalf("%+v", x)
		}
	}
	value := "7000"
	change(kmsg.IncrementalAlterConfigOpSet, &value)
	wantSetting(t, describe(c, kmsg.ConfigResourceTypeTopic, "f"), "retention.ms", "7000", kmsg.ConfigSourceDynamicDefaultBrokerConfig)
	change(kmsg.IncrementalAlterConfigOpDelete, nil)
	wantSetting(t, describe(c, kmsg.ConfigResourceTypeTopic, "f"), "retention.ms", "604800000", kmsg.ConfigSourceDefaultConfig)
}

// C87 (its stand-in): Connect looks for exactly cleanup.policy=compact.
func TestC87(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	c.CreateTopic("connect-configs", 1, "cleanup.policy", "compact")
	wantSetting(t, describe(c, kmsg.ConfigResourceTypeTopic, "connect-configs"), "cleanup.policy", "compact", kmsg.ConfigSourceDynamicTopicConfig)
}
