package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/bench/replay"
)

// call sends one request on a connection of its own.
func (e *Env) call(ctx context.Context, address string, req kmsg.Request) (kmsg.Response, error) {
	conn, err := e.Dialer.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(60 * time.Second))
	return replay.Call(conn, req)
}

// hello succeeds when the broker answers ApiVersions and Metadata.
func (e *Env) hello(ctx context.Context, address string) error {
	if _, err := e.call(ctx, address, apiVersions()); err != nil {
		return err
	}
	_, err := e.call(ctx, address, metadata())
	return err
}

func apiVersions() kmsg.Request {
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(3)
	req.ClientSoftwareName, req.ClientSoftwareVersion = "barnabas-bench", "1"
	return req
}

func metadata(topics ...string) kmsg.Request {
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(9)
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	return req
}

// create creates a topic and waits until every partition has a leader. It gives
// the time until the broker answered and until they all had one.
func (e *Env) create(ctx context.Context, address, topic string, partitions int) (answered, led time.Duration, err error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(5)
	req.TimeoutMillis = 60_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, int32(partitions), 1
	req.Topics = append(req.Topics, t)
	start := time.Now()
	res, err := e.call(ctx, address, req)
	if err != nil {
		return 0, 0, fmt.Errorf("create %s: %w", topic, err)
	}
	for _, t := range res.(*kmsg.CreateTopicsResponse).Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return 0, 0, fmt.Errorf("create %s: %w", topic, err)
		}
	}
	answered = time.Since(start)
	err = e.awaitLeaders(ctx, address, topic, partitions)
	return answered, time.Since(start), err
}

// awaitLeaders waits until metadata shows a leader for every partition.
func (e *Env) awaitLeaders(ctx context.Context, address, topic string, partitions int) error {
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(time.Millisecond) {
		res, err := e.call(ctx, address, metadata(topic))
		if err != nil {
			return fmt.Errorf("metadata of %s: %w", topic, err)
		}
		led := 0
		for _, t := range res.(*kmsg.MetadataResponse).Topics {
			for _, p := range t.Partitions {
				if p.Leader >= 0 && p.ErrorCode == 0 {
					led++
				}
			}
		}
		if led == partitions {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %d of %d partitions have a leader after a minute", topic, led, partitions)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
