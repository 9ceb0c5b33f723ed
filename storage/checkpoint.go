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

	"go.uber.org/zap"
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

// encodeOffsets writes "topic partition offset" a line.
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

// readOffsets reads a checkpoint of the directory; a missing file is empty. A
// damaged one is too, with a warning, as in Kafka: the logs are recovered from
// their start.
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
		d.logz.Warn("checkpoint is damaged: every log's entry counts as 0", zap.String("file", name), zap.Error(err))
		return nil, nil
	}
	d.checkpoints.Lock()
	defer d.checkpoints.Unlock()
	d.rememberLocked(file, offsets)
	return offsets, nil
}

func (d *logDir) rememberLocked(file string, offsets map[TopicPartition]int64) {
	if d.written == nil {
		d.written = make(map[string]map[TopicPartition]int64)
	}
	d.written[file] = offsets
}

// writeOffsets replaces a checkpoint of the directory durably, unless it would
// say what it says already: an idle broker does not touch the disk. The offsets
// are collected under the lock, so that one that went back is not overwritten
// with an older, higher one.
func (d *logDir) writeOffsets(file string, collect func() map[TopicPartition]int64) error {
	d.checkpoints.Lock()
	defer d.checkpoints.Unlock()
	return d.writeOffsetsLocked(file, collect())
}

func (d *logDir) writeOffsetsLocked(file string, offsets map[TopicPartition]int64) error {
	if written, ok := d.written[file]; ok && maps.Equal(written, offsets) {
		return nil
	}
	if err := d.replaceFile(filepath.Join(d.path, file), encodeOffsets(offsets), true); err != nil {
		return err
	}
	d.rememberLocked(file, offsets)
	return nil
}

// lowerRecoveryPoint takes a log's recovery point on disk back to offset, before
// bytes below it are written again: recovery would not look at them.
func (d *logDir) lowerRecoveryPoint(tp TopicPartition, offset int64) error {
	d.checkpoints.Lock()
	defer d.checkpoints.Unlock()
	if d.written[recoveryPointFile][tp] <= offset {
		return nil
	}
	offsets := maps.Clone(d.written[recoveryPointFile])
	offsets[tp] = offset
	return d.writeOffsetsLocked(recoveryPointFile, offsets)
}

// forget removes what the checkpoints say of a deleted log, before one of the
// same name is made.
func (d *logDir) forget(tp TopicPartition) error {
	d.checkpoints.Lock()
	defer d.checkpoints.Unlock()
	for _, file := range []string{recoveryPointFile, logStartFile, highWatermarkFile} {
		if _, ok := d.written[file][tp]; !ok {
			continue
		}
		offsets := maps.Clone(d.written[file])
		delete(offsets, tp)
		if err := d.writeOffsetsLocked(file, offsets); err != nil {
			return err
		}
	}
	return nil
}
