package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/protocol/wire"
)

// Listener is one address to listen on.
type Listener struct {
	// Name is the listener's name, such as PLAINTEXT.
	Name string
	// Address is host:port; an empty host is every address, port 0 any free one.
	Address string
}

// Limits bound what clients may take. Zero values mean the defaults in brackets.
type Limits struct {
	// RequestMaxBytes is socket.request.max.bytes [100 MiB].
	RequestMaxBytes int
	// Memory bounds the bytes of requests in flight, frames and what decoding
	// takes, over all connections [256 MiB].
	Memory int64
	// PendingReplies is how many replies of one connection may wait [64].
	PendingReplies int
	// MaxConnections is max.connections, and MaxConnectionsPerIP
	// max.connections.per.ip with its overrides by address [no bound]; a negative
	// one lets nobody in.
	MaxConnections      int
	MaxConnectionsPerIP int
	PerIPOverrides      map[string]int
	// IdleTimeout is connections.max.idle.ms [10 minutes].
	IdleTimeout time.Duration
	// StallTimeout is how long a client may neither send the next byte of a
	// request that it began nor take the next byte of a reply [30 seconds].
	StallTimeout time.Duration
}

func (l *Limits) defaults() {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	const many = 1<<31 - 1
	orInt(&l.RequestMaxBytes, 100<<20)
	orInt(&l.PendingReplies, 64)
	orInt(&l.MaxConnections, many)
	orInt(&l.MaxConnectionsPerIP, many)
	if l.Memory <= 0 {
		l.Memory = 256 << 20
	}
	if l.IdleTimeout <= 0 {
		l.IdleTimeout = 10 * time.Minute
	}
	if l.StallTimeout <= 0 {
		l.StallTimeout = 30 * time.Second
	}
}

// Options are what a Server needs.
type Options struct {
	Listeners []Listener
	// Routes are the handlers by API key; Handle may set them later.
	Routes map[int16]Handler
	Limits Limits
	// StopTimeout is how long requests in flight may take once Run's context has
	// ended [10 seconds].
	StopTimeout time.Duration
	Clock       clock.Clock
	Logger      *zap.Logger
	Metrics     *metrics.Registry
}

// Server accepts connections and answers requests.
type Server struct {
	o         Options
	listeners []net.Listener
	frames    *budget
	decoding  *budget
	pool      wire.Pool
	figures   *figures

	// mu guards the connections and their count by address.
	mu    sync.Mutex
	conns map[*conn]struct{}
	perIP map[string]int
	done  bool
	wg    sync.WaitGroup
}

// New binds the listeners, without accepting yet.
func New(o Options) (*Server, error) {
	o.Limits.defaults()
	if o.StopTimeout <= 0 {
		o.StopTimeout = 10 * time.Second
	}
	s := &Server{
		o: o, conns: make(map[*conn]struct{}), perIP: make(map[string]int),
		frames: newBudget(o.Limits.Memory / 2), decoding: newBudget(o.Limits.Memory / 2),
	}
	for _, l := range o.Listeners {
		ln, err := net.Listen("tcp", l.Address)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listen on %s (listener %s): %w: stop what uses the port, or change listeners", l.Address, l.Name, err), s.Close())
		}
		s.listeners = append(s.listeners, ln)
	}
	s.figures = newFigures(s, o.Metrics)
	return s, nil
}

// Handle sets the handlers by API key. It comes before Run.
func (s *Server) Handle(routes map[int16]Handler) { s.o.Routes = routes }

// Addrs are the addresses that are bound, in the order of the listeners.
func (s *Server) Addrs() []*net.TCPAddr {
	addrs := make([]*net.TCPAddr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr().(*net.TCPAddr)
	}
	return addrs
}

// Close gives the listeners back. It is for a server that Run was not called on.
func (s *Server) Close() error {
	var errs []error
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// Run serves until ctx ends. It then stops accepting, lets the requests in flight
// be answered, for StopTimeout at most, and closes every connection.
func (s *Server) Run(ctx context.Context) error {
	// Handlers run on a context of their own: what is in flight is answered after
	// ctx has ended.
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	var accepting sync.WaitGroup
	for i, l := range s.listeners {
		accepting.Go(func() { s.accept(work, l, s.o.Listeners[i].Name) })
	}
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		s.sweep(work)
	}()
	<-ctx.Done()
	err := s.Close()
	accepting.Wait()
	s.drain()
	abort()
	s.closeAll()
	s.wg.Wait()
	<-swept
	return err
}

