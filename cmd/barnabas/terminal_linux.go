package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal says whether a person sits at r.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
