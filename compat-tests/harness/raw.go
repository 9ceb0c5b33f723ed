package harness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/record"
)

// Conn is a connection for single requests.
type Conn struct {
	t  testing.TB
	NC net.Conn
	id int32
}

// Dial opens a connection that the test closes.
func (b *Broker) Dial() *Conn {
	b.t.Helper()
	return DialAddr(b.t, b.Addr)
}

// DialAddr opens a connection to any address.
func DialAddr(t testing.TB, addr string) *Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(60 * time.Second))
	return &Conn{t: t, NC: nc}
}

// Frame encodes a request with its header.
func Frame(req kmsg.Request, id int32) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("x")).AppendRequest(nil, req, id)
}

// Do sends a request at a version and reads its response.
func Do[R kmsg.Response](c *Conn, req kmsg.Request, version int16) R {
	c.t.Helper()
	r, err := TryDo(c, req, version)
	if err != nil {
		c.t.Fatalf("%s version %d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	return r.(R)
}

// TryDo is Do with an error.
func TryDo(c *Conn, req kmsg.Request, version int16) (kmsg.Response, error) {
	req.SetVersion(version)
	c.id++
	if _, err := c.NC.Write(Frame(req, c.id)); err != nil {
		return nil, err
	}
	b, err := c.ReadFrame()
	if err != nil {
		return nil, err
	}
	if id := int32(binary.BigEndian.Uint32(b)); id != c.id {
		return nil, fmt.Errorf("correlation id %d, want %d", id, c.id)
	}
	b = b[4:]
	if req.IsFlexible() && req.Key() != kmsg.ApiVersions.Int16() {
		b = b[1:] // no tagged fields in the header
	}
	resp := req.ResponseKind()
	return resp, resp.ReadFrom(b)
}

// ReadFrame reads one frame without its length.
func (c *Conn) ReadFrame() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c.NC, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(c.NC, b)
	return b, err
}

// Closed tells whether the broker closed the connection without a reply.
func (c *Conn) Closed() bool {
	_, err := c.ReadFrame()
	var timeout net.Error
	return err != nil && !(errors.As(err, &timeout) && timeout.Timeout())
}

// Batch builds a batch of records with the values, the first at timestamp ms and
// each next one a millisecond later.
func Batch(o record.BuilderOptions, ms int64, values ...string) []byte {
	b := record.NewBuilder(o)
	for i, v := range values {
		b.Append(ms+int64(i), nil, []byte(v))
	}
	return b.Build()
}

// Produce sends records to a partition at a version up to 12 and gives the
// partition's answer.
func (c *Conn) Produce(version int16, topic string, partition int32, records []byte) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10000
	t, p := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	t.Topic, p.Partition, p.Records = topic, partition, records
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return Do[*kmsg.ProduceResponse](c, req, version).Topics[0].Partitions[0]
}

// FetchRequest asks for partitions of a topic from an offset on.
func FetchRequest(topic string, offset int64, partitions ...int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MinBytes, req.MaxBytes, req.SessionEpoch = 1, 50<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	for _, n := range partitions {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = n, offset, 10<<20
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// Fetch reads a partition from an offset on, at a version up to 12.
func (c *Conn) Fetch(version int16, topic string, partition int32, offset int64) kmsg.FetchResponseTopicPartition {
	c.t.Helper()
	return Do[*kmsg.FetchResponse](c, FetchRequest(topic, offset, partition), version).Topics[0].Partitions[0]
}

// ListOffset asks for one offset of partition 0, at version 7.
func (c *Conn) ListOffset(topic string, timestamp int64) kmsg.ListOffsetsResponseTopicPartition {
	c.t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	t.Topic, p.Timestamp, p.CurrentLeaderEpoch = topic, timestamp, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return Do[*kmsg.ListOffsetsResponse](c, req, 7).Topics[0].Partitions[0]
}

// CreateTopic creates a topic; configs are key, value in turn.
func (c *Conn) CreateTopic(name string, partitions int32, configs ...string) {
	c.t.Helper()
	if code := c.TryCreateTopic(name, partitions, configs...); code != 0 {
		c.t.Fatalf("create topic %s: error %d", name, code)
	}
}

// TryCreateTopic is CreateTopic with the error code.
func (c *Conn) TryCreateTopic(name string, partitions int32, configs ...string) int16 {
	c.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	for i := 0; i+1 < len(configs); i += 2 {
		cfg := kmsg.NewCreateTopicsRequestTopicConfig()
		cfg.Name, cfg.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, cfg)
	}
	req.Topics = append(req.Topics, t)
	return Do[*kmsg.CreateTopicsResponse](c, req, 5).Topics[0].ErrorCode
}

// Eventually waits until ok, for ten seconds at most.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}
