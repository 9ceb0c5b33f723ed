package storage

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"barnabas/storage/vfs"
)

// logDir is one directory of log.dirs.
type logDir struct {
	path string
	fs   vfs.FS
	logz *zap.Logger
	lock io.Closer
	// failed is the first error of the device: from then on the directory is
	// offline until the broker starts anew.
	failed atomic.Pointer[error]
	// startMoved: a log start offset moved since the checkpoint was written.
	startMoved atomic.Bool

	// recovering: what recovery writes is made durable at its end, all at once:
	// interrupted, it would begin anew from the same recovery points.
	recovering atomic.Bool

	mu     sync.Mutex
	doomed []doomed // what waits to be deleted

	// checkpoints orders the writers of the checkpoint files; it is held across
	// their fsync. written is what the files say.
	checkpoints sync.Mutex
	written     map[string]map[TopicPartition]int64
}

// doomed is a file or directory whose deletion waits.
type doomed struct {
	path string
	due  int64 // ms
	tree bool
}

// offline is why the directory is offline, nil while it is not.
func (d *logDir) offline() error {
	if e := d.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// fail takes the directory offline and gives err as ErrOffline. Only the first
// failure is kept and logged.
func (d *logDir) fail(err error) error {
	if errors.Is(err, ErrOffline) {
		return err
	}
	if d.failed.CompareAndSwap(nil, &err) {
		d.logz.Error("log directory is offline until the broker is restarted: check the disk", zap.String("dir", d.path), zap.Error(err))
	}
	return errors.Join(ErrOffline, err)
}

// replaceFile replaces a file by rename, so that a reader sees the old or the
// new content. With sync the new content is durable on return.
func (d *logDir) replaceFile(name string, data []byte, sync bool) error {
	if sync && !d.recovering.Load() {
		return vfs.WriteFile(d.fs, name, data, filepath.Dir(name))
	}
	if err := d.writeFile(name+".tmp", data); err != nil {
		return err
	}
	return d.fs.Rename(name+".tmp", name)
}

// writeFile writes a file that nobody reads meanwhile and whose damage a start
// notices: indexes (built anew) and snapshots (checksum).
func (d *logDir) writeFile(name string, data []byte) error {
	f, err := d.fs.Create(name)
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil && len(data) > 0 {
		_, err = f.WriteAt(data, 0)
	}
	return errors.Join(err, f.Close())
}

// removeFile removes a file; a missing one is no error.
func (d *logDir) removeFile(name string) error {
	if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes a file's content durable, in recovery at its end.
func (d *logDir) sync(f vfs.File) error {
	if d.recovering.Load() {
		return nil
	}
	return f.Sync()
}

// syncDir makes a directory's names durable, in recovery at its end.
func (d *logDir) syncDir(name string) error {
	if d.recovering.Load() {
		return nil
	}
	return d.fs.SyncDir(name)
}

// syncFiles makes files durable that were written without sync; missing ones are
// skipped.
func (d *logDir) syncFiles(names ...string) error {
	for _, name := range names {
		f, err := d.fs.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = d.sync(f)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteLater renames a segment's files now and deletes them after the delay.
func (d *logDir) deleteLater(s *segment, delayMs int64) error {
	now := s.cache.now()
	for _, suffix := range []string{".log", ".index", ".timeindex", ".txnindex"} {
		name := s.sibling(suffix)
		err := d.fs.Rename(name, name+".deleted")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		d.doom(doomed{path: name + ".deleted", due: now + delayMs})
	}
	return nil
}

func (d *logDir) doom(x doomed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.doomed = append(d.doomed, x)
}

// reap deletes what is due, at most a few things a call, so that it never
// crowds out the appends.
func (d *logDir) reap(now int64, most int) error {
	d.mu.Lock()
	var due, rest []doomed
	for _, x := range d.doomed {
		if x.due <= now && len(due) < most {
			due = append(due, x)
		} else {
			rest = append(rest, x)
		}
	}
	d.doomed = rest
	d.mu.Unlock()
	for _, x := range due {
		var err error
		if x.tree {
			err = d.fs.RemoveAll(x.path)
		} else {
			err = d.removeFile(x.path)
		}
		if err != nil {
			return d.fail(fmt.Errorf("delete %s: %w", x.path, err))
		}
	}
	return nil
}

const deleteSuffix = "-delete"

// deletedName is the name under which a partition's directory waits for its
// deletion, cut so that it fits a file name of 255 bytes.
func deletedName(tp TopicPartition) string {
	var id [16]byte
	for i := range id {
		id[i] = byte(rand.Uint32())
	}
	tail := "." + hex.EncodeToString(id[:]) + deleteSuffix
	name := tp.String()
	return name[:min(len(name), 255-len(tail))] + tail
}

// MakeDirs makes a directory of the operating system and its parents.
func MakeDirs(path string) error { return makeDirs(vfs.OS(), path) }

// makeDirs makes a directory and its parents, durably.
func makeDirs(fsys vfs.FS, path string) error {
	parent := filepath.Dir(path)
	err := fsys.Mkdir(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		if err = fsys.SyncDir(parent); errors.Is(err, fs.ErrPermission) {
			err = nil // a parent that may not be listed cannot be synced
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) || parent == path {
		return err
	}
	if err := makeDirs(fsys, parent); err != nil {
		return err
	}
	return makeDirs(fsys, path)
}

// isLeftover tells names that belong to no log: files of work that a crash
// interrupted.
func isLeftover(name string) bool {
	return strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".cleaned")
}
