package cases

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/compat-tests/harness"
	"barnabas/protocol/record"
)

func versions(t *testing.T, c *harness.Conn, version int16) map[int16][2]int16 {
	t.Helper()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "case", "1"
	ranges := map[int16][2]int16{}
	for _, k := range harness.Do[*kmsg.ApiVersionsResponse](c, req, version).ApiKeys {
		ranges[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
	}
	return ranges
}

// C01: a client probes with a version of ApiVersions that the broker does not know.
func TestC01(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	frame := []byte{0, 18, 0, 99, 0, 0, 0, 7, 0, 1, 'x', 0, 2, 'a', 2, 'b', 0}
	if _, err := c.NC.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)); err != nil {
		t.Fatal(err)
	}
	b, err := c.ReadFrame()
	if err != nil || binary.BigEndian.Uint32(b) != 7 {
		t.Fatalf("%x %v", b, err)
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(b[4:]); err != nil || resp.ErrorCode != 35 || len(resp.ApiKeys) == 0 || resp.ApiKeys[0].ApiKey != 18 {
		t.Fatalf("%+v %v", resp, err)
	}
	if len(b) != 4+2+4+6*len(resp.ApiKeys) {
		t.Errorf("%d bytes: more than the body of version 0", len(b))
	}
	if all := versions(t, c, 0); len(all) < 10 {
		t.Errorf("the same connection lists %d APIs", len(all))
	}
}

// C02: librdkafka stops compressing when Produce's lowest version is above 0.
func TestC02(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed")
	}
	b := harness.Start(t)
	c := b.Dial()
	if r := versions(t, c, 3)[0]; r[0] != 0 {
		t.Errorf("Produce is offered from version %d", r[0])
	}
	for i, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		cmd := exec.Command("kcat", "-P", "-b", b.Addr, "-t", "comp-"+codec, "-z", codec)
		cmd.Stdin = strings.NewReader(strings.Repeat(strings.Repeat("a", 1000)+"\n", 200))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		batch, _, err := record.Next(c.Fetch(11, "comp-"+codec, 0, 0).RecordBatches)
		if err != nil || int(batch.Codec()) != i+1 || batch.Size() > 20000 {
			t.Errorf("%s: codec %v, %d bytes, %v", codec, batch.Codec(), batch.Size(), err)
		}
	}
}

// C04: Fetch by topic id is offered, so Metadata gives the ids, the same each time.
func TestC04(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	r := versions(t, c, 3)
	if r[1][1] >= 13 && r[3][1] < 12 {
		t.Fatalf("Fetch up to %d, Metadata up to %d", r[1][1], r[3][1])
	}
	c.CreateTopic("ids", 1)
	var first [16]byte
	for i := range 3 {
		id := metadata(c, 12, "ids").Topics[0].TopicID
		if i == 0 {
			first = id
		}
		if id == ([16]byte{}) || id != first {
			t.Fatalf("topic id %x, first %x", id, first)
		}
	}
}

func metadata(c *harness.Conn, version int16, topics ...string) *kmsg.MetadataResponse {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	return harness.Do[*kmsg.MetadataResponse](c, req, version)
}

func producerID(c *harness.Conn) int64 {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionTimeoutMillis = 1<<31 - 1
	return harness.Do[*kmsg.InitProducerIDResponse](c, req, 4).ProducerID
}

// C05, C65 (its last part): producer ids for idempotent producers, each another
// one, also after a restart; the timeout does not matter without a
// transactional id.
func TestC05(t *testing.T) {
	t.Parallel()
	b := harness.Start(t)
	seen := map[int64]bool{}
	for range 3 {
		c := b.Dial()
		for range 3 {
			if id := producerID(c); id < 0 || seen[id] {
				t.Fatalf("producer id %d, after %v", id, seen)
			} else {
				seen[id] = true
			}
		}
		b.Kill()
		b.Restart()
	}
}

// C07: the header of an ApiVersions reply never has tagged fields.
func TestC07(t *testing.T) {
	t.Parallel()
	c := harness.Start(t).Dial()
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 3, "case", "1"
	if _, err := c.NC.Write(harness.Frame(req, 5)); err != nil {
		t.Fatal(err)
	}
	b, err := c.ReadFrame()
	if err != nil || binary.BigEndian.Uint16(b[4:]) != 0 || int(b[6]) != len(versions(t, c, 3))+1 {
		t.Fatalf("%x %v", b[:8], err)
	}
}
