package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"barnabas/compat-tests/harness"
)

func saramaConfig(v sarama.KafkaVersion) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = v
	c.Producer.Return.Successes, c.Producer.RequiredAcks = true, sarama.WaitForAll
	c.Consumer.Return.Errors = true
	return c
}

// TestSarama runs sarama at several versions of the protocol: synchronous,
// asynchronous and idempotent producers, a consumer, and the administrator.
func TestSarama(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	for name, v := range map[string]sarama.KafkaVersion{
		"0.11": sarama.V0_11_0_0, "1.0": sarama.V1_0_0_0, "2.1": sarama.V2_1_0_0, "2.8": sarama.V2_8_0_0, "3.6": sarama.V3_6_0_0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := "sarama-" + name
			saramaAdmin(t, b, v, topic)
			n := saramaProduce(t, b, v, topic)
			saramaConsume(t, b, v, topic, n)
		})
	}
}

func saramaAdmin(t *testing.T, b *harness.Broker, v sarama.KafkaVersion, topic string) {
	t.Helper()
	adm, err := sarama.NewClusterAdmin([]string{b.Addr}, saramaConfig(v))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = adm.Close() }()
	retention := "100000"
	if err := adm.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1, ConfigEntries: map[string]*string{"retention.ms": &retention}}, false); err != nil {
		t.Fatal("create topic:", err)
	}
	other := topic + "-other"
	if err := adm.CreateTopic(other, &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1}, false); err != nil {
		t.Fatal("create topic:", err)
	}
	if v.IsAtLeast(sarama.V1_0_0_0) {
		if err := adm.CreatePartitions(other, 3, nil, false); err != nil {
			t.Error("create partitions:", err)
		}
		if dirs, err := adm.DescribeLogDirs([]int32{1}); err != nil || len(dirs[1]) != 1 {
			t.Errorf("log dirs: %v %v", dirs, err)
		}
	}
	described, err := adm.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"}}}, sarama.DescribeConfigsOptions{})
	if err != nil || len(described) != 1 || len(described[0].Configs) != 1 || described[0].Configs[0].Value != retention {
		t.Errorf("describe configs: %v %v", described, err)
	}
	longer := "200000"
	if err := adm.AlterConfig(sarama.TopicResource, topic, map[string]*string{"retention.ms": &longer}, false); err != nil {
		t.Error("alter config:", err)
	}
	if err := adm.DeleteRecords(other, map[int32]int64{0: 0}); err != nil {
		t.Error("delete records:", err)
	}
	if err := adm.DeleteTopic(other); err != nil {
		t.Error("delete topic:", err)
	}
}

// saramaProduce sends records by each kind of producer and tells how many.
func saramaProduce(t *testing.T, b *harness.Broker, v sarama.KafkaVersion, topic string) (n int) {
	t.Helper()
	message := func() *sarama.ProducerMessage {
		n++
		return &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder("k"), Value: sarama.StringEncoder(fmt.Sprint("value-", n-1))}
	}
	codecs := []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy, sarama.CompressionLZ4}
	if v.IsAtLeast(sarama.V2_1_0_0) {
		codecs = append(codecs, sarama.CompressionZSTD)
	}
	for _, codec := range codecs {
		for _, idempotent := range []bool{false, true} {
			c := saramaConfig(v)
			c.Producer.Compression = codec
			if c.Producer.Idempotent = idempotent; idempotent {
				c.Net.MaxOpenRequests = 1
			}
			p, err := sarama.NewSyncProducer([]string{b.Addr}, c)
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				want := int64(n)
				if _, offset, err := p.SendMessage(message()); err != nil || offset != want {
					t.Fatalf("codec %v, idempotent %v: offset %d, %v; want %d", codec, idempotent, offset, err, want)
				}
			}
			_ = p.Close()
		}
	}
	p, err := sarama.NewAsyncProducer([]string{b.Addr}, saramaConfig(v))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for range 100 {
		p.Input() <- message()
	}
	for range 100 {
		select {
		case <-p.Successes():
		case err := <-p.Errors():
			t.Fatal(err)
		}
	}
	return n
}

func saramaConsume(t *testing.T, b *harness.Broker, v sarama.KafkaVersion, topic string, n int) {
	t.Helper()
	c, err := sarama.NewConsumer([]string{b.Addr}, saramaConfig(v))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p, err := c.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for i := range n {
		select {
		case m := <-p.Messages():
			if m.Offset != int64(i) || string(m.Value) != fmt.Sprint("value-", i) {
				t.Fatalf("message %d has offset %d and value %q", i, m.Offset, m.Value)
			}
		case err := <-p.Errors():
			t.Fatal(err)
		case <-time.After(20 * time.Second):
			t.Fatalf("message %d of %d does not come", i, n)
		}
	}
}
