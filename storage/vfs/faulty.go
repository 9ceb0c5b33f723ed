package vfs

import (
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
)

// Op is one operation that changes a file system.
type Op struct {
	N    int64  // its number, from 1
	Kind string // create, mkdir, write, truncate, sync, rename, remove, syncdir
	Name string
}

// ErrCrashed is what everything answers after the operation at which [CrashAt]
// stopped the machine.
var ErrCrashed = errors.New("the machine has crashed")

// FailAt lets the n-th operation fail with err, once.
func FailAt(n int64, err error) func(Op) error {
	return func(op Op) error {
		if op.N == n {
			return err
		}
		return nil
	}
}

// CrashAt lets the n-th operation and all after it fail: none is carried out.
func CrashAt(n int64) func(Op) error {
	return func(op Op) error {
		if op.N >= n {
			return ErrCrashed
		}
		return nil
	}
}

// Faulty is a file system that asks before each operation that changes
// something; with an error the operation fails and changes nothing. Opening a
// file that exists and closing one are no operations.
func Faulty(fsys FS, before func(Op) error) FS {
	return &faulty{FS: fsys, before: before}
}

type faulty struct {
	FS
	before func(Op) error
	n      atomic.Int64
}

func (f *faulty) ask(kind, name string) error {
	if err := f.before(Op{f.n.Add(1), kind, name}); err != nil {
		return &fs.PathError{Op: kind, Path: name, Err: err}
	}
	return nil
}

func (f *faulty) wrap(file File, name string, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, fs: f, name: name}, nil
}

func (f *faulty) Open(name string) (File, error) {
	file, err := f.FS.Open(name)
	return f.wrap(file, name, err)
}

func (f *faulty) Create(name string) (File, error) {
	if err := f.ask("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name)
	return f.wrap(file, name, err)
}

func (f *faulty) Mkdir(name string) error {
	if err := f.ask("mkdir", name); err != nil {
		return err
	}
	return f.FS.Mkdir(name)
}

func (f *faulty) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *faulty) RemoveAll(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.RemoveAll(name)
}

func (f *faulty) Rename(oldName, newName string) error {
	if err := f.ask("rename", oldName); err != nil {
		return err
	}
	return f.FS.Rename(oldName, newName)
}

func (f *faulty) SyncDir(name string) error {
	if err := f.ask("syncdir", name); err != nil {
		return err
	}
	return f.FS.SyncDir(name)
}

func (f *faulty) SyncAll(name string) error {
	if err := f.ask("syncdir", name); err != nil {
		return err
	}
	return f.FS.SyncAll(name)
}

func (f *faulty) Lock(name string) (io.Closer, error) { return f.FS.Lock(name) }

type faultyFile struct {
	File
	fs   *faulty
	name string
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.fs.ask("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultyFile) Sync() error {
	if err := f.fs.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}
