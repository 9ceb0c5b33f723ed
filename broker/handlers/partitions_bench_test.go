package handlers

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkProduce2K is one produce request of one 2 KB batch after the other
// on one connection, client included.
func BenchmarkProduce2K(b *testing.B) {
	r := newDataRig(b)
	r.topic("t", 1)
	c := r.client()
	req := produceRequest(9, -1, "t", testBatch(strings.Repeat("x", 2000)))
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, req, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.exchange(frame)
	}
}

// BenchmarkFetchTail is one fetch of the last 2 KB batch after the other.
func BenchmarkFetchTail(b *testing.B) {
	r := newDataRig(b)
	r.topic("t", 1)
	c := r.client()
	for range 10 {
		c.put("t", strings.Repeat("x", 2000))
	}
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, fetchRequest(12, "t", 9), 1)
	b.ReportAllocs()
	for b.Loop() {
		c.exchange(frame)
	}
}
