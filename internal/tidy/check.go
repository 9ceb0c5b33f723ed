package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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

// checkPackage applies every rule to the files of one package and gives what they
// violate. pkg is the folder within the module, sources are the files by name.
func checkPackage(pkg string, sources map[string]string) (found []string) {
	var files, tests []*file
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if strings.HasSuffix(name, "_gen.go") || strings.HasPrefix(name, "zz_generated") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path.Join(pkg, name), sources[name], parser.ParseComments)
		if err != nil {
			found = append(found, err.Error())
			continue
		}
		f := &file{pkg: pkg, name: name, test: strings.HasSuffix(name, "_test.go"), ast: parsed, fset: fset, source: sources[name]}
		f.check()
		if f.test {
			tests = append(tests, f)
		} else {
			files = append(files, f)
		}
	}
	sharedState(files)
	if len(files) > 0 && !slices.ContainsFunc(files, func(f *file) bool { return f.ast.Doc != nil }) {
		files[0].say(files[0].ast.Package, "no file of package %s says what it is: write a doc.go", pkg)
	}
	for _, f := range append(files, tests...) {
		found = append(found, f.found...)
	}
	return found
}

// check applies the rules that look at one file alone.
func (f *file) check() {
	f.size()
	f.imports()
	f.functions()
	f.clock()
	f.unfinished()
	if !f.test {
		f.documented()
		f.purity()
		f.prints()
	}
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
		f.say(spec.Pos(), "%s (floor %d) imports %s (floor %d): arrows go down, since %s", f.pkg, from, to, below, floors[from].why)
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
		f.params(fn.Type)
		if fn.Name.Name == "init" && fn.Recv == nil {
			f.say(fn.Pos(), "init runs before anybody asked for it")
		}
	}
	if f.test {
		return // helpers within a test read like its text
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.params(n.Type)
		case *ast.Field: // a method of an interface, or a field or parameter
			if t, ok := n.Type.(*ast.FuncType); ok {
				f.params(t)
			}
		}
		return true
	})
}

func (f *file) params(t *ast.FuncType) {
	if n := parameters(t); n > maxParams {
		f.say(t.Pos(), "a function takes %d parameters, at most %d: a struct has names", n, maxParams)
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
	if f.test || f.pkg == "internal/clock" || standsOutside(f.pkg) {
		return
	}
	name := f.localName("time")
	ast.Inspect(f.ast, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == name && wallClock[s.Sel.Name] {
			f.say(s.Pos(), "time.%s: take a clock.Clock", s.Sel.Name)
		}
		return true
	})
}

// localName is what the file calls an imported package, "" if it does not import
// it.
func (f *file) localName(importPath string) string {
	for _, spec := range f.ast.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		switch {
		case to != importPath:
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path.Base(importPath)
		}
	}
	return ""
}

// prints finds output that goes past the logger.
func (f *file) prints() {
	if standsOutside(f.pkg) {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			if fun.Name == "print" || fun.Name == "println" {
				f.say(call.Pos(), "%s: output goes through the logger, or to a writer that was handed in", fun.Name)
			}
		case *ast.SelectorExpr:
			if x, ok := fun.X.(*ast.Ident); ok && x.Name == "fmt" && strings.HasPrefix(fun.Sel.Name, "Print") {
				f.say(call.Pos(), "fmt.%s: output goes through the logger, or to a writer that was handed in", fun.Sel.Name)
			}
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
