package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Mem is a file system in memory that forgets like a disk: what a file's Sync
// or a directory's SyncDir did not cover is gone after [Mem.Crash]. Its files
// have no descriptors.
//
// The model is strict. Content and names are separate: a synced file whose
// name was not synced is gone, and a synced name whose file was not is an
// empty file. Within one file and within one directory [Mem.CrashKeeping]
// keeps a prefix of the operations, between them nothing is ordered.
type Mem struct {
	mu    sync.Mutex
	root  *node
	boot  int // grows with every crash: older handles are dead
	locks map[string]bool
	limit int64 // bytes of all files; 0 = none
	used  int64
}

// node is a file or a directory. live is what the process sees, durable what a
// crash leaves, pending the operations that turn the second into the first.
type node struct {
	dir     bool
	live    map[string]*node
	durable map[string]*node
	names   []func(map[string]*node)

	data, synced []byte
	pending      []change
}

// change is a write (data at off) or, with nil data, a truncation to off.
type change struct {
	off  int64
	data []byte
}

func newNode(dir bool) *node {
	n := &node{dir: dir}
	if dir {
		n.live, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// NewMem gives an empty file system.
func NewMem() *Mem { return &Mem{root: newNode(true), locks: map[string]bool{}} }

// SetLimit bounds the bytes that all files may hold together; a write that
// would exceed it is ENOSPC and writes what fits. 0 lifts it.
func (m *Mem) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// Crash loses everything that was not synced. Open files are dead and locks are
// free.
func (m *Mem) Crash() { m.crash(func(int) int { return 0 }, nil) }

// CrashKeeping is Crash, but of each file and each directory a random prefix of
// what was not synced survives; the write behind it may be
// torn: cut, or with zeros where its end would be.
func (m *Mem) CrashKeeping(r *rand.Rand) { m.crash(func(n int) int { return r.IntN(n + 1) }, r) }

func (m *Mem) crash(keep func(int) int, r *rand.Rand) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot++
	m.locks = map[string]bool{}
	m.used = 0
	m.root.crash(keep, r, &m.used)
}

func (n *node) crash(keep func(int) int, r *rand.Rand, used *int64) {
	if n.dir {
		for _, op := range n.names[:keep(len(n.names))] {
			op(n.durable)
		}
		n.names, n.live = nil, maps.Clone(n.durable)
		for _, name := range slices.Sorted(maps.Keys(n.live)) {
			n.live[name].crash(keep, r, used)
		}
		return
	}
	k := keep(len(n.pending))
	for _, c := range n.pending[:k] {
		n.synced = c.apply(n.synced)
	}
	if r != nil && k < len(n.pending) && n.pending[k].data != nil {
		torn := n.pending[k]
		whole := r.IntN(len(torn.data) + 1)
		if r.IntN(2) == 0 { // the size reached the disk, the rest of the content did not
			torn.data = append(slices.Clone(torn.data[:whole]), make([]byte, len(torn.data)-whole)...)
		} else {
			torn.data = torn.data[:whole]
		}
		n.synced = torn.apply(n.synced)
	}
	n.pending, n.data = nil, slices.Clone(n.synced)
	*used += int64(len(n.data))
}

func (c change) apply(b []byte) []byte {
	end := c.off + int64(len(c.data))
	if c.data == nil && end < int64(len(b)) {
		return b[:end:end]
	}
	if grow := end - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	copy(b[c.off:], c.data)
	return b
}

func (n *node) sync() {
	for _, c := range n.pending {
		n.synced = c.apply(n.synced)
	}
	n.pending = nil
}

func (n *node) syncNames() {
	n.names, n.durable = nil, maps.Clone(n.live)
}

func (n *node) syncAll() {
	n.sync()
	if n.dir {
		n.syncNames()
	}
	for _, c := range n.live {
		c.syncAll()
	}
}

// set changes the names of a directory and notes the change in its journal.
func (n *node) set(op func(map[string]*node)) {
	op(n.live)
	n.names = append(n.names, op)
}

func split(name string) []string {
	return strings.FieldsFunc(filepath.Clean(name), func(r rune) bool { return r == filepath.Separator })
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func (m *Mem) find(op, name string) (*node, error) {
	n := m.root
	for _, part := range split(name) {
		if part == "." {
			continue
		}
		if n = n.live[part]; n == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
	}
	return n, nil
}

func (m *Mem) parent(op, name string) (*node, string, error) {
	p, err := m.find(op, filepath.Dir(name))
	if err == nil && !p.dir {
		err = pathError(op, name, syscall.ENOTDIR)
	}
	return p, filepath.Base(name), err
}

// Create implements [FS].
func (m *Mem) Create(name string) (File, error) { return m.open("create", name, true) }

// Open implements [FS].
func (m *Mem) Open(name string) (File, error) { return m.open("open", name, false) }

func (m *Mem) open(op, name string, create bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, base, err := m.parent(op, name)
	if err != nil {
		return nil, err
	}
	n := p.live[base]
	if n == nil && !create {
		return nil, pathError(op, name, fs.ErrNotExist)
	}
	if n == nil {
		n = newNode(false)
		p.set(func(e map[string]*node) { e[base] = n })
	}
	if n.dir {
		return nil, pathError(op, name, syscall.EISDIR)
	}
	return &memFile{fs: m, node: n, name: name, boot: m.boot}, nil
}

// ReadFile implements [FS].
func (m *Mem) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return nil, pathError("read", name, syscall.EISDIR)
	}
	return slices.Clone(n.data), nil
}

