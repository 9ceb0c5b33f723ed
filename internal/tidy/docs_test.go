package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(moduleRoot, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEveryDependencyHasAReason(t *testing.T) {
	t.Parallel()
	reasons := read(t, "docs/dependencies.md")
	direct, tools, n := false, false, 0
	for line := range strings.Lines(read(t, "go.mod")) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "require":
			direct = true
		case f[0] == "tool":
			tools = true
		case f[0] == ")":
			direct, tools = false, false
		}
		if len(f) < 2 || !direct || tools || !strings.Contains(f[0], ".") || strings.Contains(line, "// indirect") {
			continue
		}
		n++
		if !strings.Contains(reasons, "`"+f[0]+"`") {
			t.Errorf("docs/dependencies.md has no reason for %s", f[0])
		}
	}
	if n < 10 {
		t.Errorf("%d direct dependencies were found in go.mod: this test reads it wrongly", n)
	}
}

// TestTheFloorsAreThoseOfTheArchitecture holds rules.go against the drawing in
// docs/architecture.md, with its stars for pure packages.
func TestTheFloorsAreThoseOfTheArchitecture(t *testing.T) {
	t.Parallel()
	got, stars := drawing(read(t, "docs/architecture.md"))
	if len(got) != len(floors) {
		t.Fatalf("%d floors are drawn, %d are in the rules", len(got), len(floors))
	}
	for i, f := range floors {
		want := slices.Sorted(slices.Values(f.packages))
		if drawn := slices.Sorted(slices.Values(got[i])); !slices.Equal(drawn, want) {
			t.Errorf("floor %d is drawn as %v, the rules have %v", i, drawn, want)
		}
	}
	for pkg := range pure {
		if !slices.Contains(stars, pkg) {
			t.Errorf("%s is pure and has no star in the drawing", pkg)
		}
	}
	for _, pkg := range stars {
		if pure[pkg] == "" {
			t.Errorf("%s has a star in the drawing and is not pure in the rules", pkg)
		}
	}
}

// drawing reads the floors out of the fenced block that begins with the highest.
func drawing(page string) (packages map[int][]string, stars []string) {
	packages = make(map[int][]string)
	_, block, _ := strings.Cut(page, "```\n6  ")
	block, _, _ = strings.Cut("6  "+block, "```")
	floor := -1
	for line := range strings.Lines(block) {
		if c := line[0]; c >= '0' && c <= '9' {
			floor = int(c - '0')
			line = line[1:]
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  ") // then comes what the floor is
		for entry := range strings.SplitSeq(line, " · ") {
			for _, name := range spread(entry) {
				if plain, star := strings.CutSuffix(name, "*"); star {
					stars = append(stars, plain)
					name = plain
				}
				packages[floor] = append(packages[floor], name)
			}
		}
	}
	return packages, stars
}

// spread writes "a/{b, c}" out.
func spread(entry string) (names []string) {
	before, rest, braces := strings.Cut(entry, "{")
	if !braces {
		return []string{entry}
	}
	inside, after, _ := strings.Cut(rest, "}")
	for name := range strings.SplitSeq(inside, ", ") {
		names = append(names, before+name+after)
	}
	return names
}

var (
	mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdPath = regexp.MustCompile("`(docs/[a-z0-9/_.-]+\\.md|[a-z/]+/FORMAT\\.md|[a-z-]+/testdata[a-z0-9/_.-]*)`")
)

// TestLinksLeadSomewhere wants every relative link and every page that is named
// to be there.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(path, d):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range mdLink.FindAllSubmatch(page, -1) {
			to, _, _ := strings.Cut(string(m[1]), "#")
			if to == "" || strings.Contains(to, "://") {
				continue
			}
			seen++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), to)); err != nil {
				t.Errorf("%s: nothing is at %s", path, to)
			}
		}
		for _, m := range mdPath.FindAllSubmatch(page, -1) {
			seen++
			if _, err := os.Stat(filepath.Join(moduleRoot, string(m[1]))); err != nil {
				t.Errorf("%s: there is no %s", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 8 {
		t.Errorf("%d links were found: this test reads the pages wrongly", seen)
	}
}

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z]+):.*## (.+)$`)
	makeRun    = regexp.MustCompile("(?:`|    )make ([a-z]+)")
)

// TestMakeTargets wants every target that a page names to exist, and the ones that
// people rely on to be explained by make help.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	targets := make(map[string]bool)
	for _, m := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	for _, want := range []string{"help", "build", "run", "test", "race", "fuzz", "bench", "lint", "generate", "compat", "image", "fidelity", "clean"} {
		if !targets[want] {
			t.Errorf("make help does not explain %s", want)
		}
	}
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "docs/testing.md", "docs/divergences.md"} {
		for _, m := range makeRun.FindAllStringSubmatch(read(t, page), -1) {
			if !targets[m[1]] {
				t.Errorf("%s names make %s, which is no target", page, m[1])
			}
		}
	}
}
