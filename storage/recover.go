package storage

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"barnabas/protocol/record"
)

// loadState is what the checkpoints say of a log.
type loadState struct {
	clean         bool // stopped cleanly: nothing has to be scanned
	recoveryPoint int64
	logStart      int64
	highWatermark int64
}

// load opens the log in its directory and, after a crash, recovers it: from the
// recovery point on every batch is checked, the log is cut at the first bad one,
// and what is derived from batches is built anew. The manager syncs all that was
// accepted before anybody may read it.
func (l *Log) load(st loadState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(st); err != nil {
		return err
	}
	segments := l.segments()
	end, err := int64(0), error(nil)
	if st.clean {
		end, err = l.openActiveLocked(segments[len(segments)-1])
	} else {
		end, err = l.recoverLocked(st.recoveryPoint)
	}
	if err != nil {
		return err
	}
	if err := l.settleLocked(end, st); err != nil {
		return err
	}
	if end < st.logStart { // what was deleted reaches beyond what the crash left
		if err := l.startAnewLocked(st.logStart); err != nil {
			return err
		}
	}
	if end < st.highWatermark {
		l.logz.Error("the log lost records below its high watermark: replicas may differ", zap.Stringer("log", l.tp),
			zap.Int64("highWatermark", st.highWatermark), zap.Int64("logEndOffset", end))
	}
	return l.loadProducersLocked()
}

// settleLocked sets all offsets by the end that was found, and makes the names
// durable that recovery made or removed.
func (l *Log) settleLocked(end int64, st loadState) error {
	l.logEnd.Store(end)
	l.setTailLocked()
	l.recoveryPoint.Store(end)
	l.logStart.Store(min(max(st.logStart, l.segments()[0].base), end))
	l.highWatermark.Store(min(max(st.highWatermark, l.logStart.Load()), end))
	l.epochs.truncateEnd(max(end, 1))
	l.epochs.truncateStart(l.logStart.Load())
	l.drawJitter()
	if err := l.dropSnapshotsLocked(end); err != nil || st.clean {
		return err
	}
	if err := l.writeEpochs(true); err != nil && !isFull(err) {
		return err
	}
	return l.syncNames()
}

// list reads the directory: segments, snapshots, the topic's id and epochs.
func (l *Log) list(st loadState) error {
	entries, err := l.dir.fs.ReadDir(l.path)
	if err != nil {
		return err
	}
	var segments []*segment
	names := make(map[string]bool, len(entries))
	now := l.cache.now()
	for _, e := range entries {
		name := e.Name()
		names[name] = true
		full := filepath.Join(l.path, name)
		base, suffix := parseFileName(name)
		switch {
		case isLeftover(name):
			if err := l.dir.removeFile(full); err != nil {
				return err
			}
		case strings.HasSuffix(name, ".deleted"):
			l.dir.doom(doomed{path: full, due: now})
		case base >= 0 && suffix == ".log":
			s := newSegment(l.path, base, l.cache)
			s.created = now
			size, err := l.dir.fs.Size(full)
			if err != nil {
				return err
			}
			s.size.Store(size)
			segments = append(segments, s)
		case base >= 0 && suffix == ".snapshot":
			l.snapshots = append(l.snapshots, base)
		}
	}
	if segments, err = l.dropEmpty(segments); err != nil {
		return err
	}
	if len(segments) == 0 {
		s := newSegment(l.path, max(st.logStart, 0), l.cache)
		s.created = now
		if err := s.create(); err != nil {
			return err
		}
		segments = append(segments, s)
	}
	for _, s := range segments[:len(segments)-1] {
		s.sealed.Store(true)
		s.times.forget()
		s.damaged.Store(!names[fileName(s.base, ".index")] || !names[fileName(s.base, ".timeindex")])
	}
	if n := len(l.snapshots); n > 0 {
		l.lastSnapshot = l.snapshots[n-1]
	}
	last := segments[len(segments)-1].base
	l.derived.Store(names[epochFile] || len(l.snapshots) > 0 || names[fileName(last, ".index")])
	l.segs.Store(&segments)
	return l.readSideFiles(st)
}

