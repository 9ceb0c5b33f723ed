// Package tidy holds the rules of this house as a test: which package may import
// which, how long files and functions may be, what pure packages may not touch,
// where the wall clock may be read, and that everything exported is documented.
// It reads the source with go/parser and builds nothing.
//
// Start reading at rules.go, which has the rules with their reasons; check.go
// applies them to one file. The rules themselves are tested on small bad sources
// in tidy_test.go: a rule that cannot fail is none.
package tidy
