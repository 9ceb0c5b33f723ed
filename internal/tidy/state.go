package tidy

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// purity keeps time, chance and the outside world out of pure packages.
func (f *file) purity() {
	reason, isPure := pure[f.pkg]
	if !isPure {
		return
	}
	for _, spec := range f.ast.Imports {
		if to, _ := strconv.Unquote(spec.Path.Value); slices.Contains(impure, to) {
			f.say(spec.Pos(), "package %s is pure (%s) and imports %s", f.pkg, reason, to)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			f.say(g.Pos(), "package %s is pure (%s) and starts a goroutine", f.pkg, reason)
		}
		return true
	})
}

// state finds package-level variables that something in the file writes. Tables,
// errors, compiled patterns and pools are set once and only read.
func (f *file) state() {
	names := make(map[string]bool)
	for _, d := range f.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				names[n.Name] = n.Name != "_"
			}
		}
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.writes(fn, names)
		}
	}
}

// writes reports assignments in fn to package-level names that it does not
// shadow.
func (f *file) writes(fn *ast.FuncDecl, names map[string]bool) {
	local := make(map[string]bool)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				id, ok := root(l).(*ast.Ident)
				switch {
				case !ok:
				case n.Tok == token.DEFINE:
					local[id.Name] = true
				case names[id.Name] && !local[id.Name] && !declares(fn, id.Name):
					f.say(id.Pos(), "%s is package-level state: give it an owner", id.Name)
				}
			}
		case *ast.IncDecStmt:
			if id, ok := root(n.X).(*ast.Ident); ok && names[id.Name] && !local[id.Name] && !declares(fn, id.Name) {
				f.say(id.Pos(), "%s is package-level state: give it an owner", id.Name)
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
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return e
		}
	}
}

// declares tells whether fn has a parameter, result, receiver or var of the name.
func declares(fn *ast.FuncDecl, name string) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
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
