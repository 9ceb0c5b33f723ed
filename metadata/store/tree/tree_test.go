package tree_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"barnabas/metadata/store"
	"barnabas/metadata/store/tree"
)

func apply(t *testing.T, tr *tree.Tree, session int64, ops ...store.Op) tree.Applied {
	t.Helper()
	a, err := tr.Apply(&tree.Txn{Session: session, Now: 1000 + tr.Zxid(), Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tr := tree.New()
	apply(t, tr, 1, store.Create("/a", nil, store.Persistent), store.Create("/a/b", []byte("x"), store.Persistent), store.Create("/e", nil, store.Ephemeral))
	for _, c := range []struct {
		op   store.Op
		want error
	}{
		{store.Create("/a", nil, 0), store.ErrNodeExists},
		{store.Create("/x/y", nil, 0), store.ErrNoNode},
		{store.Create("/e/y", nil, 0), store.ErrNoChildrenForEphemerals},
		{store.Create("a", nil, 0), store.ErrBadArguments},
		{store.Create("/a/", nil, 0), store.ErrBadArguments},
		{store.Create("/a/../b", nil, 0), store.ErrBadArguments},
		{store.Set("/a/b", nil, 1), store.ErrBadVersion},
		{store.Set("/nope", nil, -1), store.ErrNoNode},
		{store.Delete("/a", -1), store.ErrNotEmpty},
		{store.Delete("/a/b", 3), store.ErrBadVersion},
		{store.Delete("/", -1), store.ErrBadArguments},
		{store.Check("/a/b", 1), store.ErrBadVersion},
		{store.Check("/nope", 0), store.ErrNoNode},
	} {
		before := tr.Zxid()
		_, err := tr.Apply(&tree.Txn{Session: 1, Ops: []store.Op{store.Create("/ok", nil, 0), c.op}})
		if !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.op, err, c.want)
		}
		var op *store.OpError
		if errors.As(err, &op); op == nil || op.Index != 1 {
			t.Errorf("%v: which operation was refused: %+v", c.op, op)
		}
		if _, ok := tr.Exists("/ok", nil); ok || tr.Zxid() != before {
			t.Fatalf("%v: a refused transaction left something", c.op)
		}
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	tr := tree.New()
	apply(t, tr, 7, store.Create("/p", nil, store.Persistent))
	apply(t, tr, 7, store.Create("/p/e", []byte("abc"), store.Ephemeral))
	apply(t, tr, 7, store.Set("/p/e", []byte("d"), 0))
	apply(t, tr, 7, store.Create("/p/x", nil, store.Persistent))
	apply(t, tr, 7, store.Delete("/p/x", 0))
	p, _ := tr.Exists("/p", nil)
	if want := (store.Stat{Czxid: 1, Mzxid: 1, Pzxid: 5, Ctime: 1000, Mtime: 1000, Cversion: 3, NumChildren: 1}); p != want {
		t.Errorf("/p %+v, want %+v", p, want)
	}
	e, _ := tr.Exists("/p/e", nil)
	if want := (store.Stat{Czxid: 2, Mzxid: 3, Pzxid: 2, Ctime: 1001, Mtime: 1002, Version: 1, EphemeralOwner: 7, DataLength: 1}); e != want {
		t.Errorf("/p/e %+v, want %+v", e, want)
	}
	if got := tr.Ephemerals(7); !slices.Equal(got, []string{"/p/e"}) || len(tr.Ephemerals(8)) != 0 {
		t.Errorf("ephemerals %v", got)
	}
}

func TestSequentialNamesCountCreations(t *testing.T) {
	t.Parallel()
	tr := tree.New()
	apply(t, tr, 1, store.Create("/q", nil, 0))
	for i := range 3 {
		a := apply(t, tr, 1, store.Create("/q/n_", nil, store.Sequential))
		if want := fmt.Sprintf("/q/n_%010d", i); a.Results[0].Path != want {
			t.Errorf("%s, want %s", a.Results[0].Path, want)
		}
		apply(t, tr, 1, store.Delete(a.Results[0].Path, -1)) // numbers are not used again
	}
}

func TestWatchesFireOnce(t *testing.T) {
	t.Parallel()
	tr := tree.New()
	var got []string
	w := func(e store.Event) { got = append(got, e.Type.String()+" "+e.Path) }
	fire := func(ops ...store.Op) string {
		got = nil
		for _, f := range apply(t, tr, 1, ops...).Fires {
			f.Watcher(f.Event)
		}
		return strings.Join(got, ", ")
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("fired %q, want %q", got, want)
		}
	}
	tr.Exists("/a", w)
	expect(fire(store.Create("/a", nil, 0)), "NodeCreated /a")
	expect(fire(store.Set("/a", nil, -1)), "")
	_, _ = tr.Get("/a", w)
	_, _ = tr.Children("/a", w)
	expect(fire(store.Create("/a/b", nil, 0)), "NodeChildrenChanged /a")
	expect(fire(store.Set("/a", nil, -1)), "NodeDataChanged /a")
	_, _ = tr.Get("/a/b", w)
	_, _ = tr.Children("/a/b", w)
	_, _ = tr.Children("/a", w)
	expect(fire(store.Delete("/a/b", -1)), "NodeDeleted /a/b, NodeDeleted /a/b, NodeChildrenChanged /a")
	if _, err := tr.Get("/none", w); err == nil {
		t.Error("a node that is not there was read")
	}
	expect(fire(store.Create("/none", nil, 0)), "") // Get watches only what is there
}

