package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root_ = "../.."

func TestTheHouseIsTidy(t *testing.T) {
	t.Parallel()
	packages := make(map[string]bool) // documented?
	err := filepath.WalkDir(root_, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root_ && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root_, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, v := range check(filepath.ToSlash(pkg), filepath.Base(path), string(source)) {
			t.Error(v)
		}
		if !strings.HasSuffix(path, "_test.go") {
			packages[pkg] = packages[pkg] || regexp.MustCompile(`(?m)^// (Package|Command) `).Match(source)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, documented := range packages {
		if !documented {
			t.Errorf("%s: no package comment", pkg)
		}
	}
}

func TestEveryDependencyHasAReason(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root_, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := os.ReadFile(filepath.Join(root_, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.Contains(f[0], ".") || strings.Contains(line, "// indirect") {
			continue
		}
		if !strings.Contains(string(reasons), "`"+f[0]+"`") {
			t.Errorf("docs/dependencies.md has no reason for %s", f[0])
		}
	}
}

// TestEachRuleCanFail shows every rule a source that breaks it.
func TestEachRuleCanFail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\n", maxFile+1)
	body := strings.Repeat("\n\t_ = 1", maxFunc+1)
	for _, c := range []struct{ name, pkg, source, want string }{
		{"file", "storage", "package storage\n" + long, "its design wants to be two"},
		{"function", "storage", "package storage\nfunc f() {" + body + "\n}", "lines, at most 70"},
		{"parameters", "storage", "package storage\nfunc f(a, b, c, d, e, g int) {}", "takes 6 parameters"},
		{"arrow up", "storage", "package storage\nimport _ \"barnabas/broker\"", "arrows go down"},
		{"sibling", "storage", "package storage\nimport _ \"barnabas/broker/quota\"", "arrows go down"},
		{"no floor", "storage", "package storage\nimport _ \"barnabas/attic\"", "has no floor"},
		{"config", "storage", "package storage\nimport _ \"barnabas/config\"", "take an Options struct"},
		{"client", "broker", "package broker\nimport _ \"github.com/IBM/sarama\"", "does not import a Kafka client"},
		{"dot", "storage", "package storage\nimport . \"fmt\"", "dot import"},
		{"clock", "storage", "package storage\nimport \"time\"\nvar _ = time.Now()", "take a clock.Clock"},
		{"pure import", "metadata/image", "package image\nimport _ \"sync\"", "is pure"},
		{"pure goroutine", "metadata/image", "package image\nfunc f() { go f() }", "starts a goroutine"},
		{"comment", "storage", "package storage\nfunc F() {}", "has no comment"},
		{"comment of a type", "storage", "package storage\ntype T struct{}", "has no comment"},
		{"init", "storage", "package storage\nfunc init() {}", "init runs"},
		{"state", "storage", "package storage\nvar n int\nfunc f() { n++ }", "package-level state"},
		{"state in a map", "storage", "package storage\nvar m = map[int]int{}\nfunc f() { m[1] = 2 }", "package-level state"},
		{"unfinished", "storage", "package storage\n// TO" + "DO later", "unfinished work"},
		{"nolint", "storage", "package storage\n//nolint\nvar _ = 1", "nolint without"},
		{"name", "x/utils", "package utils", "says nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(check(c.pkg, "x.go", c.source), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
