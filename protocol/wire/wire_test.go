package wire_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/wire"
)

func header(client []byte, clientLen int16, rest ...byte) []byte {
	b := []byte{0, 3, 0, 9, 0, 0, 0, 7, byte(clientLen >> 8), byte(clientLen)}
	return append(append(b, client...), rest...)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		frame    []byte
		flexible bool
		client   string
		body     string
		bad      bool
	}{
		{name: "version 1", frame: header([]byte("ab"), 2, 'x'), client: "ab", body: "x"},
		{name: "null client", frame: header(nil, -1, 'x'), body: "x"},
		{name: "a length of -2 is null too", frame: header(nil, -2, 'x'), body: "x"},
		{name: "not UTF-8", frame: header([]byte{0xff}, 1, 'x'), client: "\xff", body: "x"},
		{name: "version 2", frame: header([]byte("a"), 1, 0, 'x'), flexible: true, client: "a", body: "x"},
		{name: "unknown tags are skipped, in any order and twice", frame: header(nil, -1, 3, 9, 1, 0xaa, 5, 0, 5, 2, 1, 1, 'x'), flexible: true, body: "x"},
		{name: "client id cut", frame: header([]byte("a"), 2), bad: true},
		{name: "no client id", frame: []byte{0, 3, 0, 9, 0, 0, 0, 7}, bad: true},
		{name: "no tags", frame: header(nil, -1), flexible: true, bad: true},
		{name: "tag cut", frame: header(nil, -1, 1, 9, 4, 1), flexible: true, bad: true},
		{name: "too many tags", frame: header(nil, -1, append([]byte{65}, bytes.Repeat([]byte{1, 0}, 65)...)...), flexible: true, bad: true},
		{name: "endless count", frame: header(nil, -1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), flexible: true, bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, body, err := wire.ParseHeader(c.frame, c.flexible)
			if c.bad {
				if !errors.Is(err, wire.ErrHeader) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil || string(h.ClientID) != c.client || string(body) != c.body || h.CorrelationID != 7 || h.Key != 3 || h.Version != 9 {
				t.Fatalf("%+v %q %v", h, body, err)
			}
		})
	}
}

func TestFramesOfEverySize(t *testing.T) {
	t.Parallel()
	var p wire.Pool
	for _, size := range []int{12, 4096, 4097, 1 << 20, 1<<20 + 1, 5 << 20} {
		want := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, size/7+1)[:size]
		grown := 0
		f, err := p.Read(bytes.NewReader(want[8:]), size, want[:8], wire.Growth{First: 1 << 20, More: func(n int) error { grown += n; return nil }})
		if want := max(size-1<<20, 0); grown != want {
			t.Errorf("a frame of %d bytes asked for %d more, want %d", size, grown, want)
		}
		if err != nil || !bytes.Equal(f.Bytes, want) {
			t.Fatalf("frame of %d bytes: %v", size, err)
		}
		f.Release()
	}
	if _, err := p.Read(bytes.NewReader(make([]byte, 10)), 100, make([]byte, 8), wire.Growth{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("cut frame: %v", err)
	}
}

// A frame that claims 100 MiB and ends after a thousand bytes.
func TestADeclaredLengthCostsWhatArrived(t *testing.T) {
	var p wire.Pool
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := p.Read(bytes.NewReader(make([]byte, 1000)), 100<<20, make([]byte, 8), wire.Growth{})
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Fatal("a frame of 1,000 bytes is one of 100 MiB")
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Fatalf("%d bytes were taken for 1,000", got)
	}
}

func TestTheCostOfProduceIsNotUnderestimated(t *testing.T) {
	for _, version := range []int16{3, 8, 9, 12, 13} {
		for _, tags := range []bool{false, true} {
			for _, shape := range [][2]int{{1, 20000}, {20000, 0}, {5000, 3}} {
				req := kmsg.NewPtrProduceRequest()
				req.Version = version
				req.Topics = make([]kmsg.ProduceRequestTopic, shape[0])
				for i := range req.Topics {
					req.Topics[i].Partitions = make([]kmsg.ProduceRequestTopicPartition, shape[1])
					if tags {
						req.Topics[i].UnknownTags.Set(100, nil)
						for j := range req.Topics[i].Partitions {
							req.Topics[i].Partitions[j].UnknownTags.Set(100, nil)
						}
					}
				}
				body := req.AppendTo(nil)
				var before, after runtime.MemStats
				into := kmsg.NewPtrProduceRequest()
				into.Version = version
				runtime.ReadMemStats(&before)
				if err := into.UnsafeReadFrom(body); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				took := int(after.TotalAlloc - before.TotalAlloc)
				cost, ok := wire.ProduceCost(body, version)
				if !ok || took > cost || cost > 20*took+1000 {
					t.Errorf("version %d, %v topics and partitions, tags %v: took %d, charged %d", version, shape, tags, took, cost)
				}
			}
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(header([]byte("ab"), 2, 0, 'x'), true)
	f.Add(header(nil, -1, 3, 9, 1, 0xaa, 5, 0, 5, 2, 1, 1), true)
	f.Fuzz(func(t *testing.T, b []byte, flexible bool) {
		h, body, err := wire.ParseHeader(b, flexible)
		if err == nil && len(h.ClientID)+len(body) > len(b) {
			t.Fatal("more came out than went in")
		}
	})
}

func FuzzProduceCost(f *testing.F) {
	req := kmsg.NewPtrProduceRequest()
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: []byte("records")}}}}
	for _, v := range []int16{0, 3, 9, 13} {
		req.Version = v
		f.Add(req.AppendTo(nil), v)
	}
	f.Fuzz(func(t *testing.T, body []byte, version int16) {
		if cost, _ := wire.ProduceCost(body, version); cost < 0 {
			t.Fatalf("cost %d", cost)
		}
	})
}
