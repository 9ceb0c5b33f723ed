package cases

import (
	"encoding/binary"
	"testing"
	"time"

	"barnabas/compat-tests/harness"
)

// C109: what is no Kafka request closes its connection and disturbs nobody.
func TestC109(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	good := b.Dial()
	good.CreateTopic("t", 1)
	frame := func(size int32, rest ...byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(size)), rest...)
	}
	for name, bytes := range map[string][]byte{
		"HTTP": []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"TLS":  {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3, 4, 5},
		"-5":   frame(-5, 0, 0, 0, 0), "too large": frame(104857601, 0, 0, 0, 0),
	} {
		c := b.Dial()
		if _, err := c.NC.Write(bytes); err != nil {
			t.Fatal(err)
		}
		if !c.Closed() {
			t.Errorf("%s: the connection stays open", name)
		}
	}
	before := b.RSS()
	for range 200 {
		c := b.Dial()
		// A Produce that claims 100 MB and sends eight bytes of it.
		if _, err := c.NC.Write(frame(100_000_000, 0, 0, 0, 9, 0, 0, 0, 1, 0, 1, 'x')); err != nil {
			t.Fatal(err)
		}
	}
	if p := good.Produce(9, "t", 0, plain("a")); p.ErrorCode != 0 {
		t.Errorf("beside them: %+v", p)
	}
	if grew := b.RSS() - before; grew > 300<<20 {
		t.Errorf("200 claims of 100 MB cost %d MiB", grew>>20)
	}
}

// C111: an idle connection is closed so that its client sees it.
func TestC111(t *testing.T) {
	t.Parallel()
	c := harness.Start(t, "connections.max.idle.ms=500").Dial()
	versions(t, c, 3)
	began := time.Now()
	if !c.Closed() {
		t.Fatal("a reply nobody asked for")
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("closed after %v", took)
	}
}
