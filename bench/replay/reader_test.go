package replay

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetched encodes a Fetch version 11 response, length prefix and all.
func fetched(aborted int, errorCode int16, sizes ...int) []byte {
	res := kmsg.NewPtrFetchResponse()
	res.SetVersion(11)
	t := kmsg.NewFetchResponseTopic()
	t.Topic = "a-topic"
	for i, size := range sizes {
		p := kmsg.NewFetchResponseTopicPartition()
		p.Partition = int32(i)
		p.ErrorCode = errorCode
		for range aborted {
			p.AbortedTransactions = append(p.AbortedTransactions, kmsg.NewFetchResponseTopicPartitionAbortedTransaction())
		}
		p.RecordBatches = bytes.Repeat([]byte{byte(i + 1)}, size)
		t.Partitions = append(t.Partitions, p)
	}
	res.Topics = append(res.Topics, t)
	b := res.AppendTo(make([]byte, 8))
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func TestFetchResponse(t *testing.T) {
	t.Parallel()
	sizes := []int{300, 0, 5000, 1}
	wire := append(fetched(2, 0, sizes...), fetched(0, 0, sizes...)...)
	for name, in := range map[string]io.Reader{
		"whole": bytes.NewReader(wire), "byte by byte": iotest.OneByteReader(bytes.NewReader(wire)), "halves": iotest.HalfReader(bytes.NewReader(wire)),
	} {
		r := reader{conn: in, buf: make([]byte, 512)}
		for range 2 {
			got := make([]int, len(sizes))
			err := r.fetchResponse(func(partition int32, size int) error {
				got[partition] = size
				if size%2 == 0 {
					return r.discard(size)
				}
				b, err := r.take(size)
				if err == nil && !bytes.Equal(b, bytes.Repeat([]byte{byte(partition + 1)}, size)) {
					t.Errorf("%s: partition %d has other bytes", name, partition)
				}
				return err
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range sizes {
				if got[i] != sizes[i] {
					t.Errorf("%s: partition %d has %d bytes, want %d", name, i, got[i], sizes[i])
				}
			}
		}
		if err := r.fetchResponse(nil); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

func TestFetchResponseError(t *testing.T) {
	t.Parallel()
	r := reader{conn: bytes.NewReader(fetched(0, 3, 0)), buf: make([]byte, 512)}
	if err := r.fetchResponse(nil); err == nil {
		t.Error("an error code passes")
	}
}