// accept takes connections of one listener until it is closed.
func (s *Server) accept(ctx context.Context, l net.Listener, name string) {
	backoff := 5 * time.Millisecond
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others must close first
			s.o.Logger.Warn("cannot accept a connection", zap.String("listener", name), zap.Error(err))
			t := s.o.Clock.NewTimer(backoff)
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
			backoff = min(2*backoff, time.Second)
			continue
		}
		backoff = 5 * time.Millisecond
		if c := s.admit(nc.(*net.TCPConn), name); c != nil {
			go func() {
				defer s.wg.Done()
				c.run(ctx)
			}()
		}
	}
}

// admit takes a connection in, or closes it because its address has too many.
// If the broker has too many, the one that is idle longest gives way.
func (s *Server) admit(nc *net.TCPConn, listener string) *conn {
	host, _, _ := net.SplitHostPort(nc.RemoteAddr().String())
	s.mu.Lock()
	bound := s.o.Limits.MaxConnectionsPerIP
	if n, ok := s.o.Limits.PerIPOverrides[host]; ok {
		bound = n
	}
	refused := ""
	switch {
	case s.done:
		refused = "stopping"
	case s.perIP[host] >= bound:
		refused = "max.connections.per.ip"
	case len(s.conns) >= s.o.Limits.MaxConnections && !s.evictLocked():
		refused = "max.connections"
	}
	if refused != "" {
		s.mu.Unlock()
		s.o.Logger.Debug("connection refused", zap.String("client", host), zap.String("limit", refused))
		_ = nc.Close() // nothing was sent
		return nil
	}
	c := newConn(s, nc, listener, host)
	s.conns[c] = struct{}{}
	s.perIP[host]++
	s.wg.Add(1)
	s.mu.Unlock()
	return c
}

// evictLocked closes the connection that is idle longest, and reports whether
// there was an idle one.
func (s *Server) evictLocked() bool {
	var oldest *conn
	for c := range s.conns {
		if c.idle() && (oldest == nil || c.lastActive.Load() < oldest.lastActive.Load()) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	s.o.Logger.Debug("idle connection closed to make room (max.connections)", zap.String("client", oldest.host))
	oldest.abort()
	s.forgetLocked(oldest)
	return true
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(c)
}

func (s *Server) forgetLocked(c *conn) {
	if _, ok := s.conns[c]; !ok {
		return
	}
	delete(s.conns, c)
	if s.perIP[c.host]--; s.perIP[c.host] <= 0 {
		delete(s.perIP, c.host)
	}
}

func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// Connections is how many connections are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// drain lets no new request start and waits for those in flight.
func (s *Server) drain() {
	s.mu.Lock()
	s.done = true
	s.mu.Unlock()
	for _, c := range s.all() {
		c.stop()
	}
	finished := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(finished)
	}()
	t := s.o.Clock.NewTimer(s.o.StopTimeout)
	defer t.Stop()
	select {
	case <-finished:
	case <-t.C:
		s.o.Logger.Warn("requests are still in flight after the stop timeout: their connections are closed", zap.Int("connections", s.Connections()))
	}
}

func (s *Server) closeAll() {
	for _, c := range s.all() {
		c.abort()
	}
}

// sweep closes connections that are idle or that stall, once a second. It costs a
// walk over the connections instead of a timer for each.
func (s *Server) sweep(ctx context.Context) {
	period := min(time.Second, max(s.o.Limits.IdleTimeout/4, 10*time.Millisecond), max(s.o.Limits.StallTimeout/4, 10*time.Millisecond))
	t := s.o.Clock.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := s.o.Clock.Now().UnixNano()
		for _, c := range s.all() {
			if why := c.overdue(now); why != "" {
				s.o.Logger.Debug("connection closed", zap.String("client", c.host), zap.String("reason", why))
				c.abort()
			}
		}
	}
}
