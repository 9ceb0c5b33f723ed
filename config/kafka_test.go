package config

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordedSettings are the settings of the broker whose answers testdata
// holds, beside the addresses and directories.
var recordedSettings = []string{
	"broker.id=0", "node.id=0", "listeners=PLAINTEXT://127.0.0.1:9092", "log.dirs=/tmp/x", "zookeeper.connect=", "num.partitions=1",
	"auto.create.topics.enable=true", "group.initial.rebalance.delay.ms=0", "offsets.topic.replication.factor=1",
	"transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "log.retention.check.interval.ms=3600000",
}

// placeNames are settings whose values the recording does not keep.
var placeNames = nameSet("listeners", "advertised.listeners", "log.dir", "log.dirs", "metadata.log.dir", "zookeeper.connect",
	"broker.id", "node.id", "process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers")

func TestAnswersAreThoseOfKafka(t *testing.T) {
	t.Parallel()
	s := load(t, recordedSettings...)
	own := map[string]string{"retention.ms": "77", "cleanup.policy": "compact,delete", "compression.type": "lz4"}
	for file, entries := range map[string][]Entry{
		"broker.txt":    s.DescribeBroker(Dynamic{}),
		"topic.txt":     s.DescribeTopic(Dynamic{}, nil),
		"topic_own.txt": s.DescribeTopic(Dynamic{}, own),
	} {
		var ours []string
		for _, e := range entries {
			ours = append(ours, entryLine(e))
		}
		if diff := cmp.Diff(testdataLines(t, file), ours); diff != "" {
			t.Errorf("%s (-Kafka +ours):\n%s", file, diff)
		}
	}
}

func TestEveryBrokerSettingIsListedOrHidden(t *testing.T) {
	t.Parallel()
	if n := len(testdataLines(t, "broker.txt")); n != 314 {
		t.Fatalf("the recording has %d broker settings, want 314", n)
	}
	if n := len(topicNames); n != 36 {
		t.Errorf("%d topic settings, want 36", n)
	}
	for name := range hidden {
		if BrokerSetting(name) == nil {
			t.Errorf("hidden setting %s is not declared", name)
		}
	}
	for _, m := range []map[string]*Setting{brokerByName, topicByName, dynamicOnlyByName} {
		for _, s := range m {
			if s.Doc == "" {
				t.Errorf("%s has no documentation", s.Name)
			}
			if s.HasDefault() && s.Name != "controller.quorum.voters" {
				if _, _, problem := s.read(s.Default); problem != "" && s.Type != Class {
					t.Errorf("the default of %s is invalid: %s", s.Name, problem)
				}
				if got := s.defaultValue().text; got != s.Default {
					t.Errorf("the default of %s is written %q, reads %q", s.Name, s.Default, got)
				}
			}
		}
	}
	if len(brokerByName) != len(brokerTable) || len(topicByName) != len(topicSettings) {
		t.Error("a setting is declared twice")
	}
}

func TestSynonymsAreDeclared(t *testing.T) {
	t.Parallel()
	for topic, broker := range topicSynonym {
		a, b := topicByName[topic], brokerByName[broker]
		if a == nil || b == nil {
			t.Errorf("%s or %s is not declared", topic, broker)
			continue
		}
		if a.Type != b.Type {
			t.Errorf("%s is %s, its synonym %s is %s", topic, a.Type, broker, b.Type)
		}
	}
	for name := range refusals {
		if base := strings.TrimPrefix(name, "config.providers"); base == name && BrokerSetting(name) == nil &&
			name != "super.users" && name != "allow.everyone.if.no.acl.found" {
			t.Errorf("refused setting %s is not declared", name)
		}
	}
}

// TestValuesAreJudgedLikeKafka holds types and rules against what Kafka's own
// code said about every setting.
func TestValuesAreJudgedLikeKafka(t *testing.T) {
	t.Parallel()
	for _, line := range testdataLines(t, "values.txt") {
		kind, rest, _ := strings.Cut(line, " ")
		name, rest, _ := strings.Cut(rest, " ")
		var raw string
		dec := json.NewDecoder(strings.NewReader(rest))
		if err := dec.Decode(&raw); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rest = rest[dec.InputOffset():]
		want := rest[3:]
		s := BrokerSetting(name)
		if kind == "T" {
			s = TopicSetting(name)
		}
		if s == nil {
			t.Errorf("%s is not declared", name)
			continue
		}
		v, shown, problem := s.read(raw)
		got := v.text
		if rest[1] == '!' {
			got = invalidValue(s, shown, problem).Message
		}
		if (problem != "") != (rest[1] == '!') || got != want {
			t.Errorf("%s=%q:\n got %s (%s)\nwant %s", name, raw, got, problem, want)
		}
	}
}

func TestJavaDouble(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0.0", "-0": "-0.0", "1": "1.0", "0.5": "0.5", "0.001": "0.001", "0.0001": "1.0E-4", "9999999": "9999999.0",
		"1e7": "1.0E7", "12345678.5": "1.23456785E7", "1.7976931348623157E308": "1.7976931348623157E308", "5e-324": "5.0E-324",
		"0.25f": "0.25", "2D": "2.0", "0x1p3": "8.0",
	} {
		v, problem := parse(Double, text)
		if problem != "" || v.text != want {
			t.Errorf("%s is written %q (%s), want %q", text, v.text, problem, want)
		}
	}
	for _, text := range []string{"", "NaN", "Infinity", "1dd", "d", "1e999"} {
		if v, problem := parse(Double, text); problem == "" {
			t.Errorf("%q is read as %v", text, v.real)
		}
	}
}

// entryLine writes an entry as testdata does.
func entryLine(e Entry) string {
	quote := func(name string, v *string) string {
		switch {
		case v == nil:
			return "-"
		case placeNames[name]:
			return `"<place>"`
		}
		b, _ := json.Marshal(*v)
		return string(b)
	}
	flags := "w"
	if e.ReadOnly {
		flags = "r"
	}
	if e.Sensitive {
		flags += "s"
	}
	parts := []string{e.Name, e.Type.String(), quote(e.Name, e.Value), fmt.Sprint(int8(e.Source)), flags}
	for _, s := range e.Synonyms {
		parts = append(parts, fmt.Sprintf("%s=%s@%d", s.Name, quote(s.Name, s.Value), s.Source))
	}
	return strings.Join(parts, " ")
}

func testdataLines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for in := bufio.NewScanner(f); in.Scan(); {
		if l := in.Text(); !strings.HasPrefix(l, "#") {
			lines = append(lines, l)
		}
	}
	return lines
}

// load is Load with overrides only, which must be fine.
func load(t *testing.T, overrides ...string) *Static {
	t.Helper()
	s, _, err := Load(LoadOptions{Overrides: overrides, Hostname: "host.test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
