package replay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/bench/frames"
)

// ProduceLoad is what Produce sends.
type ProduceLoad struct {
	Dialer      Dialer
	Address     string
	Connections int
	InFlight    int           // requests in flight on each connection
	Frames      [][]byte      // connection i begins with frame i and takes turns from there
	BatchBytes  int           // record batch bytes in each frame
	Bytes       int64         // stop after this many batch bytes
	Limit       time.Duration // stop after this long, whatever was sent
}

// Progress is what was moved.
type Progress struct {
	Bytes    int64         `json:"bytes"`    // of record batches
	Requests int64         `json:"requests"` // answered
	Elapsed  time.Duration `json:"elapsedNs"`
}

// Produce writes until the load is done and every request is answered. An error
// code in any answer ends it.
func Produce(ctx context.Context, load ProduceLoad) (Progress, error) {
	var left, answered atomic.Int64
	left.Store(load.Bytes / int64(load.BatchBytes))
	conns := make([]*net.TCPConn, load.Connections)
	for i := range conns {
		conn, err := load.Dialer.Dial(ctx, load.Address)
		if err != nil {
			return Progress{}, err
		}
		defer conn.Close()
		conns[i] = conn
	}
	stop := context.AfterFunc(ctx, func() {
		for _, conn := range conns {
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	start := time.Now()
	errs := make([]error, load.Connections)
	var group sync.WaitGroup
	for i, conn := range conns {
		group.Go(func() {
			w := window{
				conn: conn, load: &load, next: i, left: &left, answered: &answered, deadline: start.Add(load.Limit),
				in: make([]byte, 64<<10),
			}
			w.frame = make([]byte, len(load.Frames[0]))
			errs[i] = w.run()
		})
	}
	group.Wait()
	p := Progress{Bytes: answered.Load() * int64(load.BatchBytes), Requests: answered.Load(), Elapsed: time.Since(start)}
	return p, errors.Join(errs...)
}

// window is one connection's requests in flight.
type window struct {
	conn        *net.TCPConn
	load        *ProduceLoad
	next        int
	correlation uint32
	expected    uint32
	left        *atomic.Int64
	answered    *atomic.Int64
	deadline    time.Time
	frame       []byte
	in          []byte
	have        int
}

// run fills the window, then sends a request for each answer.
func (w *window) run() error {
	free := w.load.InFlight
	for {
		for ; free > 0 && w.left.Add(-1) >= 0 && time.Now().Before(w.deadline); free-- {
			if err := w.send(); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
		if free == w.load.InFlight {
			return nil
		}
		n, err := w.receive()
		if err != nil {
			return err
		}
		free += n
	}
}

// send writes the next frame. Connections share the frames, so the correlation
// id goes out from the small head of a copy, the rest from the frame itself.
func (w *window) send() error {
	frame := w.load.Frames[w.next%len(w.load.Frames)]
	w.next++
	w.correlation++
	const small = 16 << 10
	if len(frame) <= small {
		own := append(w.frame[:0], frame...)
		binary.BigEndian.PutUint32(own[frames.CorrelationAt:], w.correlation)
		_, err := w.conn.Write(own)
		return err
	}
	const head = frames.CorrelationAt + 4
	own := append(w.frame[:0], frame[:head]...)
	binary.BigEndian.PutUint32(own[frames.CorrelationAt:], w.correlation)
	pieces := net.Buffers{own, frame[head:]}
	_, err := pieces.WriteTo(w.conn)
	return err
}

// receive reads once and counts the whole answers in what came.
func (w *window) receive() (int, error) {
	n, err := w.conn.Read(w.in[w.have:])
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	w.have += n
	answers := 0
	at := 0
	for w.have-at >= 4 {
		size := int(binary.BigEndian.Uint32(w.in[at:]))
		if size > len(w.in)-4 {
			return 0, fmt.Errorf("a Produce response of %d bytes", size)
		}
		if w.have-at < 4+size {
			break
		}
		response := w.in[at+4 : at+4+size]
		code, err := frames.ProduceError(response)
		if err != nil {
			return 0, err
		}
		w.expected++
		if got := binary.BigEndian.Uint32(response); got != w.expected {
			return 0, fmt.Errorf("answer %d came where %d was due", got, w.expected)
		}
		if code != 0 {
			return 0, fmt.Errorf("produce: error code %d", code)
		}
		answers++
		at += 4 + size
	}
	w.have = copy(w.in, w.in[at:w.have])
	w.answered.Add(int64(answers))
	return answers, nil
}
