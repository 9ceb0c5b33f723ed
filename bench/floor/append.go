package floor

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// preallocate is the step in which the files grow, as performance.md C7 advises.
const preallocate = 16 << 20

// log is a file that batches are appended to.
type log struct {
	mu        sync.Mutex // guards what follows; held over the write, which fixes the order
	fd        int
	end       int64
	allocated int64
}

func (l *log) append(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end+int64(len(b)) > l.allocated {
		if err := unix.Fallocate(l.fd, unix.FALLOC_FL_KEEP_SIZE, l.allocated, preallocate); err != nil {
			return os.NewSyscallError("fallocate", err)
		}
		l.allocated += preallocate
	}
	n, err := unix.Pwrite(l.fd, b, l.end)
	if err != nil || n != len(b) {
		return fmt.Errorf("pwrite: %d of %d bytes: %w", n, len(b), err)
	}
	l.end += int64(n)
	return nil
}

// Append reads Produce frames of package frames, checks the checksum of the
// batch in each, appends it to the file of its partition and answers.
func Append(o Options) error {
	logs := make([]*log, o.Files)
	for i := range logs {
		fd, err := unix.Open(filepath.Join(o.Dir, fmt.Sprintf("floor-%d.log", i)), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return os.NewSyscallError("open", err)
		}
		logs[i] = &log{fd: fd}
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	return serve(func(conn *net.TCPConn) error {
		r := frameReader{conn: conn}
		var out []byte
		for {
			frame, err := r.next()
			if err != nil {
				return err
			}
			p, err := parseProduce(frame)
			if err != nil {
				return err
			}
			if got := crc32.Checksum(p.batch[21:], table); got != binary.BigEndian.Uint32(p.batch[17:]) {
				return fmt.Errorf("checksum %08x", got)
			}
			if err := logs[int(p.partition)%len(logs)].append(p.batch); err != nil {
				return err
			}
			out = p.response(out[:0], 0)
			if _, err := conn.Write(out); err != nil {
				return err
			}
		}
	})
}

// produced is what a Produce frame of package frames says: one batch for one
// partition.
type produced struct {
	correlation []byte
	topic       []byte
	partition   int32
	batch       []byte
}

// parseProduce reads a frame without its length prefix. The layout is fixed:
// key, version, correlation id, client id, transactional id, acks, timeout,
// one topic, one partition, one batch.
func parseProduce(frame []byte) (produced, error) {
	const batchHeader = 61
	at := 10
	if len(frame) < at+batchHeader+30 {
		return produced{}, fmt.Errorf("a Produce frame of %d bytes", len(frame))
	}
	p := produced{correlation: frame[4:8]}
	at += int(binary.BigEndian.Uint16(frame[8:])) // client id
	at += 2 + 2 + 4 + 4                           // no transactional id, acks, timeout, one topic
	if len(frame) < at+2 {
		return produced{}, fmt.Errorf("a Produce frame of %d bytes", len(frame))
	}
	name := int(binary.BigEndian.Uint16(frame[at:]))
	at += 2
	if len(frame) < at+name+12+batchHeader {
		return produced{}, fmt.Errorf("a Produce frame of %d bytes", len(frame))
	}
	p.topic = frame[at : at+name]
	at += name + 4
	p.partition = int32(binary.BigEndian.Uint32(frame[at:]))
	size := int(binary.BigEndian.Uint32(frame[at+4:]))
	at += 8
	if size < batchHeader || size > len(frame)-at {
		return produced{}, fmt.Errorf("a batch of %d bytes in a frame of %d", size, len(frame))
	}
	p.batch = frame[at : at+size]
	return p, nil
}

// response appends the version 8 answer, length prefix and all.
func (p *produced) response(dst []byte, baseOffset int64) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, p.correlation...)
	dst = binary.BigEndian.AppendUint32(dst, 1)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.topic)))
	dst = append(dst, p.topic...)
	dst = binary.BigEndian.AppendUint32(dst, 1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.partition))
	dst = binary.BigEndian.AppendUint16(dst, 0) // no error
	dst = binary.BigEndian.AppendUint64(dst, uint64(baseOffset))
	dst = binary.BigEndian.AppendUint64(dst, ^uint64(0)) // no log append time
	dst = binary.BigEndian.AppendUint64(dst, 0)          // log start offset
	dst = binary.BigEndian.AppendUint32(dst, 0)          // no record errors
	dst = binary.BigEndian.AppendUint16(dst, ^uint16(0)) // no message
	dst = binary.BigEndian.AppendUint32(dst, 0)          // not throttled
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
