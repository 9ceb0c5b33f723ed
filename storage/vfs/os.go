package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// osFS is the operating system's file system.
type osFS struct{}

// OS is the operating system's file system.
func OS() FS { return osFS{} }

// osFile is a raw descriptor with one owner. It has no finalizer: whoever opens
// it closes it, once.
type osFile struct {
	fd     int
	name   string
	closed atomic.Bool
}

func (osFS) open(name string, flags int) (File, error) {
	for {
		fd, err := unix.Open(name, flags|unix.O_RDWR|unix.O_CLOEXEC, 0o644)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &osFile{fd: fd, name: name}, nil
	}
}

func (o osFS) Create(name string) (File, error) { return o.open(name, unix.O_CREAT) }
func (o osFS) Open(name string) (File, error)   { return o.open(name, 0) }

func (osFS) ReadFile(name string) ([]byte, error)       { return os.ReadFile(name) }
func (osFS) Mkdir(name string) error                    { return os.Mkdir(name, 0o755) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (osFS) Rename(oldName, newName string) error       { return os.Rename(oldName, newName) }

func (osFS) Size(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (osFS) SyncAll(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}

func (osFS) Usage(name string) (total, usable int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(name, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return int64(st.Blocks) * st.Bsize, int64(st.Bavail) * st.Bsize, nil
}

func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
	}
	return f, nil
}

// Fd is the descriptor, for sendfile.
func (f *osFile) Fd() uintptr { return uintptr(f.fd) }

func (f *osFile) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, f.fail("read", err)
		case m == 0:
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

func (f *osFile) WriteAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := unix.Pwrite(f.fd, p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, f.fail("write", err)
		case m == 0:
			return n, f.fail("write", io.ErrShortWrite)
		}
		n += m
	}
	return n, nil
}

func (f *osFile) Truncate(size int64) error {
	if err := unix.Ftruncate(f.fd, size); err != nil {
		return f.fail("truncate", err)
	}
	return nil
}

func (f *osFile) Sync() error {
	if err := unix.Fdatasync(f.fd); err != nil {
		return f.fail("sync", err)
	}
	return nil
}

func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return 0, f.fail("stat", err)
	}
	return st.Size, nil
}

func (f *osFile) Close() error {
	if f.closed.Swap(true) {
		return f.fail("close", fs.ErrClosed)
	}
	if err := unix.Close(f.fd); err != nil {
		return f.fail("close", err)
	}
	return nil
}
