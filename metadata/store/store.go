package store

import "context"

// Stat is what a znode says about itself. Times are milliseconds since the Unix
// epoch; a zxid is the number of the transaction that did it.
type Stat struct {
	Czxid, Mzxid, Pzxid int64
	Ctime, Mtime        int64
	Version, Cversion   int32
	EphemeralOwner      int64 // the session, 0 if the node is persistent
	DataLength          int32
	NumChildren         int32
}

// EventType says what happened to a watched znode.
type EventType int8

// The events of watches.
const (
	NodeCreated EventType = iota + 1
	NodeDeleted
	NodeDataChanged
	NodeChildrenChanged
)

// String is ZooKeeper's name of the event.
func (t EventType) String() string {
	return [...]string{"None", "NodeCreated", "NodeDeleted", "NodeDataChanged", "NodeChildrenChanged"}[t]
}

// Event is what a watch reports.
type Event struct {
	Type EventType
	Path string
}

// Watcher takes the one event of a watch. It is called after the change is
// durable and before the change is acknowledged; it must not block and not call
// the store.
type Watcher func(Event)

// Node is what Get found.
type Node struct {
	Data []byte // nil if there is none; the caller must not change it
	Stat Stat
	Err  error // of GetAll: ErrNoNode
}

// Outcome is what became of one transaction of a pipeline.
type Outcome struct {
	Results []Result // one an operation, if Err is nil
	Err     error    // an *OpError if an operation was refused
}

// Store is a session with a coordination service. It is safe for use by many
// goroutines; calls of one goroutine take effect in order.
type Store interface {
	// Session is the session's id, never 0.
	Session() int64
	// Multi does all operations or none. An operation that is refused makes it
	// fail with an *OpError.
	Multi(ctx context.Context, ops ...Op) ([]Result, error)
	// Pipeline does many transactions in order; each succeeds or fails alone. It
	// fails as a whole, with an unknown outcome, only if the store does.
	Pipeline(ctx context.Context, txns [][]Op) ([]Outcome, error)
	// Get reads a znode. A watch, if given, is set only if the node is there.
	Get(ctx context.Context, path string, w Watcher) (Node, error)
	// GetAll reads many znodes, one answer a path, in order.
	GetAll(ctx context.Context, paths []string) ([]Node, error)
	// Exists tells whether a znode is there. A watch is set in any case.
	Exists(ctx context.Context, path string, w Watcher) (Stat, bool, error)
	// Children lists the names of a znode's children, sorted. A watch, if given, is
	// set only if the node is there.
	Children(ctx context.Context, path string, w Watcher) ([]string, error)
}
