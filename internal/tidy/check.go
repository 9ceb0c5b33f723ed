package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// file is one source file under examination.
type file struct {
	pkg    string // folder within the module
	name   string
	test   bool
	ast    *ast.File
	fset   *token.FileSet
	found  []string
	source string
}

// check applies every rule to one file and gives what it violates. pkg is the
// file's folder within the module.
func check(pkg, name, source string) []string {
	if strings.HasSuffix(name, "_gen.go") || strings.HasPrefix(name, "zz_generated") {
		return nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path.Join(pkg, name), source, parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	f := &file{pkg: pkg, name: name, test: strings.HasSuffix(name, "_test.go"), ast: parsed, fset: fset, source: source}
	f.size()
	f.imports()
	f.functions()
	f.clock()
	f.unfinished()
	if !f.test {
		f.documented()
		f.state()
		f.purity()
	}
	return f.found
}

func (f *file) say(pos token.Pos, format string, args ...any) {
	p := f.fset.Position(pos)
	f.found = append(f.found, fmt.Sprintf("%s/%s:%d: %s", f.pkg, f.name, p.Line, fmt.Sprintf(format, args...)))
}

func (f *file) size() {
	limit := maxFile
	if f.test {
		limit = maxTestFile
	}
	if n := strings.Count(f.source, "\n"); n > limit {
		f.say(f.ast.Package, "%d lines, at most %d: its design wants to be two", n, limit)
	}
	if slices.Contains(badNames, f.ast.Name.Name) {
		f.say(f.ast.Package, "package %s says nothing about what it holds", f.ast.Name.Name)
	}
}

func (f *file) imports() {
	for _, spec := range f.ast.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == "." {
			f.say(spec.Pos(), "dot import of %s", to)
		}
		speaks := f.pkg == "cmd/barnabas" || standsOutside(f.pkg)
		if slices.Contains(clients, to) && !speaks && !f.test {
			f.say(spec.Pos(), "a broker does not import a Kafka client: %s", to)
		}
		if strings.HasPrefix(to, modulePrefix) {
			f.inner(spec, strings.TrimPrefix(to, modulePrefix))
		}
	}
}

// inner judges an import within the module.
func (f *file) inner(spec *ast.ImportSpec, to string) {
	if f.test || standsOutside(f.pkg) {
		return
	}
	from, below := floorOf(f.pkg), floorOf(to)
	switch {
	case from < 0:
		f.say(spec.Pos(), "package %s has no floor: give it one in internal/tidy/rules.go and docs/architecture.md", f.pkg)
	case below < 0:
		f.say(spec.Pos(), "package %s has no floor", to)
	case below > from || (below == from && sameFloor[[2]string{f.pkg, to}] == ""):
		f.say(spec.Pos(), "%s (floor %d) imports %s (floor %d): arrows go down", f.pkg, from, to, below)
	}
	if to == "config" && !slices.Contains(configUsers, f.pkg) {
		f.say(spec.Pos(), "%s knows config: take an Options struct instead", f.pkg)
	}
}

func (f *file) functions() {
	limit := maxFunc
	if f.test {
		limit = maxTestFunc
	}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > limit {
			f.say(fn.Pos(), "%s has %d lines, at most %d", fn.Name.Name, n, limit)
		}
		if n := parameters(fn.Type); n > maxParams {
			f.say(fn.Pos(), "%s takes %d parameters, at most %d", fn.Name.Name, n, maxParams)
		}
		if fn.Name.Name == "init" && fn.Recv == nil {
			f.say(fn.Pos(), "init runs before anybody asked for it")
		}
	}
}

func parameters(t *ast.FuncType) (n int) {
	for _, p := range t.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			continue
		}
		n += max(len(p.Names), 1)
	}
	return n
}

// clock finds reads of the wall clock outside of its one place.
func (f *file) clock() {
	if f.test || f.pkg == "internal/clock" || standsOutside(f.pkg) || f.pkg == "cmd/barnabas" {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && wallClock[s.Sel.Name] {
			f.say(s.Pos(), "time.%s: take a clock.Clock", s.Sel.Name)
		}
		return true
	})
}

var (
	todo   = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	issue  = regexp.MustCompile(`\b(TODO|FIXME)\(#\d+\)`)
	nolint = regexp.MustCompile(`nolint(:\w+(,\w+)*)?(\s*//.+)?$`)
)

func (f *file) unfinished() {
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			if todo.MatchString(c.Text) && !issue.MatchString(c.Text) && f.pkg != "internal/tidy" {
				f.say(c.Pos(), "unfinished work without an issue: %s", c.Text)
			}
			if m := nolint.FindStringSubmatch(c.Text); strings.HasPrefix(c.Text, "//nolint") && (m == nil || m[1] == "" || m[3] == "") {
				f.say(c.Pos(), "nolint without linter and reason: %s", c.Text)
			}
		}
	}
}

// documented wants a comment on every exported name.
func (f *file) documented() {
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !(d.Recv != nil && wellKnown[d.Name.Name]) {
				f.say(d.Pos(), "%s is exported and has no comment", d.Name.Name)
			}
		case *ast.GenDecl:
			f.documentedSpecs(d)
		}
	}
}

// wellKnown methods say what they do by their name alone.
var wellKnown = map[string]bool{"Error": true, "String": true, "Unwrap": true}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	id, ok := t.(*ast.Ident)
	return !ok || id.IsExported()
}

func (f *file) documentedSpecs(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				f.say(s.Pos(), "%s is exported and has no comment", s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					f.say(s.Pos(), "%s is exported and has no comment", n.Name)
				}
			}
		}
	}
}
