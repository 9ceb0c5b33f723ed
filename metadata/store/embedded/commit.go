package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"barnabas/internal/clock"
	"barnabas/metadata/store"
	"barnabas/metadata/store/tree"
)

// request is a call that waits for its turn: transactions, or a read.
type request struct {
	txns     [][]store.Op
	read     func(*tree.Tree)
	outcomes []store.Outcome
	err      error
	done     chan struct{}
}

// submit queues a request and returns when it is done. If nobody is at work,
// the caller works: it is a goroutine that exists anyway. A read shares the queue
// so that it never sees what is not durable.
func (s *Store) submit(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return store.ErrClosed
	case s.failed != nil:
		defer s.mu.Unlock()
		return s.failed
	}
	s.queue = append(s.queue, r)
	if s.working {
		s.mu.Unlock()
		<-r.done
		return r.err
	}
	s.working = true
	for len(s.queue) > 0 {
		batch, failed := s.queue, s.failed
		s.queue = nil
		s.mu.Unlock()
		err := failed
		if err == nil {
			err = s.work(batch)
		}
		for _, b := range batch {
			b.err = err
			close(b.done)
		}
		s.mu.Lock()
		if err != nil {
			s.failed = err
		}
	}
	s.working = false
	s.idle.Broadcast()
	s.mu.Unlock()
	return r.err
}

// work does a batch: to the tree, to the file, to the watchers.
func (s *Store) work(batch []*request) error {
	now := clock.Millis(s.clock)
	var changed []string
	var fires []tree.Fire
	for _, r := range batch {
		if r.read != nil {
			r.read(s.tree)
			continue
		}
		r.outcomes = make([]store.Outcome, len(r.txns))
		for i, ops := range r.txns {
			applied, err := s.tree.Apply(&tree.Txn{Session: s.session, Now: now, Ops: ops})
			r.outcomes[i] = store.Outcome{Results: applied.Results, Err: err}
			changed = append(changed, applied.Changed...)
			fires = append(fires, applied.Fires...)
		}
	}
	if len(changed) > 0 {
		if err := s.commit(changed); err != nil {
			return fmt.Errorf("metadata store %s: commit: %w (the broker must be restarted; see that the disk has room and works)", s.path, err)
		}
	}
	for _, f := range fires {
		f.Watcher(f.Event)
	}
	return nil
}

// commit writes the nodes at paths as they are now, and syncs.
func (s *Store) commit(paths []string) (err error) {
	defer caught(&err)
	slices.Sort(paths) // so that pages fill in order
	paths = slices.Compact(paths)
	return s.db.Update(func(tx *bolt.Tx) error {
		nodes, err := tx.CreateBucketIfNotExists(bucketNodes)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := s.put(nodes, path); err != nil {
				return err
			}
		}
		meta, err := tx.CreateBucketIfNotExists(bucketMeta)
		if err != nil {
			return err
		}
		return errors.Join(putNumber(meta, keyFormat, format), putNumber(meta, keyZxid, s.tree.Zxid()), putNumber(meta, keySession, s.session))
	})
}

// put writes one node as it is in the tree: there or not.
func (s *Store) put(nodes *bolt.Bucket, path string) error {
	b, ok := s.tree.Encode(nil, path)
	if !ok {
		return nodes.Delete([]byte(path))
	}
	return nodes.Put([]byte(path), b)
}

func putNumber(b *bolt.Bucket, key []byte, n int64) error {
	return b.Put(key, binary.BigEndian.AppendUint64(nil, uint64(n)))
}
