package floor

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
)

// Options is what a floor server is started with.
type Options struct {
	Dir    string // where it may write
	Files  int    // how many files: one a partition
	Bytes  int64  // Sendfile: how large each is; a multiple of Region
	Region int64  // Sendfile: how much of a file one answer carries
	Topic  string // Sendfile: the topic its answers name
}

// maxFrame bounds what a length prefix may claim.
const maxFrame = 64 << 20

// serve accepts on a free port of 127.0.0.1, says which on standard output, and
// hands every connection to handle on a goroutine of its own.
func serve(handle func(*net.TCPConn) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("listening", listener.Addr())
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if err := handle(conn.(*net.TCPConn)); err != nil && err != io.EOF && !isReset(err) {
				fmt.Fprintln(os.Stderr, "floor:", err)
			}
		}()
	}
}

func isReset(err error) bool {
	ne, ok := err.(*net.OpError)
	return ok && (ne.Op == "read" || ne.Op == "write")
}

// frameReader reads length-prefixed frames into a buffer of its own, which it
// gets with the first frame: an idle connection has none.
type frameReader struct {
	conn *net.TCPConn
	head [4]byte
	buf  []byte
}

// next is the next frame without its length prefix, until the call after.
func (r *frameReader) next() ([]byte, error) {
	if _, err := io.ReadFull(r.conn, r.head[:]); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(r.head[:]))
	if size > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", size)
	}
	if size > cap(r.buf) {
		r.buf = make([]byte, size)
	}
	r.buf = r.buf[:size]
	_, err := io.ReadFull(r.conn, r.buf)
	return r.buf, err
}

// Echo sends every frame back as it came.
func Echo() error {
	return serve(func(conn *net.TCPConn) error {
		r := frameReader{conn: conn}
		var out []byte
		for {
			frame, err := r.next()
			if err != nil {
				return err
			}
			out = append(append(out[:0], r.head[:]...), frame...)
			if _, err := conn.Write(out); err != nil {
				return err
			}
		}
	})
}
