package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moduleRoot is where the module lies, seen from this package.
const moduleRoot = "../.."

// skipped are the folders that hold no source of ours.
func skipped(path string, d fs.DirEntry) bool {
	name := d.Name()
	return path != moduleRoot && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "data" || name == "dist")
}

// sources reads the module: source by file name by package.
func sources(t *testing.T) map[string]map[string]string {
	t.Helper()
	packages := make(map[string]map[string]string)
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(path, d):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(moduleRoot, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(folder)
		if packages[pkg] == nil {
			packages[pkg] = make(map[string]string)
		}
		packages[pkg][d.Name()] = string(source)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func TestTheHouseIsTidy(t *testing.T) {
	t.Parallel()
	packages := sources(t)
	if len(packages["storage"]) < 10 || packages["internal/tidy"] == nil {
		t.Fatalf("%d packages were read: this is not the module", len(packages))
	}
	for pkg, files := range packages {
		for _, v := range checkPackage(pkg, files) {
			t.Error(v)
		}
	}
}

// TestEachRuleCanFail shows every rule a source that breaks it, with what it has
// to say.
func TestEachRuleCanFail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\n", maxFile+1)
	body := strings.Repeat("\n\t_ = 1", maxFunc+1)
	for _, c := range []struct{ name, pkg, source, want string }{
		{"syntax", "storage", "package", "expected 'IDENT'"},
		{"file", "storage", long, "its design wants to be two"},
		{"function", "storage", "func f() {" + body + "\n}", "lines, at most 70"},
		{"parameters", "storage", "func f(a, b, c, d, e, g int) {}", "takes 6 parameters"},
		{"parameters of a method of an interface", "storage", "type t interface{ f(a, b, c, d, e, g int) }", "takes 6 parameters"},
		{"arrow up", "storage", "import _ \"barnabas/broker\"", "arrows go down, since engines and machines are driven"},
		{"sibling", "storage", "import _ \"barnabas/broker/quota\"", "arrows go down"},
		{"sibling on the ground", "protocol/wire", "import _ \"barnabas/config\"", "arrows go down"},
		{"no floor", "storage", "import _ \"barnabas/attic\"", "has no floor"},
		{"no floor of its own", "attic", "import _ \"barnabas/storage\"", "give it one"},
		{"config", "broker/server", "import _ \"barnabas/config\"", "take an Options struct"},
		{"client", "broker", "import _ \"github.com/IBM/sarama\"", "does not import a Kafka client"},
		{"dot", "storage", "import . \"fmt\"", "dot import"},
		{"clock", "storage", "import \"time\"\nvar _ = time.Now()", "take a clock.Clock"},
		{"clock by another name", "storage", "import t \"time\"\nvar _ = t.NewTimer(1)", "take a clock.Clock"},
		{"clock of the command", "cmd/barnabas", "import \"time\"\nfunc f() { time.Sleep(1) }", "take a clock.Clock"},
		{"pure import", "metadata/image", "import _ \"sync\"", "is pure (an immutable snapshot)"},
		{"pure import from below", "metadata/image", "import _ \"sync/atomic\"", "is pure"},
		{"pure network", "coordinator/group", "import _ \"net/http\"", "is pure"},
		{"pure goroutine", "metadata/image", "func f() { go f() }", "starts a goroutine"},
		{"pure channel", "metadata/image", "func f(c chan int) {}", "has a channel"},
		{"output", "storage", "import \"fmt\"\nfunc f() { fmt.Println() }", "output goes through"},
		{"output of the runtime", "storage", "func f() { println() }", "output goes through"},
		{"comment of a function", "storage", "func F() {}", "has no comment"},
		{"comment of a method", "storage", "type t struct{}\ntype T struct{} // T is.\nfunc (*T) F() {}", "F is exported and has no comment"},
		{"comment of a type", "storage", "type T struct{}", "has no comment"},
		{"comment of a value", "storage", "const C = 1", "has no comment"},
		{"init", "storage", "func init() {}", "init runs"},
		{"state counted", "storage", "var n int\nfunc f() { n++ }", "package-level state"},
		{"state in a map", "storage", "var m = map[int]int{}\nfunc f() { m[1] = 2 }", "package-level state"},
		{"state deleted", "storage", "var m = map[int]int{}\nfunc f() { delete(m, 1) }", "package-level state"},
		{"state in a field", "storage", "var s struct{ n int }\nfunc f() { s.n = 2 }", "package-level state"},
		{"state by address", "storage", "var n int\nfunc f() *int { return &n }", "package-level state"},
		{"state by a literal", "storage", "var n int\nvar f = func() { n = 1 }", "package-level state"},
		{"state of a lock", "storage", "import \"sync\"\nvar mu sync.Mutex", "package-level state (sync.Mutex)"},
		{"state of a counter", "storage", "import \"sync/atomic\"\nvar n = new(atomic.Int64)", "package-level state (atomic.Int64)"},
		{"state of a channel", "storage", "var c chan int", "package-level state (a channel)"},
		{"unfinished", "storage", "// TO" + "DO later", "unfinished work"},
		{"nolint", "storage", "//nolint\nvar _ = 1", "nolint without"},
		{"nolint without a reason", "storage", "//nolint:gosec\nvar _ = 1", "nolint without"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source := "// Package x is.\npackage x\n" + c.source
			if c.name == "syntax" {
				source = c.source
			}
			if got := strings.Join(checkPackage(c.pkg, map[string]string{"x.go": source}), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"state from another file", "b.go:2: n is package-level state", map[string]string{"a.go": "// Package x is.\npackage x\nvar n int", "b.go": "package x\nfunc f() { n = 1 }"}},
		{"package comment", "says what it is", map[string]string{"a.go": "package x"}},
		{"package name", "says nothing", map[string]string{"a.go": "package utils"}},
		{"test file", "its design wants", map[string]string{"a_test.go": "package x" + strings.Repeat("\n", maxTestFile+1)}},
		{"test function", "at most 150", map[string]string{"a_test.go": "package x\nfunc f() {" + strings.Repeat("\n", maxTestFunc) + "}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(checkPackage("storage", c.files), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestWhatIsAllowed shows the rules what looks like a violation and is none.
func TestWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pkg, file, source string }{
		"a shadow":             {"storage", "x.go", "var n int\nfunc f() { n := 1; n++ }\nfunc g(n int) { n = 2 }\nfunc h() { for n := range 3 { n++ } }"},
		"a pool":               {"storage", "x.go", "import \"sync\"\nvar pools [3]sync.Pool\nfunc f() *sync.Pool { return &pools[0] }"},
		"a table":              {"storage", "x.go", "var table = map[string]int{\"a\": 1}\nfunc f(s string) int { return table[s] }"},
		"a table's row":        {"storage", "x.go", "var table = []int{1}\nfunc f() *int { return &table[0] }"},
		"an address as value":  {"metadata/znode", "x.go", "import _ \"net/netip\""},
		"a context":            {"storage", "x.go", "import \"context\"\nfunc f(ctx context.Context, a, b, c, d, e int) {}"},
		"durations":            {"storage", "x.go", "import \"time\"\nconst d = time.Second\nfunc f(t time.Time) {}"},
		"a client in a test":   {"broker", "x_test.go", "import _ \"github.com/IBM/sarama\""},
		"the clock in a test":  {"storage", "x_test.go", "import \"time\"\nvar _ = time.Now()"},
		"generated":            {"storage", "x_gen.go", "func init() {}"},
		"an issue":             {"storage", "x.go", "// TO" + "DO(#12): compact"},
		"nolint with a reason": {"storage", "x.go", "var _ = 1 //nolint:gosec // not secret"},
		"outside":              {"bench", "x.go", "import (\n\t_ \"barnabas/broker\"\n\t_ \"github.com/IBM/sarama\"\n)"},
		"a meant sibling":      {"metadata/store/tree", "x.go", "import _ \"barnabas/metadata/store\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, v := range checkPackage(c.pkg, map[string]string{c.file: "// Package x is.\npackage x\n" + c.source}) {
				t.Error(v)
			}
		})
	}
}
