package vfs_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"barnabas/storage/vfs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, m vfs.FS, name, text string, sync bool) {
	t.Helper()
	f, err := m.Create(name)
	must(t, err)
	_, err = f.WriteAt([]byte(text), 0)
	must(t, err)
	if sync {
		must(t, f.Sync())
	}
	must(t, f.Close())
}

func TestMemForgetsWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	m := vfs.NewMem()
	must(t, m.Mkdir("/d"))
	must(t, m.SyncDir("/"))
	put(t, m, "/d/both", "kept", true)
	put(t, m, "/d/nameOnly", "lost", false)
	must(t, m.SyncDir("/d"))
	put(t, m, "/d/contentOnly", "kept", true)
	must(t, m.Rename("/d/both", "/d/moved"))
	put(t, m, "/d/moved", "KEPT", false)
	m.Crash()
	for name, want := range map[string]string{"/d/both": "kept", "/d/nameOnly": ""} {
		if got, err := m.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"/d/contentOnly", "/d/moved"} {
		if _, err := m.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it gone", name, err)
		}
	}
}

func TestMemHandlesAndLocksEndWithACrash(t *testing.T) {
	t.Parallel()
	m := vfs.NewMem()
	f, err := m.Create("/f")
	must(t, err)
	_, err = m.Lock("/lock")
	must(t, err)
	if _, err := m.Lock("/lock"); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatalf("second lock: %v", err)
	}
	m.Crash()
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("write to a dead handle: %v", err)
	}
	_, err = m.Lock("/lock")
	must(t, err)
}

func TestMemIsFullAtItsLimit(t *testing.T) {
	t.Parallel()
	m := vfs.NewMem()
	m.SetLimit(5)
	f, err := m.Create("/f")
	must(t, err)
	n, err := f.WriteAt([]byte("1234567"), 0)
	if n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("wrote %d: %v", n, err)
	}
	must(t, f.Truncate(2))
	_, err = f.WriteAt([]byte("345"), 2)
	must(t, err)
}

func TestFaultyFailsTheOperationAsked(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		before func(vfs.Op) error
		want   [4]error
	}{
		{"fail once", vfs.FailAt(2, boom), [4]error{nil, boom, nil, nil}},
		{"crash", vfs.CrashAt(3), [4]error{nil, nil, vfs.ErrCrashed, vfs.ErrCrashed}},
	} {
		fsys := vfs.Faulty(vfs.NewMem(), c.before)
		f, err := fsys.Create("/f")
		must(t, err)
		got := [4]error{nil, second(f.WriteAt([]byte("x"), 0)), f.Sync(), fsys.SyncDir("/")}
		for i := range got {
			if !errors.Is(got[i], c.want[i]) {
				t.Errorf("%s: operation %d: %v, want %v", c.name, i+1, got[i], c.want[i])
			}
		}
	}
}

func second(_ int, err error) error { return err }