// model is the tree as a flat map, done the naive way: copy, change, keep.
type model map[string]string

func (m model) apply(ops []store.Op) (model, bool) {
	next := maps.Clone(m)
	version := func(path string) string { _, v, _ := strings.Cut(next[path], "|"); return v }
	for _, op := range ops {
		_, there := next[op.Path]
		parent := op.Path[:max(strings.LastIndexByte(op.Path, '/'), 1)]
		_, parentThere := next[parent]
		kids := 0
		for p := range next {
			if strings.HasPrefix(p, op.Path+"/") {
				kids++
			}
		}
		right := op.Version == -1 || version(op.Path) == fmt.Sprint(op.Version)
		switch {
		case op.Kind == store.KindCreate && !there && parentThere:
			next[op.Path] = string(op.Data) + "|0"
		case op.Kind == store.KindSet && there && right:
			var v int
			_, _ = fmt.Sscan(version(op.Path), &v)
			next[op.Path] = fmt.Sprintf("%s|%d", op.Data, v+1)
		case op.Kind == store.KindDelete && there && right && kids == 0:
			delete(next, op.Path)
		case op.Kind == store.KindCheck && there && right:
		default:
			return m, false
		}
	}
	return next, true
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tr, m := tree.New(), model{"/": "|0"}
		disk := map[string][]byte{}
		paths := []string{"/a", "/b", "/a/a", "/a/b", "/b/a", "/a/a/a", "/a/a/b"}
		for range 300 {
			var ops []store.Op
			for range 1 + rnd.IntN(4) {
				path, version := paths[rnd.IntN(len(paths))], int32(rnd.IntN(4)-1)
				switch rnd.IntN(5) {
				case 0, 1:
					ops = append(ops, store.Create(path, []byte{byte('a' + rnd.IntN(9))}, store.Persistent))
				case 2:
					ops = append(ops, store.Set(path, []byte{byte('a' + rnd.IntN(9))}, version))
				case 3:
					ops = append(ops, store.Delete(path, version))
				case 4:
					ops = append(ops, store.Check(path, version))
				}
			}
			applied, err := tr.Apply(&tree.Txn{Session: 1, Ops: ops})
			next, ok := m.apply(ops)
			if ok != (err == nil) {
				t.Fatalf("seed %d: %v: %v, model says %v", seed, ops, err, ok)
			}
			m = next
			for _, p := range applied.Changed {
				if b, there := tr.Encode(nil, p); there {
					disk[p] = b
				} else {
					delete(disk, p)
				}
			}
			compare(t, seed, tr, m)
		}
		loaded := tree.New()
		for _, p := range slices.Sorted(maps.Keys(disk)) {
			if err := loaded.Load(p, disk[p]); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, seed, loaded, m)
		for _, p := range paths {
			before, there := tr.Exists(p, nil)
			after, thereToo := loaded.Exists(p, nil)
			if before != after || there != thereToo {
				t.Fatalf("seed %d: %s: %+v on disk, %+v in memory", seed, p, after, before)
			}
		}
	}
}

func compare(t *testing.T, seed uint64, tr *tree.Tree, m model) {
	t.Helper()
	if tr.Len() != len(m) {
		t.Fatalf("seed %d: %d nodes, model has %d", seed, tr.Len(), len(m))
	}
	for path, want := range m {
		n, err := tr.Get(path, nil)
		if got := fmt.Sprintf("%s|%d", n.Data, n.Stat.Version); err != nil || got != want {
			t.Fatalf("seed %d: %s is %s (%v), model has %s", seed, path, got, err, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	tr := tree.New()
	if _, err := tr.Apply(&tree.Txn{Session: 3, Ops: []store.Op{store.Create("/a", []byte("x"), store.Ephemeral)}}); err != nil {
		f.Fatal(err)
	}
	b, _ := tr.Encode(nil, "/a")
	f.Add("/a", b)
	f.Fuzz(func(t *testing.T, path string, b []byte) {
		tr := tree.New()
		if tr.Load(path, b) != nil {
			return
		}
		again, ok := tr.Encode(nil, path)
		if !ok {
			t.Fatal("loaded and not there")
		}
		other := tree.New()
		if err := other.Load(path, again); err != nil {
			t.Fatal(err)
		}
	})
}
