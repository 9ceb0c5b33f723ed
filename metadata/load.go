package metadata

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"barnabas/config"
	"barnabas/metadata/controller"
	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// load reads everything that the znodes say into machine and image.
func (m *Metadata) load(ctx context.Context) error {
	for _, step := range []func(context.Context) error{m.loadChanges, m.loadConfigs, m.loadTopics, m.loadDeletions} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("load the metadata: %w", err)
		}
	}
	return nil
}

// children reads a znode's children, and what they hold.
func (m *Metadata) children(ctx context.Context, parent string) (names []string, nodes []store.Node, err error) {
	if names, err = m.o.Store.Children(ctx, parent, nil); err != nil {
		return nil, nil, err
	}
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = parent + "/" + n
	}
	nodes, err = m.o.Store.GetAll(ctx, paths)
	return names, nodes, err
}

func (m *Metadata) loadConfigs(ctx context.Context) error {
	var edits []func(*editor)
	for _, kind := range []string{znode.Topics, znode.Brokers} {
		names, nodes, err := m.children(ctx, znode.ConfigKindPath(kind))
		if err != nil {
			return err
		}
		for i, name := range names {
			values, err := znode.DecodeConfig(nodes[i].Data)
			if err != nil {
				m.log.Error("settings cannot be read and are not in force: set them again", zap.String("kind", kind), zap.String("name", name), zap.Error(err))
				continue
			}
			edits = append(edits, func(e *editor) { e.setConfig(kind, name, values) })
		}
	}
	m.edit(edits...)
	return nil
}

func (m *Metadata) loadTopics(ctx context.Context) error {
	names, nodes, err := m.children(ctx, znode.TopicsPath)
	if err != nil {
		return err
	}
	var writes []controller.Write
	type place struct {
		topic     string
		partition int32
	}
	var places []place
	var paths []string
	for i, name := range names {
		doc, err := znode.DecodeTopic(nodes[i].Data)
		if err != nil {
			m.log.Error("a topic's znode cannot be read; the topic is not served", zap.String("topic", name), zap.Error(err))
			continue
		}
		m.machine.Apply(controller.TopicChanged{Name: name, Version: nodes[i].Stat.Version, Doc: doc})
		if doc.ID == (znode.TopicID{}) {
			writes = append(writes, m.machine.GiveID(name, randomID()))
		}
		for _, n := range doc.Numbers() {
			places = append(places, place{name, n})
			paths = append(paths, znode.PartitionStatePath(name, n))
		}
	}
	states, err := m.o.Store.GetAll(ctx, paths)
	if err != nil {
		return err
	}
	for i, n := range states {
		if n.Err != nil {
			continue // never online
		}
		s, err := znode.DecodePartitionState(n.Data)
		if err != nil {
			m.log.Error("a partition's state cannot be read; it is not served", zap.String("path", paths[i]), zap.Error(err))
			continue
		}
		m.machine.Apply(controller.StateChanged{Topic: places[i].topic, Partition: places[i].partition, Epoch: n.Stat.Version, State: *s})
	}
	_, err = m.write(ctx, writes)
	return err
}

// loadDeletions takes deletions up that were not finished.
func (m *Metadata) loadDeletions(ctx context.Context) error {
	names, err := m.o.Store.Children(ctx, znode.DeleteTopicsPath, nil)
	if err != nil {
		return err
	}
	var gone []controller.Write
	for _, name := range names {
		if m.machine.Topic(name) == nil {
			paths, err := m.topicPaths(ctx, name)
			if err != nil {
				return err
			}
			gone = append(gone, m.machine.Remove(name, paths)...)
			m.edit(func(e *editor) { e.setConfig(znode.Topics, name, nil) })
			continue
		}
		m.log.Info("the deletion of a topic goes on", zap.String("topic", name))
		m.machine.Apply(controller.DeletionQueued{Topic: name})
	}
	_, err = m.write(ctx, gone)
	return err
}

// topicPaths lists the znodes of a topic and its settings, children first.
func (m *Metadata) topicPaths(ctx context.Context, topic string) ([]string, error) {
	var paths []string
	for _, root := range []string{znode.TopicPath(topic), znode.EntityConfigPath(znode.Topics, topic)} {
		below, err := m.below(ctx, root)
		if err != nil {
			return nil, err
		}
		paths = append(paths, below...)
	}
	return paths, nil
}

// below lists a znode and all below it, children first; none if it is not there.
func (m *Metadata) below(ctx context.Context, path string) ([]string, error) {
	names, err := m.o.Store.Children(ctx, path, nil)
	if errors.Is(err, store.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, n := range names {
		more, err := m.below(ctx, path+"/"+n)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	return append(paths, path), nil
}

// brokerName is the image's name of a broker entity.
func brokerName(entity string) string {
	if entity == config.DefaultEntity {
		return ""
	}
	return entity
}
