package broker_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"barnabas/broker"
	"barnabas/config"
	"barnabas/internal/clock"
)

// running is a broker inside the test's process.
type running struct {
	b    *broker.Broker
	stop func() error
}

func field(b *broker.Broker, name string) string {
	for _, f := range b.Describe() {
		if f.Key == name {
			return f.String
		}
	}
	return ""
}

func (r *running) addr() string { return strings.TrimPrefix(field(r.b, "listeners"), "PLAINTEXT://") }

func open(t *testing.T, dir string, overrides ...string) (*broker.Broker, error) {
	t.Helper()
	static, _, err := config.Load(config.LoadOptions{Overrides: append([]string{
		"listeners=PLAINTEXT://127.0.0.1:0", "log.dirs=" + dir, "barnabas.metrics.listener=127.0.0.1:0",
	}, overrides...)})
	if err != nil {
		t.Fatal(err)
	}
	return broker.Open(t.Context(), broker.Options{
		Static: static, Logger: zaptest.NewLogger(t), LogLevel: zap.NewAtomicLevel(), Clock: clock.System(), Version: "test",
	})
}

func start(t *testing.T, dir string, overrides ...string) *running {
	t.Helper()
	b, err := open(t, dir, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	select {
	case <-b.Ready():
	case err := <-done:
		t.Fatal("the broker ended:", err)
	case <-time.After(20 * time.Second):
		t.Fatal("not ready after 20 s")
	}
	return &running{b, func() error { cancel(); return <-done }}
}

func client(t *testing.T, r *running) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.addr()), kgo.AllowAutoTopicCreation(), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func get(t *testing.T, r *running, path string) (int, string) {
	t.Helper()
	url := strings.TrimSuffix(field(r.b, "metrics"), "/metrics") + path
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestStartServeStop starts a broker, uses it, stops it, finds everything again,
// and leaves no goroutine behind.
func TestStartServeStop(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir := t.TempDir()
	r := start(t, dir)
	cl := client(t, r)
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		code, body := get(t, r, path)
		var status struct{ Status string }
		if err := json.Unmarshal([]byte(body), &status); err != nil || code != 200 || status.Status != "ok" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	_, figures := get(t, r, "/metrics")
	for _, want := range []string{
		`kafka_server_brokertopicmetrics_messagesin_total{topic="t"} 1`, `kafka_network_requestmetrics_requests_total{request="Produce",version="`,
		`kafka_network_requestmetrics_errors_total{error="NONE",request="Produce"} 1`, "kafka_controller_kafkacontroller_activecontrollercount 1",
		`kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.99"}`,
	} {
		if !strings.Contains(figures, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	cl.Close()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".kafka_cleanshutdown")); err != nil {
		t.Error("no clean-shutdown marker:", err)
	}
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before)

	again := start(t, dir)
	ends, err := kadm.NewClient(client(t, again)).ListEndOffsets(t.Context(), "t")
	if o, _ := ends.Lookup("t", 0); err != nil || o.Offset != 1 {
		t.Errorf("after a restart: %+v %v", o, err)
	}
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}
}

// TestAChangedSettingActs changes settings of a topic and expects the open log to
// follow without a restart.
func TestAChangedSettingActs(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir())
	defer func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}()
	cl := client(t, r)
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(t.Context(), 1, 1, nil, "t"); err != nil {
		t.Fatal(err)
	}
	produce := func() error {
		return cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Value: make([]byte, 3000)}).FirstErr()
	}
	if err := produce(); err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) {
		t.Helper()
		rs, err := adm.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}, "t")
		if err == nil {
			_, err = rs.On("t", nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set("max.message.bytes", "2000")
	if err := produce(); err == nil {
		t.Error("a record above the new max.message.bytes was taken")
	}
	set("max.message.bytes", "10000")
	if err := produce(); err != nil {
		t.Error("a record below the new max.message.bytes:", err)
	}
}

func TestOneDirectoryOneBroker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, dir)
	if _, err := open(t, dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second broker on the directory: %v", err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir, "broker.id=7"); err == nil || !strings.Contains(err.Error(), "broker.id=1") {
		t.Errorf("another broker on the directory: %v", err)
	}
	// A refused start leaves the directory as it was.
	again := start(t, dir)
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}
}
