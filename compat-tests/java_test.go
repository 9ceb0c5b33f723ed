package compat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"barnabas/compat-tests/harness"
)

// errNoJava says why Kafka's tools cannot run here.
var errNoJava = errors.New("java and mvn are needed")

// kafkaJars fetches Kafka's jars once, into a folder of the user's cache.
var kafkaJars = sync.OnceValues(func() (string, error) {
	for _, p := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(p); err != nil {
			return "", errNoJava
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "barnabas", "kafka-tools-3.9.1")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir, nil
	}
	out, err := exec.Command("mvn", "-q", "-B", "-f", "java/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("fetch Kafka's jars: %w\n%s", err, out)
	}
	return dir, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600)
})

// tool runs one of Kafka's command line tools and gives its output.
func tool(t *testing.T, stdin, class string, args ...string) string {
	t.Helper()
	jars, err := kafkaJars()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("java", append([]string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars, "*"), class}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %v: %v\n%s\n%s", class, args, err, out.String(), errs.String())
	}
	return out.String()
}

func wantIn(t *testing.T, output string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(output, w) {
			t.Errorf("the output lacks %q:\n%s", w, output)
		}
	}
}

// TestKafkasTools runs the tools of Apache Kafka 3.9.1 against our binary, in the
// order an operator would.
func TestKafkasTools(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a JVM for each of a dozen commands")
	}
	if _, err := kafkaJars(); errors.Is(err, errNoJava) {
		t.Skip(err)
	}
	b := harness.Start(t)
	at := []string{"--bootstrap-server", b.Addr}
	const topics = "org.apache.kafka.tools.TopicCommand"

	wantIn(t, tool(t, "", topics, append(at, "--create", "--topic", "jt", "--partitions", "2", "--config", "retention.ms=100000")...), "Created topic jt.")
	var input strings.Builder
	for i := range 100 {
		fmt.Fprintf(&input, "line %d\n", i)
	}
	tool(t, input.String(), "kafka.tools.ConsoleProducer", append(at, "--topic", "jt", "--compression-codec", "zstd")...)
	offsets := tool(t, "", "org.apache.kafka.tools.GetOffsetShell", append(at, "--topic", "jt")...)
	got := 0
	for p := range 2 {
		var n int
		if _, err := fmt.Sscanf(offsets[strings.Index(offsets, fmt.Sprintf("jt:%d:", p)):], fmt.Sprintf("jt:%d:%%d", p), &n); err != nil {
			t.Fatalf("offsets %q: %v", offsets, err)
		}
		if n == 0 {
			continue
		}
		out := tool(t, "", "org.apache.kafka.tools.consumer.ConsoleConsumer", append(at, "--topic", "jt", "--partition", fmt.Sprint(p), "--offset", "earliest", "--max-messages", fmt.Sprint(n), "--timeout-ms", "20000")...)
		got += strings.Count(out, "line ")
	}
	if got != 100 {
		t.Errorf("%d of 100 lines were consumed", got)
	}
	wantIn(t, tool(t, "", "kafka.admin.ConfigCommand", append(at, "--alter", "--entity-type", "topics", "--entity-name", "jt", "--add-config", "max.message.bytes=2000")...), "Completed updating config for topic jt.")
	wantIn(t, tool(t, "", topics, append(at, "--describe", "--topic", "jt")...), "PartitionCount: 2", "ReplicationFactor: 1", "max.message.bytes=2000", "retention.ms=100000", "Leader: 1", "Isr: 1")
	wantIn(t, tool(t, "", "kafka.admin.ConfigCommand", append(at, "--describe", "--entity-type", "topics", "--entity-name", "jt")...),
		"max.message.bytes=2000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000, DEFAULT_CONFIG:message.max.bytes=1048588}")
	wantIn(t, tool(t, "", "org.apache.kafka.tools.LogDirsCommand", append(at, "--describe", "--topic-list", "jt")...), `"partition":"jt-0"`, `"partition":"jt-1"`, `"logDir":"`+b.Dir+`"`)
	file := filepath.Join(t.TempDir(), "delete.json")
	if err := os.WriteFile(file, []byte(`{"partitions":[{"topic":"jt","partition":0,"offset":-1},{"topic":"jt","partition":1,"offset":-1}],"version":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantIn(t, tool(t, "", "org.apache.kafka.tools.DeleteRecordsCommand", append(at, "--offset-json-file", file)...), "partition: jt-0\tlow_watermark:", "partition: jt-1\tlow_watermark:")
	tool(t, "", topics, append(at, "--alter", "--topic", "jt", "--partitions", "3")...)
	wantIn(t, tool(t, "", topics, append(at, "--describe", "--topic", "jt")...), "PartitionCount: 3")
	tool(t, "", topics, append(at, "--delete", "--topic", "jt")...)
	if out := tool(t, "", topics, append(at, "--list")...); strings.Contains(out, "jt") {
		t.Errorf("the deleted topic is listed: %q", out)
	}
}

// TestKafkaReadsOurSegments has Kafka's own DumpLogSegments check a segment.
func TestKafkaReadsOurSegments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a JVM")
	}
	if _, err := kafkaJars(); errors.Is(err, errNoJava) {
		t.Skip(err)
	}
	b := harness.Start(t)
	c := b.Dial()
	c.CreateTopic("dumped", 1)
	for i := range 300 {
		if p := c.Produce(9, "dumped", 0, harness.Batch(batchOptions(i), 1000+int64(i), strings.Repeat("x", 200))); p.ErrorCode != 0 {
			t.Fatal(p.ErrorCode)
		}
	}
	b.Stop()
	segment := filepath.Join(b.Dir, "dumped-0", "00000000000000000000")
	out := tool(t, "", "kafka.tools.DumpLogSegments", "--deep-iteration", "--files", segment+".log,"+segment+".index,"+segment+".timeindex")
	wantIn(t, out, "baseOffset: 299", "isvalid: true")
	for _, bad := range []string{"isvalid: false", "Mismatches", "mismatch", "Found timestamp mismatch", "non-consecutive"} {
		if strings.Contains(out, bad) {
			t.Errorf("Kafka finds %q:\n%s", bad, out)
		}
	}
	b.Restart()
}
