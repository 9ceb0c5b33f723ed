package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/protocol/api"
	"barnabas/protocol/wire"
)

// conn is one client connection.
type conn struct {
	s        *Server
	nc       *net.TCPConn
	listener string
	host     string
	sender   sender
	clientID string // of the last request: most clients never change it

	// lastActive is when the last request or reply moved, in nanoseconds. reading
	// and writing are when the last byte of a request that is not complete came,
	// and when the client last took bytes of a reply; 0 if it owes nothing.
	lastActive       atomic.Int64
	reading, writing atomic.Int64
	stopping         atomic.Bool
	aborted          atomic.Bool

	head    [4 + wire.FixedHeader]byte
	largest int   // the largest request so far, in bytes
	charged int64 // what the request that is being read holds of the budget

	// mu guards the queue of replies that are not out yet.
	mu      sync.Mutex
	changed sync.Cond // the queue shrank, or nobody writes any more
	queue   []*slot
	busy    bool // somebody writes
	closed  bool // no more replies go out
}

// slot is a request whose reply is not out yet.
type slot struct {
	c     *conn
	reply Reply
	call  Call
	id    int32
	row   *api.API
	ready bool
}

func newConn(s *Server, nc *net.TCPConn, listener, host string) *conn {
	c := &conn{s: s, nc: nc, listener: listener, host: host}
	c.changed.L = &c.mu
	c.touch()
	return c
}

func (c *conn) touch() { c.lastActive.Store(c.s.o.Clock.Now().UnixNano()) }

// errClose ends a connection without anything to report.
var errClose = errors.New("connection is closed")

// run reads requests until the client or the server ends it.
func (c *conn) run(ctx context.Context) {
	defer c.finish()
	if err := c.sender.open(c.nc); err != nil {
		return
	}
	for !c.stopping.Load() {
		if err := c.next(ctx); err != nil {
			c.logEnd(err)
			if !c.stopping.Load() {
				return
			}
		}
	}
	c.awaitEmpty()
}

// logEnd says why a connection ends, unless its client hung up. It is a function
// of its own so that its variables are not on the stack of every idle connection.
func (c *conn) logEnd(err error) {
	if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, errClose) {
		c.s.o.Logger.Debug("connection ends", zap.String("client", c.host), zap.String("clientId", c.clientID), zap.Error(err))
	}
}

// finish closes the connection and cancels what waits.
func (c *conn) finish() {
	c.mu.Lock()
	c.closed = true
	waiting := c.queue
	c.queue = nil
	for c.busy {
		c.abort()
		c.changed.Wait()
	}
	c.mu.Unlock()
	for _, s := range waiting {
		if s.reply.wait != nil {
			s.reply.wait.Cancel()
		}
	}
	c.abort()
	c.s.forget(c)
}

// abort closes the socket; whoever reads or writes it notices.
func (c *conn) abort() {
	if !c.aborted.Swap(true) {
		_ = c.nc.Close() // the reader reports what there is to report
	}
}

// stop lets no further request start. A reader that waits for one is woken.
func (c *conn) stop() {
	c.stopping.Store(true)
	_ = c.nc.CloseRead() // fails only if the client is gone already
}

// next reads, decodes and handles one request.
func (c *conn) next(ctx context.Context) error {
	n, err := c.nc.Read(c.head[:4])
	if err != nil {
		return err
	}
	c.reading.Store(c.s.o.Clock.Now().UnixNano())
	if _, err := io.ReadFull(c.nc, c.head[n:4]); err != nil {
		return err
	}
	size := int(int32(binary.BigEndian.Uint32(c.head[:])))
	if size < wire.FixedHeader+2 || size > c.s.o.Limits.RequestMaxBytes {
		return fmt.Errorf("request of %d bytes: socket.request.max.bytes is %d (is the client speaking TLS or HTTP?)", size, c.s.o.Limits.RequestMaxBytes)
	}
	if _, err := io.ReadFull(c.nc, c.head[4:]); err != nil {
		return err
	}
	h := wire.ParseFixed(c.head[4:])
	row := api.Lookup(h.Key)
	unsupported := row != nil && !row.Supports(h.Version)
	if row == nil || (unsupported && h.Key != kmsg.ApiVersions.Int16()) {
		return fmt.Errorf("request of API %d in version %d, which is not offered", h.Key, h.Version)
	}
	if row.MaxFrame > 0 && size > int(row.MaxFrame) {
		return fmt.Errorf("%s request of %d bytes, at most %d are taken", row.Name, size, row.MaxFrame)
	}
	frame, err := c.readFrame(ctx, size)
	defer func() {
		c.s.frames.release(c.charged)
		c.charged = 0
	}()
	if err != nil {
		return err
	}
	defer frame.Release()
	c.reading.Store(0)
	c.largest = max(c.largest, size)
	c.touch()
	return c.dispatch(ctx, frame.Bytes, row, unsupported)
}

