package floor

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// null is a broker that keeps the last batch of each partition and the number
// of records that were written to it. A Fetch gets that batch over and over.
type null struct {
	mu     sync.Mutex // guards what follows
	topics map[string][]*nullPartition
	grown  *sync.Cond // an append happened
}

type nullPartition struct {
	end   int64
	batch []byte
	count int64 // records in batch
}

// Null answers ApiVersions, Metadata, CreateTopics, Produce version 8 and
// Fetch version 11 as far as the bench needs.
func Null() error {
	n := &null{topics: map[string][]*nullPartition{}}
	n.grown = sync.NewCond(&n.mu)
	go func() { // wakes waiting fetches so that they see their deadline
		for range time.Tick(10 * time.Millisecond) {
			n.grown.Broadcast()
		}
	}()
	return serve(func(conn *net.TCPConn) error {
		r := frameReader{conn: conn}
		for {
			frame, err := r.next()
			if err != nil {
				return err
			}
			if len(frame) < 10 {
				return fmt.Errorf("a frame of %d bytes", len(frame))
			}
			answer, err := n.answer(frame)
			if err != nil {
				return err
			}
			if _, err := conn.Write(answer); err != nil {
				return err
			}
		}
	})
}

func (n *null) answer(frame []byte) ([]byte, error) {
	key, version := kmsg.Key(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	if key == kmsg.Produce {
		return n.produce(frame)
	}
	req := key.Request()
	if req == nil {
		return nil, fmt.Errorf("request of key %d", key)
	}
	req.SetVersion(version)
	at := 10 + int(binary.BigEndian.Uint16(frame[8:])) // client id
	if req.IsFlexible() {
		at++ // no tagged fields
	}
	if at > len(frame) {
		return nil, fmt.Errorf("a header of %d bytes in a frame of %d", at, len(frame))
	}
	if err := req.ReadFrom(frame[at:]); err != nil {
		return nil, err
	}
	var res kmsg.Response
	switch req := req.(type) {
	case *kmsg.MetadataRequest:
		res = n.metadata(req)
	case *kmsg.CreateTopicsRequest:
		res = n.create(req)
	case *kmsg.FetchRequest:
		res = n.fetch(req)
	default:
		res = req.ResponseKind()
	}
	res.SetVersion(version)
	out := append(make([]byte, 4, 256), frame[4:8]...)
	if res.IsFlexible() && key != kmsg.ApiVersions {
		out = append(out, 0)
	}
	out = res.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out, nil
}

func (n *null) create(req *kmsg.CreateTopicsRequest) kmsg.Response {
	n.mu.Lock()
	defer n.mu.Unlock()
	res := kmsg.NewPtrCreateTopicsResponse()
	for _, t := range req.Topics {
		partitions := make([]*nullPartition, t.NumPartitions)
		for i := range partitions {
			partitions[i] = &nullPartition{}
		}
		n.topics[t.Topic] = partitions
		rt := kmsg.NewCreateTopicsResponseTopic()
		rt.Topic = t.Topic
		res.Topics = append(res.Topics, rt)
	}
	return res
}

func (n *null) metadata(req *kmsg.MetadataRequest) kmsg.Response {
	n.mu.Lock()
	defer n.mu.Unlock()
	res := kmsg.NewPtrMetadataResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewMetadataResponseTopic()
		rt.Topic = t.Topic
		for i := range n.topics[*t.Topic] {
			rp := kmsg.NewMetadataResponseTopicPartition()
			rp.Partition, rp.Leader = int32(i), 1
			rt.Partitions = append(rt.Partitions, rp)
		}
		res.Topics = append(res.Topics, rt)
	}
	return res
}

func (n *null) produce(frame []byte) ([]byte, error) {
	p, err := parseProduce(frame)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	partitions := n.topics[string(p.topic)]
	if int(p.partition) >= len(partitions) {
		return nil, fmt.Errorf("no partition %s-%d", p.topic, p.partition)
	}
	partition := partitions[p.partition]
	if len(partition.batch) != len(p.batch) {
		partition.batch = append([]byte(nil), p.batch...)
		partition.count = int64(binary.BigEndian.Uint32(p.batch[57:]))
	}
	base := partition.end
	partition.end += partition.count
	n.grown.Broadcast()
	return p.response(nil, base), nil
}

func (n *null) fetch(req *kmsg.FetchRequest) kmsg.Response {
	n.mu.Lock()
	defer n.mu.Unlock()
	deadline := time.Now().Add(time.Duration(req.MaxWaitMillis) * time.Millisecond)
	for {
		res, size := n.read(req)
		if size > 0 || !time.Now().Before(deadline) {
			return res
		}
		n.grown.Wait()
	}
}

// read is an answer to req and how many bytes of records it has. n.mu is held.
func (n *null) read(req *kmsg.FetchRequest) (*kmsg.FetchResponse, int) {
	res := kmsg.NewPtrFetchResponse()
	size := 0
	for _, t := range req.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition = p.Partition
			if partitions := n.topics[t.Topic]; int(p.Partition) < len(partitions) {
				from := partitions[p.Partition]
				rp.HighWatermark = from.end
				for at := p.FetchOffset; at < from.end && len(rp.RecordBatches)+len(from.batch) <= int(p.PartitionMaxBytes); at += from.count {
					rp.RecordBatches = append(rp.RecordBatches, from.batch...)
				}
			}
			size += len(rp.RecordBatches)
			rt.Partitions = append(rt.Partitions, rp)
		}
		res.Topics = append(res.Topics, rt)
	}
	return res, size
}