// Mkdir implements [FS].
func (m *Mem) Mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, base, err := m.parent("mkdir", name)
	if err != nil {
		return err
	}
	if p.live[base] != nil {
		return pathError("mkdir", name, fs.ErrExist)
	}
	n := newNode(true)
	p.set(func(e map[string]*node) { e[base] = n })
	return nil
}

// ReadDir implements [FS].
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, 0, len(n.live))
	for _, base := range slices.Sorted(maps.Keys(n.live)) {
		entries = append(entries, memEntry{base, n.live[base].dir})
	}
	return entries, nil
}

// Size implements [FS].
func (m *Mem) Size(name string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("stat", name)
	if err != nil {
		return 0, err
	}
	return int64(len(n.data)), nil
}

// Remove implements [FS].
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	n := p.live[base]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if len(n.live) > 0 {
		return pathError("remove", name, syscall.ENOTEMPTY)
	}
	m.used -= n.bytes()
	p.set(func(e map[string]*node) { delete(e, base) })
	return nil
}

// RemoveAll implements [FS].
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, base, err := m.parent("remove", name)
	if err != nil || p.live[base] == nil {
		return nil
	}
	m.used -= p.live[base].bytes()
	p.set(func(e map[string]*node) { delete(e, base) })
	return nil
}

func (n *node) bytes() int64 {
	sum := int64(len(n.data))
	for _, c := range n.live {
		sum += c.bytes()
	}
	return sum
}

// Rename implements [FS], within one directory.
func (m *Mem) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, from, err := m.parent("rename", oldName)
	if err != nil {
		return err
	}
	q, to, err := m.parent("rename", newName)
	if err != nil {
		return err
	}
	n := p.live[from]
	switch {
	case p != q:
		return pathError("rename", oldName, syscall.EXDEV)
	case n == nil:
		return pathError("rename", oldName, fs.ErrNotExist)
	}
	if old := p.live[to]; old != nil {
		m.used -= old.bytes()
	}
	p.set(func(e map[string]*node) {
		delete(e, from)
		e[to] = n
	})
	return nil
}

// SyncDir implements [FS].
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("sync", name)
	if err == nil {
		n.syncNames()
	}
	return err
}

// SyncAll implements [FS].
func (m *Mem) SyncAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find("sync", name); err != nil {
		return err
	}
	m.root.syncAll() // one device
	return nil
}

// Lock implements [FS].
func (m *Mem) Lock(name string) (io.Closer, error) {
	f, err := m.Create(name)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] {
		return nil, fmt.Errorf("lock %s: %w", name, syscall.EWOULDBLOCK)
	}
	m.locks[name] = true
	return &memLock{f.(*memFile)}, nil
}

// Usage implements [FS].
func (m *Mem) Usage(string) (total, usable int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit == 0 {
		return 1 << 40, 1<<40 - m.used, nil
	}
	return m.limit, max(m.limit-m.used, 0), nil
}

type memLock struct{ file *memFile }

func (l *memLock) Close() error {
	m := l.file.fs
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.file.boot == m.boot {
		delete(m.locks, l.file.name)
	}
	return nil
}

type memEntry struct {
	name string
	dir  bool
}

func (e memEntry) Name() string               { return e.name }
func (e memEntry) IsDir() bool                { return e.dir }
func (e memEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (e memEntry) Type() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}