// growWithin is how long the rest of a request that has begun to arrive waits for
// memory. Requests that hold some of it and wait for more could block each other
// for ever: then some connections have to go.
const growWithin = 5 * time.Second

// readFrame reads a request. Memory is charged as its bytes arrive, but for
// requests no larger than the connection has sent before: their buffer is taken
// at once. So a claim of a large request by itself holds nothing.
func (c *conn) readFrame(ctx context.Context, size int) (wire.Frame, error) {
	first := min(size, max(c.largest, wire.SmallFrame))
	if first > wire.SmallFrame {
		if err := c.charge(ctx, first); err != nil {
			return wire.Frame{}, err
		}
	}
	return c.s.pool.Read(progress{c}, size, c.head[4:], wire.Growth{First: first, More: func(n int) error {
		ctx, cancel := context.WithTimeout(ctx, growWithin)
		defer cancel()
		if err := c.charge(ctx, n); err != nil {
			return fmt.Errorf("no memory for the rest of a request of %d bytes (barnabas.request.memory.bytes): %w", size, err)
		}
		return nil
	}})
}

// charge takes bytes from the frames' budget. Waiting for them is our delay, not
// the client's.
func (c *conn) charge(ctx context.Context, n int) error {
	c.reading.Store(0)
	took, err := c.s.frames.acquire(ctx, int64(n))
	c.charged += took
	c.reading.Store(c.s.o.Clock.Now().UnixNano())
	return err
}

// progress is the connection as a reader that notes when bytes came.
type progress struct{ c *conn }

func (p progress) Read(b []byte) (int, error) {
	n, err := p.c.nc.Read(b)
	if n > 0 {
		p.c.reading.Store(p.c.s.o.Clock.Now().UnixNano())
	}
	return n, err
}

// dispatch decodes a frame, waits until its request may start, and handles it.
func (c *conn) dispatch(ctx context.Context, frame []byte, row *api.API, unsupported bool) error {
	version := wire.ParseFixed(frame).Version
	h, body, err := wire.ParseHeader(frame, row.FlexibleRequest(version))
	if err != nil && !unsupported {
		return fmt.Errorf("%s request: %w", row.Name, err)
	}
	if string(h.ClientID) != c.clientID {
		c.clientID = string(h.ClientID)
	}
	sl := &slot{c: c, id: wire.ParseFixed(frame).CorrelationID, row: row}
	sl.call = Call{
		Key: row.Key, Version: version, ClientID: c.clientID, ClientHost: c.host, Listener: c.listener,
		Received: c.s.o.Clock.Now(), Unsupported: unsupported,
	}
	if err := c.awaitTurn(row); err != nil {
		return err
	}
	cost := int64(len(body)) * int64(row.Factor)
	if row.Factor == 0 {
		n, ok := wire.ProduceCost(body, version)
		if !ok {
			return fmt.Errorf("%s request of version %d: %w", row.Name, version, errNull)
		}
		cost = int64(n)
	}
	charged, err := c.s.decoding.acquire(ctx, cost)
	if err != nil {
		return err
	}
	defer c.s.decoding.release(charged)
	req, err := decode(row, version, body, unsupported)
	if err != nil {
		return fmt.Errorf("%s request of version %d: %w", row.Name, version, err)
	}
	sl.reply = c.handle(ctx, sl, req)
	return c.enqueue(sl)
}

// decode reads a request's body. Its strings and bytes lie in the body.
func decode(row *api.API, version int16, body []byte, unsupported bool) (kmsg.Request, error) {
	req := kmsg.RequestForKey(row.Key)
	if unsupported {
		return req, nil
	}
	req.SetVersion(version)
	err := req.(interface{ UnsafeReadFrom([]byte) error }).UnsafeReadFrom(body)
	if err == nil && row.Factor > 0 {
		err = refuseNulls(row, version, body, req)
	}
	return req, err
}

var errNull = errors.New("null where the protocol allows none")

