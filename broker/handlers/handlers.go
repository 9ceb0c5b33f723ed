package handlers

import (
	"go.uber.org/zap"

	"barnabas/broker/fetchsession"
	"barnabas/config"
	"barnabas/internal/clock"
	"barnabas/internal/metrics"
	"barnabas/metadata"
	"barnabas/replication"
	"barnabas/storage"
)

// Options are the rooms that handlers call into. All are needed, but for
// Metrics and LogLevel.
type Options struct {
	// Static is the configuration the broker was started with.
	Static *config.Static
	// Metadata answers what the cluster looks like and changes it.
	Metadata *metadata.Metadata
	// Replicas holds this broker's replicas: appends, reads, waits.
	Replicas *replication.Manager
	// Logs are the log directories.
	Logs *storage.Manager
	// Sessions are the fetch sessions of KIP-227.
	Sessions *fetchsession.Cache
	// BrokerID is this broker's id.
	BrokerID int32
	// Clock tells the time.
	Clock clock.Clock
	// Logger takes what an operator should see.
	Logger *zap.Logger
	// LogLevel is the broker's log level, changed through BROKER_LOGGER configs.
	LogLevel zap.AtomicLevel
	// Metrics takes the handlers' figures. nil keeps them to themselves.
	Metrics *metrics.Registry
}

// Handlers has one method an API. It is safe for use by many connections at
// once; it keeps no state of its own.
type Handlers struct {
	static   *config.Static
	meta     *metadata.Metadata
	replicas *replication.Manager
	logs     *storage.Manager
	sessions *fetchsession.Cache
	brokerID int32
	clock    clock.Clock
	log      *zap.Logger
	logLevel zap.AtomicLevel
	metrics  *metrics.Registry
}

// New connects the handlers to the rooms they call.
func New(o Options) *Handlers {
	return &Handlers{
		static:   o.Static,
		meta:     o.Metadata,
		replicas: o.Replicas,
		logs:     o.Logs,
		sessions: o.Sessions,
		brokerID: o.BrokerID,
		clock:    o.Clock,
		log:      o.Logger,
		logLevel: o.LogLevel,
		metrics:  o.Metrics,
	}
}
