package compat

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"barnabas/compat-tests/harness"
)

func franz(t *testing.T, b *harness.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Addr), kgo.AllowAutoTopicCreation()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func records(n int) (rs []*kgo.Record) {
	for i := range n {
		rs = append(rs, &kgo.Record{
			Key: fmt.Append(nil, "key-", i), Value: fmt.Append(nil, "value-", i),
			Headers: []kgo.RecordHeader{{Key: "n", Value: fmt.Append(nil, i)}},
		})
	}
	return rs
}

// consumeN reads n records of a topic from its start.
func consumeN(ctx context.Context, t *testing.T, cl *kgo.Client, n int) (got []*kgo.Record) {
	t.Helper()
	for len(got) < n {
		fs := cl.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		got = append(got, fs.Records()...)
	}
	return got
}

// TestFranzGo produces and consumes by every codec, at several versions of
// Kafka's protocol.
func TestFranzGo(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	versions := map[string]*kversion.Versions{
		"0.11": kversion.V0_11_0(), "1.0": kversion.V1_0_0(), "2.1": kversion.V2_1_0(), "2.8": kversion.V2_8_0(), "3.6": kversion.V3_6_0(), "latest": nil,
	}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	for vname, v := range versions {
		for cname, codec := range codecs {
			t.Run(vname+" "+cname, func(t *testing.T) {
				t.Parallel()
				ctx, topic := within(t), fmt.Sprintf("t-%s-%s", vname, cname)
				b.Dial().CreateTopic(topic, 1)
				opts := []kgo.Opt{kgo.DefaultProduceTopic(topic), kgo.ConsumeTopics(topic), kgo.ProducerBatchCompression(codec), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}
				if v != nil {
					opts = append(opts, kgo.MaxVersions(v))
				}
				cl := franz(t, b, opts...)
				want := records(500)
				if err := cl.ProduceSync(ctx, want...).FirstErr(); err != nil {
					t.Fatal(err)
				}
				for i, r := range consumeN(ctx, t, cl, len(want)) {
					w := want[i]
					if r.Offset != int64(i) || string(r.Key) != string(w.Key) || string(r.Value) != string(w.Value) || len(r.Headers) != 1 || string(r.Headers[0].Value) != fmt.Sprint(i) {
						t.Fatalf("record %d is %+v", i, r)
					}
				}
			})
		}
	}
}

func TestFranzGoAdmin(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	ctx := within(t)
	cl := franz(t, b, kgo.ProducerBatchCompression(kgo.NoCompression()))
	adm := kadm.NewClient(cl)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	created, err := adm.CreateTopics(ctx, 3, 1, map[string]*string{"retention.ms": kadm.StringPtr("100000")}, "a", "b")
	must(err)
	must(created.Error())
	if again, _ := adm.CreateTopic(ctx, 1, 1, nil, "a"); again.Err != kerr.TopicAlreadyExists {
		t.Errorf("creating a twice: %v", again.Err)
	}
	must(cl.ProduceSync(ctx, &kgo.Record{Topic: "a", Partition: 0, Value: []byte("1")}, &kgo.Record{Topic: "a", Value: []byte("2")}).FirstErr())
	ends, err := adm.ListEndOffsets(ctx, "a")
	must(err)
	total := int64(0)
	ends.Each(func(o kadm.ListedOffset) { total += o.Offset })
	if total != 2 {
		t.Errorf("a ends at %d in all, want 2", total)
	}
	grown, err := adm.CreatePartitions(ctx, 2, "a")
	must(err)
	must(grown.Error())
	topics, err := adm.ListTopics(ctx)
	must(err)
	if n := len(topics["a"].Partitions); n != 5 || !topics.Has("b") {
		t.Errorf("a has %d partitions, want 5; topics %v", n, topics.Names())
	}
	altered, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: kadm.StringPtr("5000")}}, "a")
	must(err)
	_, err = altered.On("a", nil)
	must(err)
	configs, err := adm.DescribeTopicConfigs(ctx, "a")
	must(err)
	got := map[string]string{}
	for _, c := range configs[0].Configs {
		got[c.Key] = c.MaybeValue()
	}
	if got["max.message.bytes"] != "5000" || got["retention.ms"] != "100000" || len(got) != 36 {
		t.Errorf("%d settings, max.message.bytes %q, retention.ms %q", len(got), got["max.message.bytes"], got["retention.ms"])
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "a", Value: make([]byte, 6000)}).FirstErr(); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("a record above max.message.bytes: %v", err)
	}
	all := kadm.Offsets{}
	ends.Each(func(o kadm.ListedOffset) { all.AddOffset(o.Topic, o.Partition, -1, -1) })
	gone, err := adm.DeleteRecords(ctx, all)
	must(err)
	must(gone.Error())
	starts, err := adm.ListStartOffsets(ctx, "a")
	must(err)
	starts.Each(func(o kadm.ListedOffset) {
		if end, _ := ends.Lookup(o.Topic, o.Partition); end.Offset != o.Offset {
			t.Errorf("a %d starts at %d after deleting up to %d", o.Partition, o.Offset, end.Offset)
		}
	})
	dirs, err := adm.DescribeAllLogDirs(ctx, nil)
	must(err)
	if size := dirs[1].Size(); size <= 0 || len(dirs[1]) != 1 {
		t.Errorf("%d log directories of %d bytes", len(dirs[1]), size)
	}
	deleted, err := adm.DeleteTopics(ctx, "a", "nosuch")
	must(err)
	if _, err := deleted.On("a", nil); err != nil {
		t.Errorf("deleting a: %v", err)
	}
	if deleted["nosuch"].Err != kerr.UnknownTopicOrPartition {
		t.Errorf("deleting nosuch: %v", deleted["nosuch"].Err)
	}
}
