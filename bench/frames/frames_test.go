package frames

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestBatch(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2 << 10, 16 << 10, 64 << 10, 1 << 20} {
		b := NewBatch(size, 1000, 7, 1)
		if len(b.Bytes) > size || len(b.Bytes) < size-1100 {
			t.Errorf("a batch of %d bytes has %d", size, len(b.Bytes))
		}
		if n, err := Check(append(b.Bytes, b.Bytes[:100]...)); n != 1 || err != nil {
			t.Errorf("check: %d, %v", n, err)
		}
		var decoded kmsg.RecordBatch
		if err := decoded.ReadFrom(b.Bytes); err != nil || int(decoded.NumRecords) != b.Records {
			t.Fatalf("%v; %d records, want %d", err, decoded.NumRecords, b.Records)
		}
		var record kmsg.Record
		if err := record.ReadFrom(decoded.Records); err != nil || len(record.Value) != 1000 {
			t.Errorf("first record: %v, value of %d bytes", err, len(record.Value))
		}
		b.Bytes[len(b.Bytes)-1]++
		if _, err := Check(b.Bytes); err == nil {
			t.Error("a damaged batch passes")
		}
	}
}

func TestProduceError(t *testing.T) {
	t.Parallel()
	res := kmsg.NewPtrProduceResponse()
	res.SetVersion(produceVersion)
	rt := kmsg.NewProduceResponseTopic()
	rt.Topic = "a-topic"
	rp := kmsg.NewProduceResponseTopicPartition()
	rp.ErrorCode = 6
	rt.Partitions = append(rt.Partitions, rp)
	res.Topics = append(res.Topics, rt)
	code, err := ProduceError(res.AppendTo(make([]byte, 4)))
	if code != 6 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	for n := range 20 {
		if _, err := ProduceError(make([]byte, n)); n < 10 && err == nil {
			t.Errorf("%d bytes pass", n)
		}
	}
}
