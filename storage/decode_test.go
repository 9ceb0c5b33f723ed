package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
)

// The bytes of every file, as Kafka writes them.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	p := producers{byID: map[int64]*producer{
		5: {epoch: 2, lastTimestamp: 1000, coordinatorEpoch: -1, txnFirstOffset: -1, batches: []producerBatch{{6, 7, 41, 1, 1000}}},
	}}
	offsets, times := &offsetIndex{}, &timeIndex{}
	offsets.add(9, 4200)
	times.reset()
	times.saw(1000, 9)
	times.add()
	for _, c := range []struct{ name, got, want string }{
		{"offset checkpoint", string(encodeOffsets(map[TopicPartition]int64{{"b", 1}: 7, {"a-b", 0}: 12})), "0\n2\na-b 0 12\nb 1 7\n"},
		{"leader epochs", string(encodeEpochs([]epochStart{{0, 0}, {3, 40}})), "0\n2\n0 0\n3 40\n"},
		{"meta.properties", string(encodeMeta(3, "abc")), "version=0\nbroker.id=3\ncluster.id=abc\n"},
		{"partition.metadata", string(encodePartitionMetadata([16]byte{1, 2})), "version: 0\ntopic_id: AQIAAAAAAAAAAAAAAAAAAA"},
		{"offset index", hex.EncodeToString(offsets.encode()), "0000000900001068"},
		{"time index", hex.EncodeToString(times.encode()), "00000000000003e800000009"},
		{"producer snapshot", hex.EncodeToString(p.encode()), "0001" + "f5eea2a3" + "00000001" +
			"0000000000000005" + "0002" + "00000007" + "0000000000000029" + "00000001" + "00000000000003e8" + "ffffffff" + "ffffffffffffffff"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, c.got, c.want)
		}
	}
}

func TestDamagedFilesAreCorrupt(t *testing.T) {
	t.Parallel()
	good := (&producers{byID: map[int64]*producer{5: {}}}).encode()
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	decode := map[string]func([]byte) error{
		"checkpoint": func(b []byte) error { _, err := decodeOffsets(b); return err },
		"epochs":     func(b []byte) error { _, err := decodeEpochs(b); return err },
		"snapshot":   func(b []byte) error { _, err := decodeSnapshot(b); return err },
		"metadata":   func(b []byte) error { _, err := decodePartitionMetadata(b); return err },
		"offsets":    func(b []byte) error { _, err := decodeOffsetIndex(b, 100); return err },
		"times":      func(b []byte) error { _, err := decodeTimeIndex(b); return err },
	}
	for _, c := range []struct{ file, data string }{
		{"checkpoint", ""},
		{"checkpoint", "1\n0\n"},
		{"checkpoint", "0\n2\na 0 1\n"},
		{"checkpoint", "0\n1\na 0\n"},
		{"checkpoint", "0\n1\na 0 1\nb 0 1\n"},
		{"checkpoint", "0\n1\na -1 1\n"},
		{"epochs", "0\n2\n3 10\n2 20\n"},
		{"epochs", "0\n2\n2 10\n3 5\n"},
		{"epochs", "0\n1\n-1 5\n"},
		{"epochs", "0\n1\nx y\n"},
		{"snapshot", ""},
		{"snapshot", string(good[:len(good)-1])},
		{"snapshot", string(flipped)},
		{"metadata", ""},
		{"metadata", "version: 1\ntopic_id: AQIAAAAAAAAAAAAAAAAAAA"},
		{"metadata", "version: 0\ntopic_id: AQI"},
		{"offsets", "\x00\x00\x00\x01\x00\x00\x00"},
		{"offsets", "\x00\x00\x00\x01\x00\x00\x01\x00"},
		{"offsets", "\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02"},
		{"times", "\x00"},
		{"times", "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"},
	} {
		if err := decode[c.file]([]byte(c.data)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s %q: %v, want ErrCorrupt", c.file, c.data, err)
		}
	}
}

