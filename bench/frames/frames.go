package frames

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// ClientID is what every frame says.
	ClientID = "barnabas-bench"
	// CorrelationAt is where a frame holds its correlation id.
	CorrelationAt = 8
	// BatchHeader is the size of a record batch without its records.
	BatchHeader = 61

	produceVersion = 8
	fetchVersion   = 11
	recordOverhead = 10 // length, attributes, deltas, key length, value length, header count of a record of 1 KB
)

// Batch is a whole record batch, magic 2, with its checksum.
type Batch struct {
	Bytes   []byte
	Records int
}

// NewBatch builds an uncompressed batch of as many records with values of
// valueBytes as fit in size, at least one. Half of each value is random, from
// seed. now is the records' time in milliseconds.
func NewBatch(size, valueBytes int, seed uint64, now int64) Batch {
	count := max(1, (size-BatchHeader)/(valueBytes+recordOverhead))
	random := rand.New(rand.NewPCG(seed, 1))
	value := make([]byte, valueBytes)
	var records []byte
	for i := range count {
		for j := range value {
			value[j] = 'x'
			if j%2 == 0 {
				value[j] = byte(random.Uint32())
			}
		}
		record := kmsg.NewRecord()
		record.OffsetDelta = int32(i)
		record.Value = value
		record.Key = nil
		body := record.AppendTo(nil)
		// The first byte is the length 0 as a varint: put the true one in its place.
		record.Length = int32(len(body) - 1)
		records = record.AppendTo(records)
	}
	batch := kmsg.NewRecordBatch()
	batch.PartitionLeaderEpoch = -1
	batch.Magic = 2
	batch.LastOffsetDelta = int32(count - 1)
	batch.FirstTimestamp, batch.MaxTimestamp = now, now
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = -1, -1, -1
	batch.NumRecords = int32(count)
	batch.Records = records
	batch.Length = int32(BatchHeader - 12 + len(records))
	b := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return Batch{Bytes: b, Records: count}
}

// Check says whether every batch in b is whole and intact, and how many there
// are. A last batch that is cut is left out.
func Check(b []byte) (batches int, err error) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for len(b) >= BatchHeader {
		size := 12 + int(binary.BigEndian.Uint32(b[8:]))
		if size > len(b) {
			return batches, nil
		}
		if got, want := crc32.Checksum(b[21:size], table), binary.BigEndian.Uint32(b[17:]); got != want {
			return batches, fmt.Errorf("batch %d: checksum %08x, its header says %08x", batches, got, want)
		}
		batches++
		b = b[size:]
	}
	return batches, nil
}

// encode is a request as a frame.
func encode(req kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID(ClientID)).AppendRequest(nil, req, 0)
}

// Produce is a request that writes one batch to one partition with acks=1.
func Produce(topic string, partition int32, batch Batch) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(produceVersion)
	req.Acks = 1
	req.TimeoutMillis = 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition = partition
	p.Records = batch.Bytes
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return encode(req)
}

// ProduceError is the error code of the answer to a Produce frame, given
// without its length prefix.
func ProduceError(response []byte) (int16, error) {
	if len(response) < 10 {
		return 0, fmt.Errorf("a Produce response of %d bytes", len(response))
	}
	at := 8 + 2 + int(binary.BigEndian.Uint16(response[8:])) + 4 + 4
	if len(response) < at+2 {
		return 0, fmt.Errorf("a Produce response of %d bytes", len(response))
	}
	return int16(binary.BigEndian.Uint16(response[at:])), nil
}

// Fetch is a request without a session.
type Fetch struct {
	Topic             string
	MaxWaitMillis     int32
	MaxBytes          int32
	PartitionMaxBytes int32
}

// Append writes the frame that reads from offsets, by partition in the order
// of partitions, behind dst.
func (f *Fetch) Append(dst []byte, partitions []int32, offsets map[int32]int64) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(fetchVersion)
	req.ReplicaID = -1
	req.MaxWaitMillis = f.MaxWaitMillis
	req.MinBytes = 1
	req.MaxBytes = f.MaxBytes
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = f.Topic
	for _, partition := range partitions {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition = partition
		p.CurrentLeaderEpoch = -1
		p.FetchOffset = offsets[partition]
		p.PartitionMaxBytes = f.PartitionMaxBytes
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID(ClientID)).AppendRequest(dst, req, 0)
}
