package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"barnabas/internal/clock"
	"barnabas/metadata/store"
	"barnabas/metadata/store/tree"
)

// The buckets of the file. nodes maps paths to znodes as package tree encodes
// them; meta holds format, zxid and session, 8 bytes each.
var (
	bucketNodes = []byte("nodes")
	bucketMeta  = []byte("meta")
	keyFormat   = []byte("format")
	keyZxid     = []byte("zxid")
	keySession  = []byte("session")
)

const (
	format      = 1
	lockTimeout = 200 * time.Millisecond
	fileMode    = 0o600
)

// Store is a session with the embedded service. Close it to release the file.
type Store struct {
	db      *bolt.DB
	path    string
	clock   clock.Clock
	session int64

	// Only whoever is at work touches the tree.
	tree *tree.Tree

	mu      sync.Mutex // guards what follows; never held while waiting
	queue   []*request
	working bool
	closed  bool
	failed  error
	idle    sync.Cond // signalled when nobody is at work any more
}

var _ store.Store = (*Store)(nil)

// Open opens the file, or makes it in a directory that is there, and starts a
// new session. Errors name the path and what to do.
func Open(path string) (*Store, error) {
	s := &Store{path: path, clock: clock.System(), tree: tree.New()}
	s.idle.L = &s.mu
	_, err := os.Stat(path)
	isNew := errors.Is(err, os.ErrNotExist)
	if s.db, err = openFile(path); err != nil {
		return nil, explain(path, err)
	}
	for _, step := range []func() error{s.load, s.endSessions} {
		if err := step(); err != nil {
			return nil, errors.Join(explain(path, err), s.db.Close())
		}
	}
	if isNew {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return nil, errors.Join(explain(path, err), s.db.Close())
		}
	}
	return s, nil
}

// syncDir makes the name of a new file durable: without it a crash could lose
// the file with all that was acknowledged.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openFile opens the database. A file that is damaged makes bbolt panic.
func openFile(path string) (db *bolt.DB, err error) {
	defer caught(&err)
	return bolt.Open(path, fileMode, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType})
}

// caught makes a panic over a damaged file an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// explain adds to an error what an operator can do about it.
func explain(path string, err error) error {
	remedy := "restore the file from a backup, or move it away to start with no topics"
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		remedy = "another process has the file open: stop it, or set barnabas.metadata.path to another file"
	case errors.Is(err, os.ErrPermission):
		remedy = "make the file and its directory readable and writable for the user that runs the broker"
	case errors.Is(err, os.ErrNotExist):
		remedy = "create the directory, or set barnabas.metadata.path to another file"
	case errors.Is(err, errNewer):
		remedy = "run the version of Barnabas that wrote it, or a newer one"
	}
	return fmt.Errorf("metadata store %s: %w (%s)", path, err, remedy)
}

var errNewer = errors.New("written in a format that this version does not know")

// load reads the tree. Paths are sorted, so parents come first.
func (s *Store) load() (err error) {
	defer caught(&err)
	return s.db.View(func(tx *bolt.Tx) error {
		meta, nodes := tx.Bucket(bucketMeta), tx.Bucket(bucketNodes)
		if meta == nil || nodes == nil {
			return nil
		}
		if number(meta.Get(keyFormat)) != format {
			return errNewer
		}
		s.session = number(meta.Get(keySession))
		s.tree.SetZxid(number(meta.Get(keyZxid)))
		return nodes.ForEach(func(k, v []byte) error { return s.tree.Load(string(k), v) })
	})
}

// endSessions starts a session and removes what earlier ones left.
func (s *Store) endSessions() error {
	s.session++
	txn := tree.Txn{Now: clock.Millis(s.clock)}
	for _, path := range s.tree.Ephemerals(0) {
		txn.Ops = append(txn.Ops, store.Delete(path, store.AnyVersion))
	}
	applied, err := s.tree.Apply(&txn)
	if err != nil {
		return err
	}
	return s.commit(append(applied.Changed, "/"))
}

// Session is the session's id.
func (s *Store) Session() int64 { return s.session }

// Close waits for calls in flight and releases the file. Later calls fail.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	for s.working {
		s.idle.Wait()
	}
	s.mu.Unlock()
	return s.db.Close()
}

// Multi does all operations or none.
func (s *Store) Multi(ctx context.Context, ops ...store.Op) ([]store.Result, error) {
	out, err := s.Pipeline(ctx, [][]store.Op{ops})
	if err != nil {
		return nil, err
	}
	return out[0].Results, out[0].Err
}

// Pipeline does many transactions in order, in one commit.
func (s *Store) Pipeline(ctx context.Context, txns [][]store.Op) ([]store.Outcome, error) {
	r := &request{txns: txns, done: make(chan struct{})}
	if err := s.submit(ctx, r); err != nil {
		return nil, err
	}
	return r.outcomes, nil
}

// Get reads a znode.
func (s *Store) Get(ctx context.Context, path string, w store.Watcher) (n store.Node, err error) {
	var found error
	err = s.read(ctx, func(t *tree.Tree) { n, found = t.Get(path, w) })
	return n, errors.Join(err, found)
}

// GetAll reads many znodes.
func (s *Store) GetAll(ctx context.Context, paths []string) ([]store.Node, error) {
	nodes := make([]store.Node, len(paths))
	err := s.read(ctx, func(t *tree.Tree) {
		for i, path := range paths {
			nodes[i], _ = t.Get(path, nil)
		}
	})
	return nodes, err
}

// Exists tells whether a znode is there.
func (s *Store) Exists(ctx context.Context, path string, w store.Watcher) (stat store.Stat, ok bool, err error) {
	err = s.read(ctx, func(t *tree.Tree) { stat, ok = t.Exists(path, w) })
	return stat, ok, err
}

// Children lists a znode's children.
func (s *Store) Children(ctx context.Context, path string, w store.Watcher) (names []string, err error) {
	var found error
	err = s.read(ctx, func(t *tree.Tree) { names, found = t.Children(path, w) })
	return names, errors.Join(err, found)
}

func (s *Store) read(ctx context.Context, f func(*tree.Tree)) error {
	return s.submit(ctx, &request{read: f, done: make(chan struct{})})
}

func number(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
