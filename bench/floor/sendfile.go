package floor

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sendfile answers every Fetch frame with the next region of every file, as a
// Fetch version 11 response of one topic: header bytes with MSG_MORE, then
// sendfile(2) with an explicit offset. The offsets asked for are not looked at.
func Sendfile(o Options) error {
	files := make([]int, o.Files)
	for i := range files {
		fd, err := fill(filepath.Join(o.Dir, fmt.Sprintf("floor-%d.dat", i)), o.Bytes)
		if err != nil {
			return err
		}
		files[i] = fd
	}
	return serve(func(conn *net.TCPConn) error {
		raw, err := conn.SyscallConn()
		if err != nil {
			return err
		}
		r := frameReader{conn: conn}
		s := sender{raw: raw}
		var at int64
		for {
			frame, err := r.next()
			if err != nil {
				return err
			}
			var prefix []byte
			prefix = responseHead(prefix, frame[4:8], o)
			for i, fd := range files {
				prefix = partitionHead(prefix, int32(i), o.Region)
				if err := s.send(prefix, fd, at, o.Region); err != nil {
					return err
				}
				prefix = prefix[:0]
			}
			if at += o.Region; at >= o.Bytes {
				at = 0
			}
		}
	})
}

// fill makes a file of size bytes in the page cache.
func fill(name string, size int64) (int, error) {
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0, os.NewSyscallError("open", err)
	}
	piece := make([]byte, 1<<20)
	for i := range piece {
		piece[i] = byte(i * 7)
	}
	for at := int64(0); at < size; {
		n, err := unix.Pwrite(fd, piece[:min(int64(len(piece)), size-at)], at)
		if err != nil {
			return 0, os.NewSyscallError("pwrite", err)
		}
		at += int64(n)
	}
	return fd, nil
}

const (
	headSize      = 4 + 4 + 4 + 2 + 4 + 4 + 2 + 4 // without the topic's name
	partitionSize = 4 + 2 + 8 + 8 + 8 + 4 + 4 + 4
)

func responseHead(dst, correlation []byte, o Options) []byte {
	size := headSize - 4 + len(o.Topic) + o.Files*(partitionSize+int(o.Region))
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, correlation...)
	dst = binary.BigEndian.AppendUint32(dst, 0) // not throttled
	dst = binary.BigEndian.AppendUint16(dst, 0) // no error
	dst = binary.BigEndian.AppendUint32(dst, 0) // no session
	dst = binary.BigEndian.AppendUint32(dst, 1)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(o.Topic)))
	dst = append(dst, o.Topic...)
	return binary.BigEndian.AppendUint32(dst, uint32(o.Files))
}

func partitionHead(dst []byte, partition int32, records int64) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(partition))
	dst = binary.BigEndian.AppendUint16(dst, 0)          // no error
	dst = binary.BigEndian.AppendUint64(dst, 1<<40)      // high watermark
	dst = binary.BigEndian.AppendUint64(dst, 1<<40)      // last stable offset
	dst = binary.BigEndian.AppendUint64(dst, 0)          // log start offset
	dst = binary.BigEndian.AppendUint32(dst, ^uint32(0)) // no aborted transactions
	dst = binary.BigEndian.AppendUint32(dst, ^uint32(0)) // no preferred replica
	return binary.BigEndian.AppendUint32(dst, uint32(records))
}

// sender writes bytes and file regions to one connection.
type sender struct {
	raw syscall.RawConn
}

// send writes prefix, then length bytes of fd from offset on.
func (s *sender) send(prefix []byte, fd int, offset, length int64) error {
	var failed error
	err := s.raw.Write(func(to uintptr) bool {
		for len(prefix) > 0 {
			n, err := unix.SendmsgN(int(to), prefix, nil, nil, unix.MSG_MORE)
			if err == unix.EAGAIN {
				return false
			}
			if err != nil {
				failed = os.NewSyscallError("send", err)
				return true
			}
			prefix = prefix[n:]
		}
		for length > 0 {
			n, err := unix.Sendfile(int(to), fd, &offset, int(length))
			switch {
			case err == unix.EAGAIN:
				return false
			case err == unix.EINTR:
			case err != nil || n == 0:
				failed = fmt.Errorf("sendfile: %d bytes: %w", n, err)
				return true
			}
			length -= int64(max(n, 0))
		}
		return true
	})
	if err != nil {
		return err
	}
	return failed
}
