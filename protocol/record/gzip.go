package record

import (
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipWriters are pools of writers, one for each level from -1 (the default) to 9.
var gzipWriters [gzip.BestCompression + 2]sync.Pool

// sliceWriter appends what is written to b.
type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// gzipWriter is a writer and where it writes to.
type gzipWriter struct {
	out sliceWriter
	z   *gzip.Writer
}

// compressGzip writes one member.
func compressGzip(dst []byte, level int, src []byte) []byte {
	if level != gzip.DefaultCompression {
		level = min(max(level, gzip.BestSpeed), gzip.BestCompression)
	}
	pool := &gzipWriters[level+1]
	w, ok := pool.Get().(*gzipWriter)
	if !ok {
		w = &gzipWriter{}
		z, err := gzip.NewWriterLevel(&w.out, level)
		if err != nil {
			panic("record: gzip level: " + err.Error())
		}
		w.z = z
	}
	w.out.b = dst
	w.z.Reset(&w.out)
	_, _ = w.z.Write(src) // a sliceWriter does not fail
	_ = w.z.Close()
	dst, w.out.b = w.out.b, nil
	pool.Put(w)
	return dst
}
