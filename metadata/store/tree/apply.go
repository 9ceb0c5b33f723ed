package tree

import (
	"fmt"

	"barnabas/metadata/store"
)

// Txn is one transaction, of one session, at a time in milliseconds.
type Txn struct {
	Session int64
	Now     int64
	Ops     []store.Op
}

// Fire is a watch that went off.
type Fire struct {
	Watcher store.Watcher
	Event   store.Event
}

// Applied is what a transaction did.
type Applied struct {
	Results []store.Result
	Changed []string // paths that were made, set, deleted, or whose children changed; some twice
	Fires   []Fire
}

// applying is a transaction half done.
type applying struct {
	t      *Tree
	txn    *Txn
	zxid   int64
	out    Applied
	events []store.Event
	undo   []func()
}

// Apply does all operations of a transaction or none. It fails with an
// *store.OpError.
func (t *Tree) Apply(txn *Txn) (Applied, error) {
	a := applying{t: t, txn: txn, zxid: t.zxid + 1}
	a.out.Results = make([]store.Result, len(txn.Ops))
	for i := range txn.Ops {
		op := &txn.Ops[i]
		r, err := a.do(op)
		if err != nil {
			for j := len(a.undo) - 1; j >= 0; j-- {
				a.undo[j]()
			}
			return Applied{}, &store.OpError{Index: i, Path: op.Path, Err: err}
		}
		a.out.Results[i] = r
	}
	t.zxid = a.zxid
	for _, e := range a.events {
		a.out.Fires = t.fire(a.out.Fires, e)
	}
	return a.out, nil
}

func (a *applying) do(op *store.Op) (store.Result, error) {
	switch op.Kind {
	case store.KindCreate:
		return a.create(op)
	case store.KindSet:
		return a.set(op)
	case store.KindDelete:
		return store.Result{Path: op.Path}, a.delete(op)
	case store.KindCheck:
		_, err := a.at(op)
		return store.Result{Path: op.Path}, err
	}
	return store.Result{}, store.ErrBadArguments
}

// at gives the node an operation is about, in the version it names.
func (a *applying) at(op *store.Op) (*node, error) {
	n := a.t.nodes[op.Path]
	switch {
	case n == nil:
		return nil, store.ErrNoNode
	case op.Version != store.AnyVersion && op.Version != n.version:
		return nil, store.ErrBadVersion
	}
	return n, nil
}

func (a *applying) create(op *store.Op) (store.Result, error) {
	path := op.Path
	if !validPath(path, op.Flag&store.Sequential != 0) {
		return store.Result{}, store.ErrBadArguments
	}
	parentPath, _ := split(path)
	parent := a.t.nodes[parentPath]
	switch {
	case parent == nil:
		return store.Result{}, store.ErrNoNode
	case parent.owner != 0:
		return store.Result{}, store.ErrNoChildrenForEphemerals
	}
	if op.Flag&store.Sequential != 0 {
		path = fmt.Sprintf("%s%010d", path, parent.creates)
	}
	if a.t.nodes[path] != nil {
		return store.Result{}, store.ErrNodeExists
	}
	n := &node{data: op.Data, czxid: a.zxid, mzxid: a.zxid, pzxid: a.zxid, ctime: a.txn.Now, mtime: a.txn.Now}
	if op.Flag&store.Ephemeral != 0 {
		n.owner = a.txn.Session
	}
	before := parent.pzxid
	a.t.link(path, n)
	parent.creates++
	parent.pzxid = a.zxid
	a.undo = append(a.undo, func() {
		a.t.unlink(path)
		parent.creates--
		parent.pzxid = before
	})
	a.out.Changed = append(a.out.Changed, path, parentPath)
	a.events = append(a.events, store.Event{Type: store.NodeCreated, Path: path}, store.Event{Type: store.NodeChildrenChanged, Path: parentPath})
	return store.Result{Path: path, Stat: n.stat()}, nil
}

func (a *applying) set(op *store.Op) (store.Result, error) {
	n, err := a.at(op)
	if err != nil {
		return store.Result{}, err
	}
	data, version, mzxid, mtime := n.data, n.version, n.mzxid, n.mtime
	a.undo = append(a.undo, func() { n.data, n.version, n.mzxid, n.mtime = data, version, mzxid, mtime })
	n.data, n.mzxid, n.mtime = op.Data, a.zxid, a.txn.Now
	if n.version++; n.version == store.AnyVersion {
		n.version = 0
	}
	a.out.Changed = append(a.out.Changed, op.Path)
	a.events = append(a.events, store.Event{Type: store.NodeDataChanged, Path: op.Path})
	return store.Result{Path: op.Path, Stat: n.stat()}, nil
}

func (a *applying) delete(op *store.Op) error {
	if op.Path == "/" {
		return store.ErrBadArguments
	}
	n, err := a.at(op)
	switch {
	case err != nil:
		return err
	case len(n.children) > 0:
		return store.ErrNotEmpty
	}
	parentPath, _ := split(op.Path)
	parent := a.t.nodes[parentPath]
	before := parent.pzxid
	a.t.unlink(op.Path)
	parent.pzxid = a.zxid
	a.undo = append(a.undo, func() {
		a.t.link(op.Path, n)
		parent.pzxid = before
	})
	a.out.Changed = append(a.out.Changed, op.Path, parentPath)
	a.events = append(a.events, store.Event{Type: store.NodeDeleted, Path: op.Path}, store.Event{Type: store.NodeChildrenChanged, Path: parentPath})
	return nil
}

// link puts a node into the tree, below a parent that is there.
func (t *Tree) link(path string, n *node) {
	parentPath, name := split(path)
	parent := t.nodes[parentPath]
	if parent.children == nil {
		parent.children = make(map[string]struct{})
	}
	parent.children[name] = struct{}{}
	t.nodes[path] = n
	if n.owner != 0 {
		if t.sessions[n.owner] == nil {
			t.sessions[n.owner] = make(map[string]struct{})
		}
		t.sessions[n.owner][path] = struct{}{}
	}
}

func (t *Tree) unlink(path string) {
	parentPath, name := split(path)
	delete(t.nodes[parentPath].children, name)
	if n := t.nodes[path]; n.owner != 0 {
		if delete(t.sessions[n.owner], path); len(t.sessions[n.owner]) == 0 {
			delete(t.sessions, n.owner)
		}
	}
	delete(t.nodes, path)
}

// fire takes the watches that an event sets off.
func (t *Tree) fire(fires []Fire, e store.Event) []Fire {
	take := func(table map[string][]store.Watcher) {
		for _, w := range table[e.Path] {
			fires = append(fires, Fire{w, e})
		}
		delete(table, e.Path)
	}
	if e.Type != store.NodeChildrenChanged {
		take(t.data)
	}
	if e.Type == store.NodeChildrenChanged || e.Type == store.NodeDeleted {
		take(t.kids)
	}
	return fires
}
