//go:build !linux

package main

import (
	"io"
	"os"
)

// isTerminal says whether a person sits at r. The null device counts as one,
// which errs on the careful side.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
