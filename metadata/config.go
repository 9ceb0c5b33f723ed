package metadata

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// changeKept is how long a notification of changed settings stays: brokers that
// were away look at the settings themselves when they start.
const changeKept = 15 * time.Minute

// configChange is a notification that is still there.
type configChange struct {
	path string
	ms   int64 // when it was made
}

// SetConfig replaces all settings of an entity: kind is topics or brokers, name
// a topic, a broker's id or <default>. The values must be valid. It returns once
// Image shows them and OnConfig was called. A topic that does not exist is
// UNKNOWN_TOPIC_OR_PARTITION.
func (m *Metadata) SetConfig(ctx context.Context, kind, name string, values map[string]string) error {
	values = maps.Clone(values)
	var answer error
	_, err := m.steps(ctx, func(ctx context.Context) (func(context.Context) error, error) {
		if t := m.machine.Topic(name); kind == znode.Topics && (t == nil || t.Deleting) {
			answer = kerr.UnknownTopicOrPartition
			return nil, nil
		}
		var fatal error
		answer, fatal = m.setConfig(ctx, kind, name, values)
		return nil, fatal
	})
	if err != nil {
		return err
	}
	return answer
}

// setConfig writes settings and tells of them. refused is why this entity's
// cannot be written; fatal is a failure of the store.
func (m *Metadata) setConfig(ctx context.Context, kind, name string, values map[string]string) (refused, fatal error) {
	path, doc := znode.EntityConfigPath(kind, name), znode.EncodeConfig(values)
	entity := store.Create(path, doc, store.Persistent)
	if _, there, err := m.o.Store.Exists(ctx, path, nil); err != nil {
		return nil, err
	} else if there {
		entity = store.Set(path, doc, store.AnyVersion)
	}
	notice := store.Create(znode.ConfigChangePrefix(), znode.EncodeConfigChange(kind+"/"+name), store.Sequential)
	outcomes, err := m.o.Store.Pipeline(ctx, [][]store.Op{{entity}, {notice}})
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		if o.Err != nil {
			return fmt.Errorf("write the settings of %s/%s: %w", kind, name, o.Err), nil
		}
	}
	m.changes = append(m.changes, configChange{outcomes[1].Results[0].Path, m.now()})
	m.edit(func(e *editor) { e.setConfig(kind, name, values) })
	m.log.Info("settings changed", zap.String("kind", kind), zap.String("name", name), zap.Strings("set", slices.Sorted(maps.Keys(values))))
	m.o.OnConfig(kind, name)
	return nil, m.purgeChanges(ctx)
}

// purgeChanges removes notifications that are old.
func (m *Metadata) purgeChanges(ctx context.Context) error {
	var old [][]store.Op
	for len(m.changes) > 0 && m.changes[0].ms+changeKept.Milliseconds() < m.now() {
		old = append(old, []store.Op{store.Delete(m.changes[0].path, store.AnyVersion)})
		m.changes = m.changes[1:]
	}
	if len(old) == 0 {
		return nil
	}
	outcomes, err := m.o.Store.Pipeline(ctx, old)
	for _, o := range outcomes {
		if o.Err != nil && !errors.Is(o.Err, store.ErrNoNode) {
			err = errors.Join(err, o.Err)
		}
	}
	return err
}

// loadChanges finds the notifications that are still there. What they are about
// is read anyway.
func (m *Metadata) loadChanges(ctx context.Context) error {
	names, nodes, err := m.children(ctx, znode.ConfigChangesPath)
	if err != nil {
		return err
	}
	for i, name := range names {
		m.changes = append(m.changes, configChange{znode.ConfigChangesPath + "/" + name, nodes[i].Stat.Ctime})
	}
	return m.purgeChanges(ctx)
}
