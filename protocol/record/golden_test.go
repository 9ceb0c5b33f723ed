package record

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readHex reads a file of bytes in hexadecimal digits; white space does not count.
func readHex(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := hex.DecodeString(string(bytes.Join(bytes.Fields(data), nil)))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return b
}

// clientRecords are the 30 records that each client was told to send.
func clientRecords() []string {
	const line = "In the late evening K. arrived. The village lay deep in snow; "
	var out []string
	for i := range 30 {
		out = append(out, fmt.Sprintf("k%d=%d %s", i, i, strings.Repeat(line, 2+i%20)))
	}
	return out
}

// TestClients reads what Java's client, librdkafka, franz-go and sarama sent with each codec, judges it, and repacks
// it with every codec.
func TestClients(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/clients/*.hex")
	if err != nil || len(files) != 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".hex")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := readHex(t, path)
			b, rest, err := Next(data)
			if err != nil || len(rest) != 0 {
				t.Fatalf("Next: %d bytes left, %v", len(rest), err)
			}
			if want := name[strings.LastIndexByte(name, '-')+1:]; b.Codec().String() != want {
				t.Fatalf("codec %v, want %s", b.Codec(), want)
			}
			for c := None; c <= Zstd; c++ {
				repackClient(t, bytes.Clone(data), c)
			}
		})
	}
}

func repackClient(t *testing.T, data []byte, c Codec) {
	t.Helper()
	sent := bytes.Clone(data)
	v, err := ValidateProduce(data, rules(func(r *Rules) { r.Compression = Compression{Codec: c, Level: c.DefaultLevel()} }))
	if err != nil {
		t.Fatalf("to %v: %v", c, err)
	}
	if got, want := contents(t, v.Batch), clientRecords(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("to %v: records are %.200q", c, got)
	}
	if v.Batch.Codec() != c {
		t.Fatalf("stored with %v, want %v", v.Batch.Codec(), c)
	}
	if Batch(sent).Codec() == c && !bytes.Equal(v.Batch, sent) {
		t.Fatalf("to %v: not stored as it was sent", c)
	}
	for r, err := range v.Batch.Records() {
		if err != nil || len(r.Headers) != 1 || string(r.Headers[0].Key) != "h" || string(r.Headers[0].Value) != "v" {
			t.Fatalf("to %v: headers %q, %v", c, r.Headers, err)
		}
	}
}

// TestKafkaBytes builds batches that Kafka's own builder built, and expects the same bytes.
func TestKafkaBytes(t *testing.T) {
	t.Parallel()
	two := NewBuilder(BuilderOptions{PartitionLeaderEpoch: NoLeaderEpoch})
	two.Append(fixedTime, []byte("key"), []byte("value"), Header{Key: []byte("h")})
	two.Append(fixedTime+300, nil, nil)

	commit := EndTxnMarker(Commit, Producer{ID: 77, Epoch: 5}, 9, fixedTime)
	commit.SetBaseOffset(42)
	commit.SetPartitionLeaderEpoch(3)

	txn := NewBuilder(BuilderOptions{
		BaseOffset: 100, PartitionLeaderEpoch: 6, TimestampType: LogAppendTime, AppendTimeMs: 1_700_000_000_000,
		Producer: &Producer{1234, 2, 1<<31 - 1}, Transactional: true,
	})
	txn.Append(fixedTime, []byte("k"), []byte("v"))
	txn.Append(fixedTime+1, []byte("k"), []byte{})

	for name, b := range map[string]Batch{"two": two.Build(), "commit": commit, "transactional-append-time": txn.Build()} {
		if want := readHex(t, "testdata/kafka/"+name+".hex"); !bytes.Equal(b, want) {
			t.Errorf("%s:\n got %x\nwant %x", name, []byte(b), want)
		}
		if err := b.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b := txn.Build(); b.LastSequence() != 0 {
		t.Errorf("the sequence after the highest is %d", b.LastSequence())
	}
}

// TestKafkaAnswers holds what Kafka 3.9.1's own validation said to several hundred batches, good, bad, and mutated at
// random: testdata/kafka/answers.txt has a line with the rules and the bytes, and one with the answer.
func TestKafkaAnswers(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/kafka/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	cases := 0
	for lines.Scan() {
		question := lines.Text()
		if !lines.Scan() {
			t.Fatal("a question without answer")
		}
		want := strings.TrimPrefix(lines.Text(), "= ")
		data, r := parseQuestion(t, question)
		if got := answer(data, r); !sameAnswer(got, want) {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
		cases++
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
}

// parseQuestion reads version, time, size limits, timestamp type and bounds, compaction and codec (-1: the producer's)
// and the bytes.
func parseQuestion(t *testing.T, line string) ([]byte, *Rules) {
	t.Helper()
	r := rules()
	var compacted, codec int
	var digits string
	n, err := fmt.Sscan(line, &r.Version, &r.NowMs, &r.MaxMessageBytes, &r.SegmentBytes, &r.TimestampType, &r.BeforeMaxMs, &r.AfterMaxMs, &compacted, &codec, &digits)
	if n < 9 {
		t.Fatalf("%q: %v", line, err)
	}
	r.Compacted = compacted == 1
	if c := Codec(codec); c >= 0 {
		r.Compression = Compression{Codec: c, Level: c.DefaultLevel()}
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return data, r
}

// sameAnswer compares two answers; "-" stands for bytes that depend on an encoder.
func sameAnswer(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	if len(g) > 1 && len(w) > 1 && w[1] == "-" {
		g[1] = "-"
	}
	return strings.Join(g, " ") == strings.Join(w, " ")
}

// answer words what happens to a batch: OK, the stored bytes, the base and the highest timestamp, the attributes and
// each record's offset, timestamp and lengths; or ERR, where it was found (W: fails the whole request, F: before the
// log is asked, L: after), the code, and the text that a client sees.
func answer(data []byte, r *Rules) string {
	var bad *Refusal
	if _, err := Transactional(data); errors.As(err, &bad) {
		return fmt.Sprintf("ERR W %d %s", bad.Err.Code, bad.Message)
	}
	v, err := ValidateProduce(bytes.Clone(data), r)
	if errors.As(err, &bad) {
		return refusalText(bad)
	}
	b := v.Batch
	b.SetPartitionLeaderEpoch(-1)
	var records strings.Builder
	for x, err := range b.Records() {
		if err != nil {
			return "accepted, but " + err.Error()
		}
		fmt.Fprintf(&records, "%d,%d,%d,%d;", b.OffsetOf(&x), b.TimestampOf(&x), length(x.Key), length(x.Value))
	}
	return fmt.Sprintf("OK %x %d %d %x %s", []byte(b), b.BaseTimestamp(), b.MaxTimestamp(), uint16(b.Attributes()), records.String())
}

func refusalText(bad *Refusal) string {
	where := "L"
	switch {
	case bad.WholeRequest:
		where = "W"
	case bad.BeforeLog:
		where = "F"
	}
	s := fmt.Sprintf("ERR %s %d", where, bad.Err.Code)
	if len(bad.Records) == 0 {
		return s
	}
	s += " " + bad.Message + " | "
	for _, x := range bad.Records {
		s += fmt.Sprintf("%d=%s;", x.BatchIndex, x.Message)
	}
	return s
}

func length(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}
