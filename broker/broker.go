package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"barnabas/broker/fetchsession"
	"barnabas/broker/handlers"
	"barnabas/broker/observe"
	"barnabas/broker/server"
	"barnabas/config"
	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/metadata"
	"barnabas/metadata/store/embedded"
	"barnabas/replication"
	"barnabas/storage"
)

// Options are what a Broker is built from. All are needed.
type Options struct {
	// Static is the configuration.
	Static *config.Static
	// Logger takes one line for each change of state.
	Logger *zap.Logger
	// LogLevel changes what the logger lets through, at run time.
	LogLevel zap.AtomicLevel
	// Clock tells the time.
	Clock clock.Clock
	// Version is what /livez and the ready line say.
	Version string
}

// Broker is one broker: its rooms, built and connected.
type Broker struct {
	o        Options
	settings config.Broker
	metrics  *metrics.Registry
	store    *embedded.Store
	logs     *storage.Manager
	replicas *replication.Manager
	metadata *metadata.Metadata
	server   *server.Server
	observe  *observe.Server
	ready    chan struct{}
}

// Open builds a broker: it opens the metadata store, loads and recovers the logs,
// and binds the listeners. Nothing is served until Run. An error names what was
// wrong and what to do; nothing is left open then.
func Open(ctx context.Context, o Options) (*Broker, error) {
	b := &Broker{o: o, settings: o.Static.Broker(), metrics: metrics.New(), ready: make(chan struct{})}
	for _, build := range []func(context.Context) error{b.openStore, b.openLogs, b.bind, b.connect} {
		if err := build(ctx); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	return b, nil
}

// metadataPath is where the embedded metadata lies.
func (b *Broker) metadataPath() string {
	if b.settings.MetadataPath != "" {
		return b.settings.MetadataPath
	}
	return filepath.Join(b.settings.LogDirs[0], "barnabas.metadata")
}

func (b *Broker) logOptions(clusterID string) storage.Options {
	s := b.settings
	return storage.Options{
		Dirs: s.LogDirs, Clock: b.o.Clock, Logger: b.o.Logger.Named("storage"), Metrics: b.metrics,
		BrokerID: s.ID, ClusterID: clusterID, LogConfig: b.logConfig,
		RetentionCheckInterval:  s.RetentionCheckInterval,
		FlushCheckpointInterval: s.RecoveryPointCheckpointInterval,
		HWCheckpointInterval:    s.HighWatermarkCheckpointInterval,
		RecoveryThreads:         max(s.RecoveryThreadsPerDir, 2),
	}
}

func (b *Broker) openStore(context.Context) (err error) {
	path := b.metadataPath()
	if err := storage.MakeDirs(filepath.Dir(path)); err != nil {
		return fmt.Errorf("metadata store %s: %w: name another file with --override barnabas.metadata.path=", path, err)
	}
	b.store, err = embedded.Open(path)
	return err
}

// openLogs opens the log directories under the cluster's id. A new store takes
// the id over that a log directory has.
func (b *Broker) openLogs(ctx context.Context) error {
	id, err := metadata.ClusterID(ctx, b.store, b.logOptions("").ReadClusterID())
	if err != nil {
		return err
	}
	b.logs, err = storage.Open(ctx, b.logOptions(id))
	return err
}

func (b *Broker) bind(context.Context) (err error) {
	s := b.settings
	o := server.Options{
		Clock: b.o.Clock, Logger: b.o.Logger.Named("server"), Metrics: b.metrics, Routes: make(map[int16]server.Handler),
		Limits: server.Limits{
			RequestMaxBytes: int(s.SocketRequestMaxBytes), Memory: s.RequestMemoryBytes, PendingReplies: s.PendingReplies,
			MaxConnections: bound(s.MaxConnections), MaxConnectionsPerIP: bound(s.MaxConnectionsPerIP),
			PerIPOverrides: make(map[string]int, len(s.ConnectionsPerIP)), IdleTimeout: idleTimeout(s.ConnectionsMaxIdle),
		},
	}
	for host, n := range s.ConnectionsPerIP {
		o.Limits.PerIPOverrides[host] = int(n)
	}
	for _, l := range s.Listeners {
		o.Listeners = append(o.Listeners, server.Listener{Name: l.Name, Address: joinHostPort(l.Host, l.Port)})
	}
	b.server, err = server.New(o)
	return err
}

// bound gives a limit the server's form, where 0 means none and -1 nobody.
func bound(n int32) int {
	if n == 0 {
		return -1
	}
	return int(n)
}

// idleTimeout gives connections.max.idle.ms the server's form: a negative one
// means that idle connections stay.
func idleTimeout(d time.Duration) time.Duration {
	if d < 0 {
		return math.MaxInt64
	}
	return max(d, time.Millisecond)
}

// connect builds what needs the bound ports, and ties the rooms together.
func (b *Broker) connect(context.Context) error {
	s := b.settings
	b.replicas = replication.New(replication.Options{
		Logs: b.logs, BrokerID: s.ID, LogConfig: b.logConfig, Topic: b.topicSettings,
		FetchMaxBytes: int(s.FetchMaxBytes), ReplicaLagTimeMax: s.ReplicaLagTimeMax,
		Clock: b.o.Clock, Logger: b.o.Logger.Named("replication"), Metrics: b.metrics,
	})
	b.metadata = metadata.New(metadata.Options{
		Store: b.store, BrokerID: s.ID, Endpoints: b.endpoints(), Rack: s.Rack, Local: b.replicas, Static: b.o.Static,
		OnConfig: b.configChanged, Clock: b.o.Clock, Logger: b.o.Logger.Named("metadata"), Metrics: b.metrics,
	})
	h := handlers.New(handlers.Options{
		Static: b.o.Static, Metadata: b.metadata, Replicas: b.replicas, Logs: b.logs,
		Sessions: fetchsession.New(fetchsession.Options{Slots: s.FetchSessions, Clock: b.o.Clock, Metrics: b.metrics}),
		BrokerID: s.ID, Clock: b.o.Clock, Logger: b.o.Logger.Named("handlers"), LogLevel: b.o.LogLevel, Metrics: b.metrics,
	})
	b.server.Handle(h.Routes())
	var err error
	b.observe, err = b.openObserve()
	return err
}

// endpoints are what clients are told, with the ports that were bound.
func (b *Broker) endpoints() []metadata.Endpoint {
	var endpoints []metadata.Endpoint
	addrs := b.server.Addrs()
	for i, l := range b.settings.Listeners {
		if !l.Advertised {
			continue
		}
		e := metadata.Endpoint{Listener: l.Name, SecurityProtocol: l.SecurityProtocol, Host: l.AdvertisedHost, Port: l.AdvertisedPort}
		if e.Port == 0 {
			e.Port = int32(addrs[i].Port)
		}
		endpoints = append(endpoints, e)
	}
	return endpoints
}

// Ready is closed once the broker answers clients.
func (b *Broker) Ready() <-chan struct{} { return b.ready }

// Describe are the facts of the ready line.
func (b *Broker) Describe() []zap.Field {
	var listeners []string
	for i, a := range b.server.Addrs() {
		listeners = append(listeners, b.settings.Listeners[i].Name+"://"+a.String())
	}
	fields := []zap.Field{
		zap.String("version", b.o.Version), zap.Int32("brokerId", b.settings.ID),
		zap.String("listeners", strings.Join(listeners, ",")), zap.String("logDirs", strings.Join(b.settings.LogDirs, ",")),
	}
	if b.observe != nil {
		fields = append(fields, zap.String("metrics", "http://"+b.observe.Addr()+"/metrics"))
	}
	return fields
}
