package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A node on disk, all numbers varints (zig-zag where signed), under its path:
//
//	format  1 byte, 1
//	czxid mzxid pzxid ctime mtime version creates owner
//	data    1 byte: 0 if there is none; else 1 and the rest is the data
const nodeFormat = 1

var errNode = errors.New("not a znode of this format")

// Encode appends a node's bytes to dst; ok is false if there is no such node.
func (t *Tree) Encode(dst []byte, path string) (_ []byte, ok bool) {
	n := t.nodes[path]
	if n == nil {
		return dst, false
	}
	dst = append(dst, nodeFormat)
	for _, v := range [...]int64{n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime, int64(n.version), int64(n.creates), n.owner} {
		dst = binary.AppendVarint(dst, v)
	}
	if n.data == nil {
		return append(dst, 0), true
	}
	return append(append(dst, 1), n.data...), true
}

// Load puts a node back that Encode wrote. Parents come before children. The
// bytes are copied.
func (t *Tree) Load(path string, b []byte) error {
	n, err := decode(b)
	if err != nil {
		return fmt.Errorf("znode %q: %w", path, err)
	}
	if path == "/" {
		n.children = t.nodes["/"].children
		t.nodes["/"] = n
		return nil
	}
	if !validPath(path, false) || t.nodes[path] != nil {
		return fmt.Errorf("znode %q: %w", path, errNode)
	}
	if parent, _ := split(path); t.nodes[parent] == nil {
		return fmt.Errorf("znode %q has no parent", path)
	}
	t.link(path, n)
	return nil
}

// SetZxid says which transaction was the last one, after loading.
func (t *Tree) SetZxid(zxid int64) { t.zxid = zxid }

func decode(b []byte) (*node, error) {
	if len(b) == 0 || b[0] != nodeFormat {
		return nil, errNode
	}
	b = b[1:]
	var v [8]int64
	for i := range v {
		n := 0
		if v[i], n = binary.Varint(b); n <= 0 {
			return nil, errNode
		}
		b = b[n:]
	}
	if len(b) == 0 || b[0] > 1 || b[0] == 0 && len(b) > 1 {
		return nil, errNode
	}
	n := &node{
		czxid: v[0], mzxid: v[1], pzxid: v[2], ctime: v[3], mtime: v[4],
		version: int32(v[5]), creates: int32(v[6]), owner: v[7],
	}
	if b[0] == 1 {
		n.data = append(make([]byte, 0, len(b)-1), b[1:]...)
	}
	return n, nil
}
