package tree

import (
	"maps"
	"slices"
	"strings"

	"barnabas/metadata/store"
)

// node is one znode. creates counts the children ever made: it numbers
// sequential ones, and with the children there are it gives the cversion.
type node struct {
	data                []byte
	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	version, creates    int32
	owner               int64
	children            map[string]struct{}
}

func (n *node) stat() store.Stat {
	kids := int32(len(n.children))
	return store.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: 2*n.creates - kids,
		EphemeralOwner: n.owner, DataLength: int32(len(n.data)), NumChildren: kids,
	}
}

// Tree is all znodes, and the watches on them.
type Tree struct {
	zxid     int64
	nodes    map[string]*node
	data     map[string][]store.Watcher // on a node's existence and data
	kids     map[string][]store.Watcher // on a node's children
	sessions map[int64]map[string]struct{}
}

// New gives a tree that has its root only.
func New() *Tree {
	return &Tree{
		nodes:    map[string]*node{"/": {}},
		data:     make(map[string][]store.Watcher),
		kids:     make(map[string][]store.Watcher),
		sessions: make(map[int64]map[string]struct{}),
	}
}

// Zxid is the number of the last transaction.
func (t *Tree) Zxid() int64 { return t.zxid }

// Len is the number of znodes, the root too.
func (t *Tree) Len() int { return len(t.nodes) }

// Get reads a node.
func (t *Tree) Get(path string, w store.Watcher) (store.Node, error) {
	n := t.nodes[path]
	if n == nil {
		return store.Node{Err: store.ErrNoNode}, &store.OpError{Path: path, Err: store.ErrNoNode}
	}
	watch(t.data, path, w)
	return store.Node{Data: n.data, Stat: n.stat()}, nil
}

// Exists tells whether a node is there.
func (t *Tree) Exists(path string, w store.Watcher) (store.Stat, bool) {
	watch(t.data, path, w)
	if n := t.nodes[path]; n != nil {
		return n.stat(), true
	}
	return store.Stat{}, false
}

// Children lists a node's children, sorted.
func (t *Tree) Children(path string, w store.Watcher) ([]string, error) {
	n := t.nodes[path]
	if n == nil {
		return nil, &store.OpError{Path: path, Err: store.ErrNoNode}
	}
	watch(t.kids, path, w)
	return slices.Sorted(maps.Keys(n.children)), nil
}

// Ephemerals lists the nodes that go with a session, sorted. Session 0 stands
// for all sessions.
func (t *Tree) Ephemerals(session int64) []string {
	var paths []string
	for s, owned := range t.sessions {
		if s == session || session == 0 {
			paths = slices.AppendSeq(paths, maps.Keys(owned))
		}
	}
	slices.Sort(paths)
	return paths
}

func watch(table map[string][]store.Watcher, path string, w store.Watcher) {
	if w != nil {
		table[path] = append(table[path], w)
	}
}

// split gives a path's parent and name. The root has neither.
func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}

// validPath tells whether a znode, not the root, can have this path. A
// sequential one may end with a slash: its digits follow.
func validPath(path string, sequential bool) bool {
	if sequential {
		path += "0"
	}
	if len(path) < 2 || path[0] != '/' {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return false
		}
	}
	return true
}
