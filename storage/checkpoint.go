package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The checkpoint files of a log directory. Each is text: a line "0" (version),
// a line with the number of entries, and an entry a line.
const (
	recoveryPointFile = "recovery-point-offset-checkpoint"
	logStartFile      = "log-start-offset-checkpoint"
	highWatermarkFile = "replication-offset-checkpoint"
)

func encodeCheckpoint(lines []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "0\n%d\n", len(lines))
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// decodeCheckpoint gives the entries' lines. A wrong version, a count that does
// not fit, or a line too many is ErrCorrupt.
func decodeCheckpoint(data []byte) ([]string, error) {
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) < 2 || strings.TrimSpace(lines[0]) != "0" {
		return nil, fmt.Errorf("%w: not a checkpoint of version 0", ErrCorrupt)
	}
	n, err := strconv.Atoi(strings.TrimSpace(lines[1]))
	if err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: checkpoint says %q entries and has %d", ErrCorrupt, lines[1], len(lines)-2)
	}
	return lines[2:], nil
}

// offsetCheckpoint is "topic partition offset" a line.
func encodeOffsets(offsets map[TopicPartition]int64) []byte {
	lines := make([]string, 0, len(offsets))
	for tp, o := range offsets {
		lines = append(lines, tp.Topic+" "+strconv.Itoa(int(tp.Partition))+" "+strconv.FormatInt(o, 10))
	}
	slices.Sort(lines)
	return encodeCheckpoint(lines)
}

func decodeOffsets(data []byte) (map[TopicPartition]int64, error) {
	lines, err := decodeCheckpoint(data)
	if err != nil {
		return nil, err
	}
	offsets := make(map[TopicPartition]int64, len(lines))
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%w: checkpoint entry %q is not topic partition offset", ErrCorrupt, line)
		}
		p, perr := strconv.ParseInt(f[1], 10, 32)
		o, oerr := strconv.ParseInt(f[2], 10, 64)
		if perr != nil || oerr != nil || p < 0 {
			return nil, fmt.Errorf("%w: checkpoint entry %q is not topic partition offset", ErrCorrupt, line)
		}
		offsets[TopicPartition{f[0], int32(p)}] = o
	}
	return offsets, nil
}

// readOffsets reads a checkpoint of the directory; a missing file is empty.
func (d *logDir) readOffsets(file string) (map[TopicPartition]int64, error) {
	name := filepath.Join(d.path, file)
	data, err := d.fs.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	offsets, err := decodeOffsets(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (remove the file: the logs are then recovered from their start)", name, err)
	}
	return offsets, nil
}

// writeOffsetsIfChanged replaces a checkpoint of the directory durably, unless
// it would say what it says already: an idle broker does not touch the disk.
func (d *logDir) writeOffsetsIfChanged(file string, offsets map[TopicPartition]int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if written, ok := d.written[file]; ok && maps.Equal(written, offsets) {
		return nil
	}
	if err := d.replaceFile(filepath.Join(d.path, file), encodeOffsets(offsets), true); err != nil {
		return err
	}
	if d.written == nil {
		d.written = make(map[string]map[TopicPartition]int64)
	}
	d.written[file] = offsets
	return nil
}
