package tidy

import (
	"go/ast"
	"go/token"
	"strconv"
)

// purity keeps time, chance and the outside world out of pure packages.
func (f *file) purity() {
	reason, isPure := pure[f.pkg]
	if !isPure {
		return
	}
	for _, spec := range f.ast.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		if leak := reasonFor(impure, to); leak != "" && !harmless[to] {
			f.say(spec.Pos(), "package %s is pure (%s) and imports %s: %s", f.pkg, reason, to, leak)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			f.say(n.Pos(), "package %s is pure (%s) and starts a goroutine", f.pkg, reason)
		case *ast.ChanType:
			f.say(n.Pos(), "package %s is pure (%s) and has a channel", f.pkg, reason)
		}
		return true
	})
}

// sharedState finds package-level variables that something in the package writes,
// in whatever file, and those of a type that exists to be written. Tables, errors,
// compiled patterns and pools are set once and only read.
func sharedState(files []*file) {
	names := make(map[string]bool)
	for _, f := range files {
		for _, s := range variables(f.ast) {
			pool := mentions(s, "sync", "Pool")
			for _, n := range s.Names {
				names[n.Name] = n.Name != "_" && !pool
			}
			if what := mutable(s); what != "" {
				f.say(s.Pos(), "%s is package-level state (%s): give it an owner", s.Names[0].Name, what)
			}
		}
	}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			f.writes(d, names)
		}
	}
}

// variables are a file's package-level ones.
func variables(f *ast.File) (specs []*ast.ValueSpec) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// mutable tells by its type that a variable is there to be written.
func mutable(s *ast.ValueSpec) string {
	for _, name := range []string{"Mutex", "RWMutex", "Map", "WaitGroup", "Once", "Cond"} {
		if mentions(s, "sync", name) {
			return "sync." + name
		}
	}
	for _, name := range []string{"Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value"} {
		if mentions(s, "atomic", name) {
			return "atomic." + name
		}
	}
	if _, ok := s.Type.(*ast.ChanType); ok {
		return "a channel"
	}
	return ""
}

// mentions tells whether the variable's type, written out or that of a composite
// literal or new, is pkg.name, an array of it or a pointer to it.
func mentions(s *ast.ValueSpec, pkg, name string) bool {
	types := []ast.Expr{s.Type}
	for _, v := range s.Values {
		switch v := v.(type) {
		case *ast.CompositeLit:
			types = append(types, v.Type)
		case *ast.UnaryExpr:
			if lit, ok := v.X.(*ast.CompositeLit); ok {
				types = append(types, lit.Type)
			}
		case *ast.CallExpr:
			if id, ok := v.Fun.(*ast.Ident); ok && id.Name == "new" && len(v.Args) == 1 {
				types = append(types, v.Args[0])
			}
		}
	}
	for _, t := range types {
		if selects(t, pkg, name) {
			return true
		}
	}
	return false
}

func selects(t ast.Expr, pkg, name string) bool {
	switch t := t.(type) {
	case *ast.ArrayType:
		return selects(t.Elt, pkg, name)
	case *ast.StarExpr:
		return selects(t.X, pkg, name)
	case *ast.IndexExpr: // a generic type
		return selects(t.X, pkg, name)
	case *ast.SelectorExpr:
		x, ok := t.X.(*ast.Ident)
		return ok && x.Name == pkg && t.Sel.Name == name
	}
	return false
}

// writes reports what a declaration does to package-level names that it does not
// shadow: assignments, deletions, addresses taken.
func (f *file) writes(d ast.Decl, names map[string]bool) {
	local := make(map[string]bool)
	report := func(e ast.Expr) {
		if id, ok := root(e).(*ast.Ident); ok && names[id.Name] && !local[id.Name] && !declares(d, id.Name) {
			f.say(id.Pos(), "%s is package-level state: give it an owner", id.Name)
		}
	}
	if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.VAR {
		return
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
					continue
				}
				report(l)
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				} else if e != nil && n.Tok == token.ASSIGN {
					report(e)
				}
			}
		case *ast.IncDecStmt:
			report(n.X)
		case *ast.UnaryExpr:
			if _, whole := n.X.(*ast.Ident); whole && n.Op == token.AND { // a table's row by address is only read
				report(n.X)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") && len(n.Args) > 0 {
				report(n.Args[0])
			}
		}
		return true
	})
}

// root is the variable that an assignment's left side belongs to.
func root(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return e
		}
	}
}

// declares tells whether a function has a parameter, result, receiver or var of
// the name.
func declares(d ast.Decl, name string) bool {
	if _, ok := d.(*ast.FuncDecl); !ok {
		return false
	}
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				found = found || id.Name == name
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || id.Name == name
			}
		}
		return !found
	})
	return found
}
