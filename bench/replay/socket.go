package replay

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// socket is a blocking socket: a thread waits in the kernel for it, with no
// poller in between. It gives up after a while without data.
type socket struct{ fd int }

const patienceSeconds = 10

// blocking connects to address. Close the socket.
func (d Dialer) blocking(ctx context.Context, address string) (socket, error) {
	conn, err := d.Dial(ctx, address)
	if err != nil {
		return socket{}, err
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return socket{}, err
	}
	s := socket{fd: -1}
	var failed error
	err = raw.Control(func(fd uintptr) { s.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil {
		err = failed
	}
	if err != nil {
		return socket{}, os.NewSyscallError("dup", err)
	}
	timeout := unix.Timeval{Sec: patienceSeconds}
	if err := unix.SetNonblock(s.fd, false); err != nil {
		return socket{}, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return socket{}, os.NewSyscallError("setsockopt", err)
	}
	return s, nil
}

// Read is io.Reader's.
func (s socket) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(s.fd, p)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, fmt.Errorf("nothing came for %d s", patienceSeconds)
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write is io.Writer's.
func (s socket) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(s.fd, p[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, os.NewSyscallError("write", err)
		}
		done += n
	}
	return done, nil
}

// Close ends the connection and whoever reads from it.
func (s socket) Close() {
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	_ = unix.Close(s.fd)
}
