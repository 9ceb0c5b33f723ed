package vfs

import (
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// memFile is an open file of a [Mem].
type memFile struct {
	fs     *Mem
	node   *node
	name   string
	boot   int
	closed bool
}

// lock takes the file system's lock for an operation on a live handle.
func (f *memFile) lock(op string) (unlock func(), err error) {
	f.fs.mu.Lock()
	if f.closed || f.boot != f.fs.boot {
		f.fs.mu.Unlock()
		return nil, pathError(op, f.name, fs.ErrClosed)
	}
	return f.fs.mu.Unlock, nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	unlock, err := f.lock("read")
	if err != nil {
		return 0, err
	}
	defer unlock()
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	unlock, err := f.lock("write")
	if err != nil {
		return 0, err
	}
	defer unlock()
	grow := max(off+int64(len(p))-int64(len(f.node.data)), 0)
	if room := f.fs.limit - f.fs.used; f.fs.limit > 0 && grow > room {
		fits := max(int64(len(p))-(grow-max(room, 0)), 0)
		f.change(change{off, slices.Clone(p[:fits])})
		return int(fits), pathError("write", f.name, syscall.ENOSPC)
	}
	f.change(change{off, slices.Clone(p)})
	return len(p), nil
}

func (f *memFile) change(c change) {
	if c.data != nil && len(c.data) == 0 {
		return
	}
	before := len(f.node.data)
	f.node.data = c.apply(f.node.data)
	f.node.pending = append(f.node.pending, c)
	f.fs.used += int64(len(f.node.data) - before)
}

func (f *memFile) Truncate(size int64) error {
	unlock, err := f.lock("truncate")
	if err != nil {
		return err
	}
	defer unlock()
	f.change(change{off: size})
	return nil
}

func (f *memFile) Sync() error {
	unlock, err := f.lock("sync")
	if err != nil {
		return err
	}
	defer unlock()
	f.node.sync()
	return nil
}

func (f *memFile) Size() (int64, error) {
	unlock, err := f.lock("stat")
	if err != nil {
		return 0, err
	}
	defer unlock()
	return int64(len(f.node.data)), nil
}

func (f *memFile) Close() error {
	unlock, err := f.lock("close")
	if err != nil {
		return err
	}
	defer unlock()
	f.closed = true
	return nil
}
