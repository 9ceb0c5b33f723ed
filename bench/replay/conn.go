package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"

	"barnabas/bench/frames"
)

// maxResponse bounds what a length prefix may claim.
const maxResponse = 256 << 20

// Dialer opens the generator's sockets.
type Dialer struct {
	// Congestion is set on every socket opened; empty leaves the machine's.
	Congestion string
}

// Dial connects to address.
func (d Dialer) Dial(ctx context.Context, address string) (*net.TCPConn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if d.Congestion != "" {
		dialer.Control = func(_, _ string, raw syscall.RawConn) error {
			var failed error
			err := raw.Control(func(fd uintptr) {
				failed = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, d.Congestion)
			})
			if err != nil {
				return err
			}
			return failed
		}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// Call sends one request on conn and decodes its answer.
func Call(conn net.Conn, req kmsg.Request) (kmsg.Response, error) {
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(frames.ClientID)).AppendRequest(nil, req, 1)
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	body, err := readFrame(conn)
	if err != nil {
		return nil, err
	}
	if len(body) < 4 {
		return nil, fmt.Errorf("a response of %d bytes", len(body))
	}
	body = body[4:]
	res := req.ResponseKind()
	if res.IsFlexible() && req.Key() != int16(kmsg.ApiVersions) {
		if len(body) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		body = body[1:] // no tagged fields in a header
	}
	if err := res.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%s response: %w", kmsg.NameForKey(req.Key()), err)
	}
	return res, nil
}

// readFrame reads one length-prefixed answer.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxResponse {
		return nil, fmt.Errorf("a response of %d bytes", size)
	}
	body := make([]byte, size)
	_, err := io.ReadFull(r, body)
	return body, err
}

// Ask sends requests one after the other and passes over the answers.
func Ask(conn net.Conn, requests ...kmsg.Request) error {
	for _, req := range requests {
		frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(frames.ClientID)).AppendRequest(nil, req, 1)
		if _, err := conn.Write(frame); err != nil {
			return err
		}
		if _, err := readFrame(conn); err != nil {
			return err
		}
	}
	return nil
}
