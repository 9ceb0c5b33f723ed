package server

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Handler answers one request. What fixes an order is done before it returns.
// The request and its bytes are gone when it has returned.
type Handler func(ctx context.Context, c *Call, req kmsg.Request) Reply

// Call is what a handler knows of a request beside its body.
type Call struct {
	// Key and Version are the API's.
	Key, Version int16
	// ClientID is the client's name for itself; it may be kept.
	ClientID string
	// ClientHost is the client's address, without the port.
	ClientHost string
	// Listener is the name of the listener that the request came in on.
	Listener string
	// Received is when the request's last byte was there.
	Received time.Time
	// Unsupported: an ApiVersions request in a version we do not know; its body
	// was not decoded.
	Unsupported bool
}

// Reply is what a handler returns. Build it with Now, NowEncoded, Later, None or
// CloseConn.
type Reply struct {
	response kmsg.Response
	encoder  Encoder
	wait     Wait
	close    bool
}

// Now is a reply that is ready.
func Now(resp kmsg.Response) Reply { return Reply{response: resp} }

// NowEncoded is a ready reply that encodes itself.
func NowEncoded(e Encoder) Reply { return Reply{encoder: e} }

// Later is a reply that has to wait.
func Later(w Wait) Reply { return Reply{wait: w} }

// None is no reply at all, as for a Produce with acks=0.
func None() Reply { return Reply{} }

// CloseConn closes the connection once the replies before it are out.
func CloseConn() Reply { return Reply{close: true} }

// Encoder writes a reply's body in the version of the request.
type Encoder interface {
	Encode(o *Out)
}

// Wait is a reply that is not ready yet.
type Wait interface {
	// Start registers wake, which may be called from any goroutine, also before
	// Start has returned, and counts once. It only marks the reply and wakes its
	// connection; it never blocks.
	Start(wake func())
	// Reply gives the reply, which is ready, after wake was called.
	Reply() Reply
	// Cancel tells that nobody will ask: the connection is gone. It may come
	// beside a wake.
	Cancel()
}

// Region is a range of a file, which leaves by sendfile where that is possible.
// *storage.Region is one.
type Region interface {
	// Len is its length in bytes.
	Len() int
	// ReadAt reads from off bytes behind its start.
	ReadAt(p []byte, off int64) (int, error)
	// File is the descriptor and the position in it, if there is one.
	File() (fd uintptr, position int64, ok bool)
	// Release gives it back. The server calls it once the reply is out, or never
	// will be.
	Release()
}

// Out is where a reply is encoded: bytes, with regions of files between them.
type Out struct {
	// Buf takes the bytes; append to it.
	Buf     []byte
	regions []placedRegion
	length  int // bytes of all regions
	errors  []int16
}

// Error notes an error code that the reply carries, for the figures; 0 is none.
func (o *Out) Error(code int16) {
	if code != 0 {
		o.errors = append(o.errors, code)
	}
}

type placedRegion struct {
	at     int // index in Buf before which the region goes
	region Region
}

// Region puts a file's bytes behind what was appended so far.
func (o *Out) Region(r Region) {
	o.regions = append(o.regions, placedRegion{len(o.Buf), r})
	o.length += r.Len()
}

// RegionBytes is how many bytes come out of files.
func (o *Out) RegionBytes() int { return o.length }

func (o *Out) reset() {
	o.release()
	o.Buf, o.length, o.errors = o.Buf[:0], 0, o.errors[:0]
}

// release gives all regions back.
func (o *Out) release() {
	for i := range o.regions {
		o.regions[i].region.Release()
		o.regions[i] = placedRegion{}
	}
	o.regions = o.regions[:0]
}