// refuseNulls finds a null array or string where none is allowed. kmsg reads it
// like an empty one, Kafka closes the connection. What was decoded is encoded
// again: the first place where it differs tells. Produce, whose records would be
// copied, is walked instead (wire.ProduceCost).
func refuseNulls(row *api.API, version int16, body []byte, req kmsg.Request) error {
	o := outs.Get().(*Out)
	defer func() {
		o.reset()
		outs.Put(o)
	}()
	o.Buf = req.AppendTo(o.Buf)
	again := o.Buf
	for i := range min(len(body), len(again)) {
		if body[i] == again[i] {
			continue
		}
		null := body[i] == 0xff && again[i] == 0
		if row.FlexibleRequest(version) {
			null = body[i] == 0 && again[i] == 1
		}
		if null {
			return errNull
		}
		return nil
	}
	return nil
}

// handle calls the API's handler. A panic is a bug of ours: it costs the
// connection, not the broker.
func (c *conn) handle(ctx context.Context, sl *slot, req kmsg.Request) (r Reply) {
	defer func() {
		if p := recover(); p != nil {
			c.s.o.Logger.Error("bug: a handler panicked; the connection is closed", zap.String("api", sl.row.Name), zap.Int16("version", sl.call.Version),
				zap.String("client", c.host), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			r = CloseConn()
		}
	}()
	return c.s.o.Routes[sl.row.Key](ctx, &sl.call, req)
}

// awaitTurn waits until a request of this API may start behind those whose
// replies are not out.
func (c *conn) awaitTurn(row *api.API) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.mayStartLocked(row) {
		if c.closed || c.aborted.Load() {
			return errClose
		}
		c.changed.Wait()
	}
	return nil
}

func (c *conn) mayStartLocked(row *api.API) bool {
	if len(c.queue) == 0 {
		return !c.busy || row.Pipelines
	}
	if !row.Pipelines || len(c.queue) >= c.s.o.Limits.PendingReplies {
		return false
	}
	for _, s := range c.queue {
		if !s.row.Waits {
			return false
		}
	}
	return true
}

// enqueue takes a reply over. If nothing is ahead of it and it is ready, it is
// written at once.
func (c *conn) enqueue(sl *slot) error {
	sl.ready = sl.reply.wait == nil
	c.mu.Lock()
	if len(c.queue) == 0 && !c.busy && sl.ready {
		c.busy = true
		c.mu.Unlock()
		err := c.write(sl)
		c.drainReady()
		return err
	}
	c.queue = append(c.queue, sl)
	c.mu.Unlock()
	if sl.reply.wait != nil {
		sl.reply.wait.Start(sl.wake)
	}
	return nil
}

// wake marks a reply ready and, if it is the next one out and nobody writes,
// starts a goroutine that does.
func (sl *slot) wake() {
	c := sl.c
	c.mu.Lock()
	sl.ready = true
	start := !c.busy && !c.closed && len(c.queue) > 0 && c.queue[0].ready
	if start {
		c.busy = true
	}
	c.mu.Unlock()
	if start {
		go c.drainReady()
	}
}

// drainReady writes the replies that are ready, in order. The caller set busy.
func (c *conn) drainReady() {
	for {
		c.mu.Lock()
		if c.closed || len(c.queue) == 0 || !c.queue[0].ready {
			c.busy = false
			c.changed.Broadcast()
			c.mu.Unlock()
			return
		}
		sl := c.queue[0]
		c.queue[0] = nil
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
		c.mu.Unlock()
		if sl.reply.wait != nil {
			sl.reply = sl.reply.wait.Reply()
		}
		if err := c.write(sl); err != nil {
			c.abort()
		}
	}
}

// awaitEmpty waits until every reply is out.
func (c *conn) awaitEmpty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for (len(c.queue) > 0 || c.busy) && !c.aborted.Load() {
		c.changed.Wait()
	}
}

// idle tells whether the connection neither waits for a reply nor sends.
func (c *conn) idle() bool {
	if c.reading.Load() != 0 || c.writing.Load() != 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) == 0 && !c.busy
}

// stallUnderPressure is how long a client may pause within a request while
// others wait for memory.
const stallUnderPressure = 2 * time.Second

// overdue is why the connection has to be closed now, "" if it has not.
func (c *conn) overdue(now int64) string {
	limits := &c.s.o.Limits
	stall := limits.StallTimeout
	if c.s.frames.contended() {
		stall = min(stall, stallUnderPressure) // somebody waits for what it holds
	}
	switch {
	case c.aborted.Load():
		return ""
	case c.reading.Load() != 0 && now-c.reading.Load() > int64(stall):
		return "the client stalls within a request"
	case c.writing.Load() != 0 && now-c.writing.Load() > int64(limits.StallTimeout):
		return "the client does not read its reply"
	case c.idle() && now-c.lastActive.Load() > int64(limits.IdleTimeout):
		return "idle (connections.max.idle.ms)"
	}
	return ""
}
