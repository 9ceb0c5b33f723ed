// Package vfs is the file system as a value, so that storage can be tested
// against one that loses what was not synced ([NewMem]) and one that fails on
// demand ([Faulty]). [OS] is the real one.
//
// The interface is only what a log needs: positioned reads and writes, sync of
// files and of directories, rename. Names are paths as package path/filepath
// makes them. A file may be used by many goroutines at once.
package vfs

import (
	"io"
	"io/fs"
)

// FS is a file system.
type FS interface {
	// Create opens a file for reading and writing, making it if it is missing.
	// It does not truncate.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// ReadFile reads a whole file.
	ReadFile(name string) ([]byte, error)
	// Mkdir makes one directory; its parent exists.
	Mkdir(name string) error
	// ReadDir lists a directory in order of names.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Size is the length of a file in bytes.
	Size(name string) (int64, error)
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// RemoveAll deletes a tree; a missing one is no error.
	RemoveAll(name string) error
	// Rename moves a file or directory, replacing a file of that name.
	Rename(oldName, newName string) error
	// SyncDir makes the names in a directory durable: creations, renames and
	// removals since the last call.
	SyncDir(name string) error
	// SyncAll makes everything on the device below name durable: one call for
	// what would be thousands of Sync and SyncDir.
	SyncAll(name string) error
	// Lock takes an exclusive lock on a file, made if missing, without waiting.
	// Closing the result gives it back.
	Lock(name string) (io.Closer, error)
	// Usage is the size of the device below name and how much of it is free for
	// this process, in bytes.
	Usage(name string) (total, usable int64, err error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Truncate cuts or extends the file to size bytes.
	Truncate(size int64) error
	// Sync makes the file's content durable. After an error what it covered is
	// in doubt for ever: do not call it again.
	Sync() error
	// Size is the file's length in bytes.
	Size() (int64, error)
}

// Descriptor is what a file of the operating system also is: the source of a
// sendfile. The descriptor belongs to the file and ends with it.
type Descriptor interface {
	Fd() uintptr
}

// WriteFile replaces a file's content durably: written beside it, synced,
// renamed over it. The directory is synced when syncDir is set.
func WriteFile(fsys FS, name string, data []byte, syncDir string) error {
	tmp := name + ".tmp"
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	if err := writeAll(f, data); err != nil {
		_ = f.Close() // the write's error is the one to report
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	if syncDir == "" {
		return nil
	}
	return fsys.SyncDir(syncDir)
}

func writeAll(f File, data []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}
