package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the documents that are generated from the tables")

// TestGeneratedDocuments holds docs/config.md and docs/server.properties
// against the tables they come from. `go generate ./config` writes them.
func TestGeneratedDocuments(t *testing.T) {
	t.Parallel()
	for path, text := range map[string]string{"../docs/config.md": reference(), "../docs/server.properties": sample()} {
		if *update {
			if err := os.MkdirAll("../docs", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		there, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v (run: go generate ./config)", err)
		}
		if !bytes.Equal(there, []byte(text)) {
			t.Errorf("%s is not what the tables say; run: go generate ./config", strings.TrimPrefix(path, "../"))
		}
	}
}

// TestSampleFileLoads reads the sample as it is, and with every setting in it
// switched on: neither gives a warning, nor another configuration than none.
func TestSampleFileLoads(t *testing.T) {
	t.Parallel()
	all := strings.ReplaceAll(sample(), "\n#", "\n")
	var lines []string
	for _, l := range strings.Split(all, "\n") {
		if k, _, ok := strings.Cut(l, "="); ok && !strings.Contains(k, " ") {
			lines = append(lines, l)
		}
	}
	if len(lines) < 40 {
		t.Fatalf("the sample has %d settings", len(lines))
	}
	want := fmt.Sprintf("%+v", Defaults().Broker())
	for _, text := range []string{sample(), strings.Join(lines, "\n")} {
		s, warnings, err := loadFile(t, text, nil, nil)
		if err != nil || len(warnings) > 0 {
			t.Errorf("error %v, warnings %q", err, warnings)
			continue
		}
		if got := fmt.Sprintf("%+v", s.Broker()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// themes are the parts of the documents, in order.
var themes = []struct {
	title string
	table []Setting
}{
	{"Barnabas' own", ownSettings},
	{"General", generalSettings},
	{"Listeners, connections, requests", networkSettings},
	{"Logs", logSettings},
	{"Replication", replicationSettings},
	{"Groups and offsets", groupSettings},
	{"Transactions and producer ids", transactionSettings},
	{"Quotas and metrics", quotaSettings},
	{"Authorization, policies, tokens, stored passwords", securitySettings},
	{"SASL", saslSettings},
	{"TLS", sslSettings},
	{"Remote storage", remoteSettings},
	{"ZooKeeper and KRaft", metadataSettings},
	{"Only at run time", dynamicOnlySettings},
}

const introduction = `# Settings

<!-- Generated from config/table_*.go by "go generate ./config". Do not edit. -->

Barnabas takes the settings of an Apache Kafka 3.9 ` + "`server.properties`" + `, with Kafka's names, types, defaults and bounds. Three defaults are
our own, so that a broker runs without a file: ` + "`listeners`" + ` is on the loopback address only, ` + "`log.dir`" + ` is ` + "`./data`" + `, ` + "`broker.id`" + ` is 1.

A value comes from the first of these that has it:

1. ` + "`barnabas serve --override key=value`" + `, the last one of a key
2. the environment: ` + "`KAFKA_LOG_RETENTION_MS`" + ` is ` + "`log.retention.ms`" + ` (after the prefix, ` + "`_`" + ` is a dot, ` + "`__`" + ` an underscore, ` + "`___`" + ` a dash);
   ` + "`BARNABAS_METRICS_LISTENER`" + ` is ` + "`barnabas.metrics.listener`" + `; variables of Kafka's scripts such as ` + "`KAFKA_HEAP_OPTS`" + ` are left alone
3. the file
4. the default

A value that is wrong stops the start, with its place, the key, the value and what is allowed. An unknown key is warned about. A broker changes
settings marked *cluster-wide* or *per-broker* while it runs (` + "`barnabas config`" + `, ` + "`kafka-configs`" + `); *read-only* ones at a restart.

*Here* says what a setting does in this version: it **acts**; **not yet**: it is read and reported, but the part it configures is not built;
**no effect**: there is nothing here for it to configure.

`

func reference() string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("## Refused settings\n\nThese ask for security or durability that is not built. Each stops the start unless it is empty or its default.\n\n")
	b.WriteString("| setting | why |\n|---|---|\n")
	b.WriteString("| `listeners` with SSL, SASL_SSL or SASL_PLAINTEXT | " + noTLS + " |\n")
	b.WriteString("| `zookeeper.connect` | " + noZooKeeper + " |\n")
	b.WriteString("| values such as `${file:…}` | " + noProviders + " |\n")
	for _, name := range refusedNames() {
		reason := refusals[name].reason
		if name == "sasl.*" {
			reason = noSASL
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, reason)
	}
	b.WriteString("\nThe same holds for them with the prefix of one listener, `listener.name.<listener>.`.\n\n## Topics\n\n")
	b.WriteString("| name | type | default | allowed | default comes from | here | |\n|---|---|---|---|---|---|---|\n")
	for _, name := range topicNames {
		s := topicByName[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", name, strings.ToLower(s.Type.String()), cell(s.Default), allowedCell(s),
			codes(TopicSynonyms(name)), s.Effect, s.Doc)
	}
	for _, th := range themes {
		fmt.Fprintf(&b, "\n## %s\n\n| name | type | default | allowed | importance | changes | here | |\n|---|---|---|---|---|---|---|---|\n", th.title)
		for _, s := range th.table {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", s.Name, strings.ToLower(s.Type.String()), cell(s.Default), allowedCell(&s),
				s.Importance, s.Update, s.Effect, s.Doc)
		}
	}
	return b.String()
}

// refusedNames lists the refused settings; those of SASL are one row.
func refusedNames() []string {
	names := slices.DeleteFunc(sortedKeysOf(refusals), func(n string) bool { return strings.HasPrefix(n, "sasl.") })
	return append(names, "sasl.*")
}

func sortedKeysOf(m map[string]refusal) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func cell(text string) string {
	switch text {
	case null:
		return "none"
	case "":
		return "empty"
	}
	return "`" + text + "`"
}

func allowedCell(s *Setting) string {
	if s.Valid == nil {
		if s.Type == Boolean {
			return s.Allowed()
		}
		return ""
	}
	return strings.ReplaceAll(s.Allowed(), "|", "\\|")
}

func codes(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	return strings.Join(quoted, ", ")
}

func sample() string {
	var b strings.Builder
	b.WriteString(`# A server.properties for Barnabas. Every line is the default: take the "#" off
# and change what you need. docs/config.md has all settings.
# Generated from config/table_*.go by "go generate ./config". Do not edit.
`)
	for _, th := range themes {
		first := true
		for _, s := range th.table {
			if s.Effect != Acts || !s.HasDefault() || s.Importance == Low || hidden[s.Name] || refusals[s.Name].reason != "" || internalTopics[s.Name] {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n### %s ###\n", th.title)
				first = false
			}
			fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", s.Doc, s.Name, s.Default)
		}
	}
	return b.String()
}
