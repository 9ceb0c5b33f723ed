package metadata

import (
	"context"
	"errors"
	"fmt"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// ClusterID gives the cluster's id. A cluster that has none gets the proposed
// one, or with an empty proposal a random one.
func ClusterID(ctx context.Context, s store.Store, proposed string) (string, error) {
	for {
		n, err := s.Get(ctx, znode.ClusterIDPath, nil)
		if err == nil {
			return znode.DecodeClusterID(n.Data)
		}
		if !errors.Is(err, store.ErrNoNode) {
			return "", fmt.Errorf("cluster id: %w", err)
		}
		if proposed == "" {
			proposed = znode.FormatTopicID(randomID())
		}
		if err := store.Ensure(ctx, s, znode.ClusterPath); err != nil {
			return "", fmt.Errorf("cluster id: %w", err)
		}
		_, err = store.Do(ctx, s, store.Create(znode.ClusterIDPath, znode.EncodeClusterID(proposed), store.Persistent))
		if err != nil && !errors.Is(err, store.ErrNodeExists) {
			return "", fmt.Errorf("cluster id: %w", err)
		}
	}
}

// register makes the broker known. The czxid of its znode is its epoch.
func (m *Metadata) register(ctx context.Context) error {
	doc := znode.Broker{Endpoints: m.o.Endpoints, Rack: m.o.Rack, JMXPort: -1, TimestampMs: m.now()}
	path := znode.BrokerPath(m.o.BrokerID)
	results, err := m.o.Store.Multi(ctx, store.Create(path, nil, store.Ephemeral), store.Set(path, doc.Encode(), 0))
	switch {
	case errors.Is(err, store.ErrNodeExists):
		return fmt.Errorf("broker %d is registered already: another broker has this broker.id; stop it or change broker.id", m.o.BrokerID)
	case err != nil:
		return fmt.Errorf("register broker %d: %w", m.o.BrokerID, err)
	}
	epoch := results[1].Stat.Czxid
	m.epoch.Store(epoch)
	if b, ok := m.o.Local.(interface{ SetBrokerEpoch(epoch int64) }); ok {
		b.SetBrokerEpoch(epoch)
	}
	return nil
}

// elect makes this broker the controller. epochVersion is the version that
// /controller_epoch has then.
func (m *Metadata) elect(ctx context.Context) (epoch, epochVersion int32, err error) {
	_, err = store.Do(ctx, m.o.Store, store.Create(znode.ControllerEpochPath, znode.EncodeControllerEpoch(0), store.Persistent))
	if err != nil && !errors.Is(err, store.ErrNodeExists) {
		return 0, 0, fmt.Errorf("elect a controller: %w", err)
	}
	n, err := m.o.Store.Get(ctx, znode.ControllerEpochPath, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("elect a controller: %w", err)
	}
	last, err := znode.DecodeControllerEpoch(n.Data)
	if err != nil {
		return 0, 0, fmt.Errorf("elect a controller: %w", err)
	}
	doc := znode.Controller{BrokerID: m.o.BrokerID, TimestampMs: m.now()}
	_, err = m.o.Store.Multi(ctx,
		store.Create(znode.ControllerPath, doc.Encode(), store.Ephemeral),
		store.Set(znode.ControllerEpochPath, znode.EncodeControllerEpoch(last+1), n.Stat.Version))
	if err != nil {
		return 0, 0, fmt.Errorf("elect broker %d as controller: %w", m.o.BrokerID, err)
	}
	return last + 1, n.Stat.Version + 1, nil
}
