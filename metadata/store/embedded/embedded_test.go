package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"barnabas/metadata/store"
	"barnabas/metadata/store/embedded"
)

func open(t *testing.T, path string) *embedded.Store {
	t.Helper()
	s, err := embedded.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// crash gives the file as a crash would leave it: what is synced.
func crash(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "after-crash")
	if err := os.WriteFile(left, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return left
}

func TestAcknowledgedIsThereAfterACrash(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "metadata")
	s := open(t, path)
	first := s.Session()
	r, err := s.Multi(ctx, store.Create("/a", []byte("1"), store.Persistent), store.Create("/e", nil, store.Ephemeral))
	if err != nil {
		t.Fatal(err)
	}
	if r[1].Stat.EphemeralOwner != first || first == 0 {
		t.Errorf("owner %d, session %d", r[1].Stat.EphemeralOwner, first)
	}
	s = open(t, crash(t, path))
	if s.Session() == first {
		t.Error("a new session has the id of an old one")
	}
	if n, err := s.Get(ctx, "/a", nil); err != nil || string(n.Data) != "1" || n.Stat.Czxid != r[0].Stat.Czxid {
		t.Errorf("/a %+v, %v", n, err)
	}
	if _, ok, _ := s.Exists(ctx, "/e", nil); ok {
		t.Error("an ephemeral node outlived its session")
	}
	next, err := store.Do(ctx, s, store.Create("/b", nil, store.Persistent))
	if err != nil || next.Stat.Czxid <= r[0].Stat.Czxid {
		t.Errorf("zxid %d after %d, %v", next.Stat.Czxid, r[0].Stat.Czxid, err)
	}
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, filepath.Join(t.TempDir(), "metadata"))
	out, err := s.Pipeline(ctx, [][]store.Op{
		{store.Create("/a", nil, 0)},
		{store.Create("/a", nil, 0)},
		{store.Create("/b", nil, 0), store.Check("/a", 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Err != nil || !errors.Is(out[1].Err, store.ErrNodeExists) || out[2].Err != nil {
		t.Errorf("%+v", out)
	}
	nodes, err := s.GetAll(ctx, []string{"/b", "/c"})
	if err != nil || nodes[0].Err != nil || !errors.Is(nodes[1].Err, store.ErrNoNode) {
		t.Errorf("%+v, %v", nodes, err)
	}
}

func TestWatchComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, filepath.Join(t.TempDir(), "metadata"))
	var fired atomic.Int32
	if _, ok, err := s.Exists(ctx, "/a", func(e store.Event) {
		if e.Type == store.NodeCreated && e.Path == "/a" {
			fired.Add(1)
		}
	}); ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, op := range []store.Op{store.Create("/a", nil, 0), store.Set("/a", nil, 0)} {
		if _, err := store.Do(ctx, s, op); err != nil {
			t.Fatal(err)
		}
		if fired.Load() != 1 {
			t.Errorf("fired %d times", fired.Load())
		}
	}
}

func TestConcurrentCompareAndSet(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "metadata")
	s := open(t, path)
	if err := store.Ensure(ctx, s, "/n", "/seen/deep"); err != nil {
		t.Fatal(err)
	}
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				for {
					n, err := s.Get(ctx, "/n", nil)
					if err != nil {
						t.Error(err)
						return
					}
					_, err = s.Multi(ctx, store.Set("/n", nil, n.Stat.Version), store.Create(fmt.Sprintf("/seen/%d-%d", w, i), nil, 0))
					if err == nil {
						break
					}
					if !errors.Is(err, store.ErrBadVersion) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s = open(t, crash(t, path))
	n, err := s.Get(ctx, "/n", nil)
	if err != nil || n.Stat.Version != workers*each {
		t.Errorf("version %d, %v", n.Stat.Version, err)
	}
	if names, err := s.Children(ctx, "/seen", nil); err != nil || len(names) != workers*each+1 {
		t.Errorf("%d children, %v", len(names), err)
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "locked")
	open(t, locked)
	for path, want := range map[string]string{
		garbage:                         "restore the file from a backup",
		locked:                          "another process has the file open",
		filepath.Join(dir, "no", "dir"): "create the directory",
	} {
		_, err := embedded.Open(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "metadata"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "/", nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func BenchmarkPipeline5000(b *testing.B) {
	s, err := embedded.Open(filepath.Join(b.TempDir(), "metadata"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := 0; b.Loop(); i++ {
		root := fmt.Sprintf("/%d", i)
		txns := [][]store.Op{{store.Create(root, nil, 0)}}
		for p := range 5000 {
			path := fmt.Sprintf("%s/%d", root, p)
			txns = append(txns, []store.Op{store.Create(path, nil, 0), store.Create(path+"/state", make([]byte, 80), 0)})
		}
		if _, err := s.Pipeline(b.Context(), txns); err != nil {
			b.Fatal(err)
		}
	}
}
