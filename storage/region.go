package storage

import (
	"io"
	"sync/atomic"

	"barnabas/storage/vfs"
)

// Region is a range of a segment's file: what a read answers with. It keeps the
// file open, also when the segment is deleted meanwhile, until Release.
type Region struct {
	file     vfs.File
	segment  *segment
	position int64
	length   int
	released atomic.Bool
}

// Len is the region's length in bytes.
func (r *Region) Len() int { return r.length }

// ReadAt reads from off bytes behind the region's start and never beyond its
// end.
func (r *Region) ReadAt(p []byte, off int64) (int, error) {
	left := int64(r.length) - off
	if left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > left {
		n, err := r.file.ReadAt(p[:left], r.position+off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return r.file.ReadAt(p, r.position+off)
}

// File is the descriptor and the position in it, for sendfile. ok is false if
// the file system has no descriptors. The descriptor is valid until Release.
func (r *Region) File() (fd uintptr, position int64, ok bool) {
	if d, has := r.file.(vfs.Descriptor); has {
		return d.Fd(), r.position, true
	}
	return 0, 0, false
}

// Release gives the region back. It may be called more than once.
func (r *Region) Release() {
	if !r.released.Swap(true) {
		r.segment.release()
	}
}