// dropEmpty removes the segments between others that hold nothing: a roll that
// was stopped leaves one, and it would hide what the segment before it took
// afterwards. The first stays: without it a log that lost its beginning would
// look like one that retention shortened.
func (l *Log) dropEmpty(segments []*segment) ([]*segment, error) {
	kept := segments[:0]
	for i, s := range segments {
		if s.size.Load() > 0 || i == 0 || i == len(segments)-1 {
			kept = append(kept, s)
			continue
		}
		for _, suffix := range []string{".index", ".timeindex", ".log"} {
			if err := l.dir.removeFile(s.sibling(suffix)); err != nil {
				return nil, err
			}
		}
	}
	return kept, nil
}

func (l *Log) readSideFiles(st loadState) error {
	data, err := l.dir.fs.ReadFile(filepath.Join(l.path, partitionMetadataFile))
	if err == nil {
		id, err := decodePartitionMetadata(data)
		if err != nil && (st.clean || st.recoveryPoint > 0) { // a flush syncs it
			return err
		}
		if err != nil {
			l.logz.Warn("the topic's id did not reach the disk before a crash: the log takes the next one it is given", zap.Stringer("log", l.tp))
			if err := l.dir.removeFile(filepath.Join(l.path, partitionMetadataFile)); err != nil {
				return err
			}
		}
		l.topicID.Store(&id)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err = l.dir.fs.ReadFile(filepath.Join(l.path, epochFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l.readEpochs()
	}
	if err != nil {
		return err
	}
	if l.epochs.entries, err = decodeEpochs(data); err != nil {
		l.logz.Warn("leader epochs are read from the batches again: the checkpoint is damaged", zap.Stringer("log", l.tp), zap.Error(err))
		l.epochs.entries, l.epochs.dirty = nil, true
		return l.readEpochs()
	}
	return nil
}

// readEpochs builds the leader epochs from every batch of the log.
func (l *Log) readEpochs() error {
	for _, s := range l.segments() {
		if _, err := l.scan(s, 0, func(b record.Batch, _ int64) bool {
			l.tookEpoch(b)
			return true
		}); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return nil
}

func (l *Log) tookEpoch(b record.Batch) {
	if epoch, ok := l.epochs.latest(); b.PartitionLeaderEpoch() >= 0 && (!ok || b.PartitionLeaderEpoch() > epoch) {
		l.epochs.assign(b.PartitionLeaderEpoch(), b.BaseOffset())
	}
}

// parseFileName splits "00000000000000000042.log"; base is -1 for other names.
func parseFileName(name string) (base int64, suffix string) {
	if len(name) < 21 || name[20] != '.' {
		return -1, ""
	}
	base, err := strconv.ParseInt(name[:20], 10, 64)
	if err != nil || base < 0 || name[0] == '+' || name[0] == '-' {
		return -1, ""
	}
	return base, name[20:]
}

// openActiveLocked opens the last segment after a clean stop: its indexes are in
// their files, and the log end is found behind the last index entry.
func (l *Log) openActiveLocked(s *segment) (end int64, err error) {
	if s.size.Load() == 0 {
		return s.base, nil
	}
	ok, err := l.loadActiveIndexes(s)
	if err != nil {
		return 0, err
	}
	// From the batch that the last time index entry names, if that is right, to
	// the end: the log end, and whether a higher timestamp follows.
	from := int64(0)
	if ok {
		if from, err = l.confirmTimes(s); err != nil {
			return 0, err
		}
		ok = !s.damaged.Swap(false)
	}
	l.indexedSize = s.size.Load()
	if !ok {
		l.indexedSize = -1
		if err := l.rebuildLocked(s); err != nil && !errors.Is(err, ErrCorrupt) {
			return 0, err
		}
	}
	end, err = l.lastBatchEnd(s, from)
	if errors.Is(err, ErrCorrupt) {
		l.logz.Warn("the active segment does not end with a whole batch though the broker stopped cleanly: recovering it", zap.Stringer("log", l.tp), zap.Error(err))
		return l.recoverLocked(s.base)
	}
	if err != nil || s.firstTime != noTime {
		return end, err
	}
	_, err = l.scanTo(s, 0, min(s.size.Load(), 1<<31), func(b record.Batch, _ int64) bool {
		s.firstTime = b.MaxTimestamp()
		return false
	})
	return end, err
}

// loadActiveIndexes reads both index files; ok is false if one is unusable.
func (l *Log) loadActiveIndexes(s *segment) (ok bool, err error) {
	data, err := l.dir.fs.ReadFile(s.sibling(".index"))
	if err != nil {
		return false, ignoreMissing(err)
	}
	offsets, oerr := decodeOffsetIndex(data, s.size.Load())
	if data, err = l.dir.fs.ReadFile(s.sibling(".timeindex")); err != nil {
		return false, ignoreMissing(err)
	}
	times, terr := decodeTimeIndex(data)
	if oerr != nil || terr != nil || len(times) == 0 {
		return false, nil
	}
	s.offsets.entries = offsets
	s.times.set(times)
	return true, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recoverLocked checks the segments from the one that holds the recovery point,
// cuts at the first bad batch, and gives the log end.
func (l *Log) recoverLocked(recoveryPoint int64) (end int64, err error) {
	segments := l.segments()
	first := max(floorSegment(segments, recoveryPoint-1), 0) // as Flush does
	i := first
	end = segments[i].base
	for ; i < len(segments); i++ {
		s := segments[i]
		if s.base < end {
			l.logz.Error("recovery drops segments that begin before the one in front of them ends", zap.Stringer("log", l.tp),
				zap.Int64("segment", s.base), zap.Int64("logEndOffset", end), zap.Int("segmentsDropped", len(segments)-i))
			if err := l.reviveLocked(segments, i); err != nil {
				return 0, err
			}
			return end, l.rebuildLocked(l.activeLocked())
		}
		if lost := s.base > end && end >= recoveryPoint && i > first; lost && !l.Config().Compact {
			// The segment before it lost its tail, at the end of a batch: what
			// follows would be a log with a hole.
			l.logz.Warn("recovery cut the log where a segment's tail is missing", zap.Stringer("log", l.tp),
				zap.Int64("logEndOffset", end), zap.Int64("segment", s.base), zap.Int("segmentsDropped", len(segments)-i))
			if err := l.reviveLocked(segments, i); err != nil {
				return 0, err
			}
			return end, l.rebuildLocked(l.activeLocked())
		}
		good, next, err := l.checkSegment(s, recoveryPoint, end)
		if err != nil {
			return 0, err
		}
		end = max(next, s.base)
		whole := good == s.size.Load()
		if !whole {
			l.logz.Warn("recovery cut the log at the first bad batch", zap.Stringer("log", l.tp), zap.Int64("segment", s.base),
				zap.Int64("position", good), zap.Int64("bytesCut", s.size.Load()-good), zap.Int64("logEndOffset", end), zap.Int("segmentsDropped", len(segments)-1-i))
			if err := l.reviveLocked(segments, i+1); err != nil {
				return 0, err
			}
			segments = l.segments()
		}
		if err := l.acceptSegment(s, good); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// reviveLocked drops the segments from i on; the one before becomes the active
// one.
func (l *Log) reviveLocked(segments []*segment, i int) error {
	if err := l.dropLocked(segments[i:]); err != nil {
		return err
	}
	kept := slices.Clone(segments[:i])
	l.segs.Store(&kept)
	s := kept[i-1]
	return l.unsealLocked(s)
}

// acceptSegment cuts a recovered segment, syncs it and builds its indexes.
func (l *Log) acceptSegment(s *segment, good int64) error {
	if err := l.cutLocked(s, good); err != nil {
		return err
	}
	if !s.sealed.Load() {
		l.indexedSize = -1
		return nil
	}
	if err := l.writeIndexes(s, true); err != nil {
		return err
	}
	s.damaged.Store(false)
	s.seal()
	return nil
}

// checkSegment reads a segment batch by batch and gives the position behind the
// last good one and the offset behind it. Below the recovery point only headers
// are looked at: those bytes were durable. next is the lowest offset that the
// first batch may have.
func (l *Log) checkSegment(s *segment, recoveryPoint, next int64) (good, end int64, err error) {
	f, err := s.acquire()
	if err != nil {
		return 0, next, err
	}
	defer s.release()
	end = next
	size := s.size.Load()
	var buf []byte
	var head [record.HeaderSize]byte
	for good+record.HeaderSize <= size {
		if _, err := f.ReadAt(head[:], good); err != nil {
			return good, end, err
		}
		n, err := record.HeaderSizeOf(head[:])
		if err != nil || good+int64(n) > size {
			return good, end, nil
		}
		b := record.Batch(head[:])
		if b.Magic() != record.Magic || b.BaseOffset() < end || b.LastOffsetDelta() < 0 || b.LastOffset() < b.BaseOffset() {
			return good, end, nil
		}
		if b.LastOffset() >= recoveryPoint {
			buf = slices.Grow(buf[:0], n)[:n]
			if _, err := f.ReadAt(buf, good); err != nil && !errors.Is(err, io.EOF) {
				return good, end, err
			}
			if record.Batch(buf).Check() != nil {
				return good, end, nil
			}
		}
		l.tookEpoch(b)
		end = b.LastOffset() + 1
		good += int64(n)
	}
	return good, end, nil
}

// loadProducersLocked rebuilds the producers' state from the newest good snapshot
// and the batches behind it.
func (l *Log) loadProducersLocked() error {
	l.producers = producers{}
	for n := len(l.snapshots); n > 0; n = len(l.snapshots) {
		o := l.snapshots[n-1]
		name := filepath.Join(l.path, fileName(o, ".snapshot"))
		data, err := l.dir.fs.ReadFile(name)
		if err == nil {
			if l.producers.byID, err = decodeSnapshot(data); err == nil && o >= l.segments()[0].base {
				l.producers.through = o
				break
			}
		}
		if err == nil { // what lay between the two is deleted: it would be out of date
			l.producers.byID, err = nil, errors.New("it ends before the log begins")
		}
		l.logz.Warn("producer snapshot is unusable: going back to an older one", zap.String("file", name), zap.Error(err))
		if err := l.dir.removeFile(name); err != nil {
			return err
		}
		l.snapshots = l.snapshots[:n-1]
		l.lastSnapshot = -1
		if n > 1 {
			l.lastSnapshot = l.snapshots[n-2]
		}
	}
	if len(l.producers.byID) == 0 {
		l.producers.byID = nil
	}
	from := l.producers.through
	if from >= l.LogEndOffset() {
		return nil
	}
	segments := l.segments()
	for _, s := range segments[max(floorSegment(segments, from), 0):] {
		position, err := s.lookup(from)
		if err != nil {
			return err
		}
		if _, err := l.scan(s, position, func(b record.Batch, _ int64) bool {
			if b.BaseOffset() >= from {
				l.producers.take(b)
			}
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// lastBatchEnd scans from a position to the end of the active segment and gives
// the offset behind its last batch.
func (l *Log) lastBatchEnd(s *segment, from int64) (int64, error) {
	end := s.base
	_, err := l.scan(s, from, func(b record.Batch, _ int64) bool {
		s.times.saw(b.MaxTimestamp(), b.LastOffset()-s.base)
		end = b.LastOffset() + 1
		return true
	})
	return end, err
}
