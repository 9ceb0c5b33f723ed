package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestProduceConsume(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "t"))
	s.ok("k1:v1\nno key\nk2:\n:v3\nk4:a:b", "produce", "t", "-K", ":", "-Z", "-H", "h=1", "-H", "empty=", "-z", "zstd")
	for _, c := range []struct {
		args string
		want string
	}{
		{"-e", "v1\nno key\n\nv3\na:b\n"},
		{"-e -K =", "k1=v1\n=no key\nk2=\n=v3\nk4=a:b\n"},
		{"-e -Z -K =", "k1=v1\nNULL=no key\nk2=NULL\nNULL=v3\nk4=a:b\n"},
		{"-e -c 2", "v1\nno key\n"},
		{"-c 1 -o 3", "v3\n"},
		{"-e -o -2", "v3\na:b\n"},
		{"-e -o end", ""},
		{"-e -o s@0 -c 1", "v1\n"},
		{"-e -o s@2100-01-01T00:00:00Z", ""},
		{"-e -o 4 -p 0 -f %t/%p/%o:%K:%S:%h;", "t/0/4:2:3:h=1,empty=;"},
		{"-e -c 1 -D |", "v1|"},
	} {
		if got := s.ok("", append([]string{"consume", "t"}, strings.Fields(c.args)...)...); got != c.want {
			t.Errorf("consume %s: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestConsumeJSON(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "t"))
	s.ok("k=<v>\nk=\xff\xfe", "produce", "t", "-K", "=", "-H", "a=b")
	lines := strings.Split(strings.TrimSpace(s.ok("", "consume", "t", "-e", "--json")), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	if !strings.Contains(lines[0], `"headers":["a","b"],"key":"k","payload":"<v>"}`) {
		t.Errorf("envelope: %s", lines[0])
	}
	e := fromJSON[envelope](t, lines[1])
	if e.Offset != 1 || e.Payload != nil || !bytes.Equal(e.PayloadBase64, []byte("\xff\xfe")) || e.TimestampType != "create" || e.Timestamp == 0 {
		t.Errorf("envelope: %+v", e)
	}
}

func TestProduceVerbose(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(2, "t"))
	if out := s.ok("a\nb\n", "produce", "t", "-p", "1", "-v"); out != "t [1] @ 0\nt [1] @ 1\n" {
		t.Errorf("%q", out)
	}
	out := s.ok("c\n", "produce", "t", "-p", "1", "-v", "--json", "--acks", "1")
	if d := fromJSON[delivered](t, out); d.Offset != 2 || d.Partition != 1 || d.Topic != "t" {
		t.Errorf("%+v", d)
	}
}

func TestProduceFiles(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "t"))
	dir := t.TempDir()
	whole, lines := filepath.Join(dir, "whole"), filepath.Join(dir, "lines")
	for name, text := range map[string]string{whole: "two\nlines\n", lines: "a\x00b\x00"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.ok("", "produce", "t", whole)
	s.ok("", "produce", "t", "-l", lines, "-D", `\0`)
	if got := s.ok("", "consume", "t", "-e", "-D", "|"); got != "two\nlines\n|a|b|" {
		t.Errorf("%q", got)
	}
	s.fails(exitFailed, []string{"produce", "t", filepath.Join(dir, "absent")}, "absent", "no such file")
	s.fails(exitFailed, []string{"produce", "t", "-l", filepath.Join(dir, "absent")}, "absent", "no such file")
}

func TestProduceTooLong(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "t"))
	r := s.run("short\n"+strings.Repeat("x", 5000)+"\nnever\n", "produce", "t", "--max-message-bytes", "2000")
	if r.code != exitFailed || !strings.Contains(r.err, "record 2") || !strings.Contains(r.err, "--max-message-bytes 2000") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if got := s.ok("", "consume", "t", "-e"); got != "short\n" {
		t.Errorf("what was read before is delivered: %q", got)
	}
}

func TestConsumeRefuses(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(2, "t"))
	s.fails(exitFailed, []string{"consume", "nobody", "-e"}, `"nobody"`, "topic list")
	s.fails(exitFailed, []string{"consume", "t", "-p", "7", "-e"}, "no partition 7", "it has 2")
	r := s.run("", "consume", "t", "-p", "0", "-o", "100", "-e")
	if r.code != exitOK || !strings.Contains(r.err, "offset 100 lies outside of 0 to 0") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

func TestManyRecordsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := fake(t, kfake.SeedTopics(1, "t"))
	var in strings.Builder
	for i := range 20_000 {
		in.WriteString(strings.Repeat("x", i%50))
		in.WriteByte('\n')
	}
	s.ok(in.String(), "produce", "t", "-z", "lz4")
	if got := s.ok("", "consume", "t", "-e"); got != in.String() {
		t.Errorf("%d bytes came back of %d, or in another order", len(got), in.Len())
	}
}

func TestResolveStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in         string
		first, end int64
		want       int64
		note       bool
	}{
		{"beginning", 5, 10, 5, false},
		{"earliest", 5, 10, 5, false},
		{"end", 5, 10, 10, false},
		{"7", 5, 10, 7, false},
		{"10", 5, 10, 10, false},
		{"0", 5, 10, 5, true},
		{"11", 5, 10, 10, true},
		{"-3", 5, 10, 7, false},
		{"-30", 5, 10, 5, false},
		{"-0", 5, 10, 10, false},
		{"s@123", 5, 10, 8, false},
	} {
		s, err := parseStart(newConsume(), c.in)
		if err != nil {
			t.Fatal(err)
		}
		got, note := s.resolve(c.first, c.end, 8)
		if got != c.want || (note != "") != c.note {
			t.Errorf("-o %s of %d to %d: %d (%s), want %d", c.in, c.first, c.end, got, note, c.want)
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "abc": "abc", `\n\r\t\0\\`: "\n\r\t\x00\\", `\x41b\x7`: `Ab\x7`, `\q`: `\q`, `\`: `\`, `é\n`: "é\n",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(`%t %p %o\n%%`)
	f.Add(`%`)
	f.Add(`\x`)
	f.Fuzz(func(t *testing.T, format string) {
		parts, err := parseFormat(format)
		if err != nil {
			return
		}
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		r := &kgo.Record{Topic: "t", Key: []byte("k"), Value: nil, Timestamp: time.UnixMilli(1)}
		if err := printFormat(w, parts, r, true); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add("k:v", ":", true)
	f.Add("", ":", true)
	f.Fuzz(func(t *testing.T, line, delimiter string, nulls bool) {
		r := recordReader{topic: "t", keyDelimiter: []byte(delimiter), nulls: nulls}
		record := r.fromLine([]byte(line))
		joined := string(record.Value)
		if delimiter != "" && strings.Contains(line, delimiter) {
			joined = string(record.Key) + delimiter + joined
		}
		if diff := cmp.Diff(line, joined); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestEnvelopeNames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := printJSON(w, &kgo.Record{Topic: "t", Timestamp: time.UnixMilli(7)}); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	var names map[string]any
	if err := json.Unmarshal(b.Bytes(), &names); err != nil {
		t.Fatal(err)
	}
	want := []string{"key", "offset", "partition", "payload", "topic", "ts", "tstype"}
	if diff := cmp.Diff(want, sortedKeys(names)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