func TestLeaderEpochs(t *testing.T) {
	t.Parallel()
	var c epochs
	for _, e := range []epochStart{{0, 0}, {2, 10}, {5, 30}} {
		c.assign(e.epoch, e.start)
	}
	for _, x := range []struct {
		epoch, found int32
		end          int64
	}{{0, 0, 10}, {1, 0, 10}, {2, 2, 30}, {4, 2, 30}, {5, 5, 44}, {6, -1, -1}, {-1, -1, -1}} {
		if found, end := c.endOffset(x.epoch, 44); found != x.found || end != x.end {
			t.Errorf("epoch %d ends at %d (%d), want %d (%d)", x.epoch, end, found, x.end, x.found)
		}
	}
	c.truncateStart(12)
	c.truncateEnd(30)
	if want := []epochStart{{2, 12}}; !reflect.DeepEqual(c.entries, want) {
		t.Errorf("%v, want %v", c.entries, want)
	}
	if found, end := c.endOffset(1, 44); found != 1 || end != 12 {
		t.Errorf("an epoch before the first known: %d %d", found, end)
	}
}

func FuzzOffsetIndex(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x09\x00\x00\x00\x68"), int64(200))
	f.Fuzz(func(t *testing.T, data []byte, size int64) {
		entries, err := decodeOffsetIndex(data, size)
		if err != nil {
			return
		}
		x := offsetIndex{entries: entries}
		if got := x.encode(); !bytes.HasPrefix(data, got) || !allZero(data[len(got):]) {
			t.Fatalf("%x became %x", data, got)
		}
		for _, e := range entries {
			if p := x.floor(int64(e.relative)); p != int64(e.position) {
				t.Fatalf("floor of %d is %d, want %d", e.relative, p, e.position)
			}
		}
	})
}

func FuzzTimeIndex(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x03\xe8\x00\x00\x00\x09"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeTimeIndex(data)
		if err != nil {
			return
		}
		x := timeIndex{entries: entries}
		if got := x.encode(); !bytes.HasPrefix(data, got) || !allZero(data[len(got):]) {
			t.Fatalf("%x became %x", data, got)
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Add((&producers{byID: map[int64]*producer{5: {epoch: 1, txnFirstOffset: -1}}}).encode(), false)
	f.Fuzz(func(t *testing.T, data []byte, repair bool) {
		if repair && len(data) >= snapshotHeader { // past the checksum
			binary.BigEndian.PutUint16(data, snapshotVersion)
			binary.BigEndian.PutUint32(data[2:], checksum(data[6:]))
		}
		byID, err := decodeSnapshot(data)
		if err != nil {
			return
		}
		if again, err := decodeSnapshot((&producers{byID: byID}).encode()); err != nil || !reflect.DeepEqual(again, byID) {
			t.Fatalf("%v became %v: %v", byID, again, err)
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte("0\n1\na-b 0 12\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		offsets, err := decodeOffsets(data)
		if err != nil {
			return
		}
		if again, err := decodeOffsets(encodeOffsets(offsets)); err != nil || !reflect.DeepEqual(again, offsets) {
			t.Fatalf("%v became %v: %v", offsets, again, err)
		}
	})
}

func FuzzEpochs(f *testing.F) {
	f.Add([]byte("0\n2\n0 0\n3 40\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeEpochs(data)
		if err != nil {
			return
		}
		if again, err := decodeEpochs(encodeEpochs(entries)); err != nil || !reflect.DeepEqual(again, entries) {
			t.Fatalf("%v became %v: %v", entries, again, err)
		}
	})
}

func FuzzMeta(f *testing.F) {
	f.Add([]byte("version=0\nbroker.id=3\ncluster.id=abc\n"))
	f.Add([]byte("version: 0\ntopic_id: AQIAAAAAAAAAAAAAAAAAAA"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parseProperties(data)
		id, err := decodePartitionMetadata(data)
		if err != nil {
			return
		}
		if again, err := decodePartitionMetadata(encodePartitionMetadata(id)); err != nil || again != id {
			t.Fatalf("%x became %x: %v", id, again, err)
		}
	})
}

func FuzzFileNames(f *testing.F) {
	f.Add("00000000000000000042.log", "a-b-3")
	f.Fuzz(func(t *testing.T, file, dir string) {
		if base, suffix := parseFileName(file); base >= 0 && fileName(base, suffix) != file {
			t.Fatalf("%q is base %d, suffix %q", file, base, suffix)
		}
		if tp, ok := parseDirName(dir); ok && tp.String() != dir {
			t.Fatalf("%q is %v", dir, tp)
		}
	})
}
