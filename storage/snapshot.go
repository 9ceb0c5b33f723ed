package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
)

// A producer snapshot, the file NNN.snapshot: the producers' state before offset
// NNN, in Kafka's format.
//
//	version int16 = 1 | crc uint32 | count int32 | entries of 46 bytes
//
// The CRC is CRC-32C of what follows it. An entry:
//
//	producerId int64 | epoch int16 | lastSequence int32 | lastOffset int64 |
//	offsetDelta int32 | timestamp int64 | coordinatorEpoch int32 |
//	currentTxnFirstOffset int64
const (
	snapshotVersion    = 1
	snapshotHeader     = 10
	snapshotEntryBytes = 46
)

func (s *producers) encode() []byte {
	ids := make([]int64, 0, len(s.byID))
	for id := range s.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	b := make([]byte, snapshotHeader, snapshotHeader+len(ids)*snapshotEntryBytes)
	binary.BigEndian.PutUint16(b, snapshotVersion)
	binary.BigEndian.PutUint32(b[6:], uint32(len(ids)))
	for _, id := range ids {
		p := s.byID[id]
		last := producerBatch{lastSequence: -1, lastOffset: -1}
		if n := len(p.batches); n > 0 {
			last = p.batches[n-1]
		}
		b = binary.BigEndian.AppendUint64(b, uint64(id))
		b = binary.BigEndian.AppendUint16(b, uint16(p.epoch))
		b = binary.BigEndian.AppendUint32(b, uint32(last.lastSequence))
		b = binary.BigEndian.AppendUint64(b, uint64(last.lastOffset))
		b = binary.BigEndian.AppendUint32(b, uint32(last.offsetDelta))
		b = binary.BigEndian.AppendUint64(b, uint64(p.lastTimestamp))
		b = binary.BigEndian.AppendUint32(b, uint32(p.coordinatorEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(p.txnFirstOffset))
	}
	binary.BigEndian.PutUint32(b[2:], checksum(b[6:]))
	return b
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// decodeSnapshot reads a snapshot file. Any damage is ErrCorrupt: an older
// snapshot or the log itself serves then.
func decodeSnapshot(b []byte) (map[int64]*producer, error) {
	if len(b) < snapshotHeader || binary.BigEndian.Uint16(b) != snapshotVersion {
		return nil, fmt.Errorf("%w: not a producer snapshot of version 1", ErrCorrupt)
	}
	if binary.BigEndian.Uint32(b[2:]) != checksum(b[6:]) {
		return nil, fmt.Errorf("%w: checksum of the producer snapshot", ErrCorrupt)
	}
	n := int(binary.BigEndian.Uint32(b[6:]))
	body := b[snapshotHeader:]
	if n < 0 || n > len(body)/snapshotEntryBytes || n*snapshotEntryBytes != len(body) {
		return nil, fmt.Errorf("%w: producer snapshot says %d entries in %d bytes", ErrCorrupt, n, len(body))
	}
	byID := make(map[int64]*producer, n)
	for ; len(body) > 0; body = body[snapshotEntryBytes:] {
		u32 := func(at int) int32 { return int32(binary.BigEndian.Uint32(body[at:])) }
		u64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(body[at:])) }
		p := &producer{
			epoch: int16(binary.BigEndian.Uint16(body[8:])), lastTimestamp: u64(26),
			coordinatorEpoch: u32(34), txnFirstOffset: u64(38),
		}
		if lastSequence, lastOffset, delta := u32(10), u64(14), u32(22); lastOffset >= 0 && lastSequence >= 0 && delta >= 0 {
			p.batches = []producerBatch{{subtractSequence(lastSequence, delta), lastSequence, lastOffset, delta, p.lastTimestamp}}
			p.partial = true
		}
		byID[u64(0)] = p
	}
	return byID, nil
}

// subtractSequence is the sequence n records before s, wrapping below 0 as
// sequences wrap above MaxInt32.
func subtractSequence(s, n int32) int32 {
	if s < n {
		return 1<<31 - 1 - (n - s) + 1
	}
	return s - n
}

// writeSnapshotLocked keeps the producers' state as of the log end.
func (l *Log) writeSnapshotLocked() error {
	end := l.LogEndOffset()
	if end == l.lastSnapshot || end == 0 {
		return nil
	}
	if err := l.dir.writeFile(filepath.Join(l.path, fileName(end, ".snapshot")), l.producers.encode()); err != nil {
		return err
	}
	l.lastSnapshot = end
	l.derived.Store(true)
	l.snapshots = append(l.snapshots, end)
	return l.pruneSnapshotsLocked()
}

// pruneSnapshotsLocked keeps the newest snapshot and those at the bases of
// segments that exist.
func (l *Log) pruneSnapshotsLocked() error {
	segments := l.segments()
	var kept []int64
	for _, o := range l.snapshots {
		isBase := slices.ContainsFunc(segments, func(s *segment) bool { return s.base == o })
		if o == l.lastSnapshot || isBase {
			kept = append(kept, o)
			continue
		}
		if err := l.dir.removeFile(filepath.Join(l.Path(), fileName(o, ".snapshot"))); err != nil {
			return err
		}
	}
	l.snapshots = kept
	return nil
}
