package metadata

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"barnabas/metadata/controller"
	"barnabas/metadata/image"
	"barnabas/metadata/znode"
)

// tell sends the brokers what they have to know, in Kafka's order, until
// nothing is left: an answer may change the state again.
func (m *Metadata) tell(ctx context.Context) error {
	full := !m.isReady()
	for {
		requests := m.machine.TakeRequests(full)
		var failed []string
		for i := range requests {
			if r := &requests[i]; r.Broker == m.o.BrokerID {
				failed = append(failed, m.order(r)...)
			}
		}
		if err := m.finishDeletions(ctx); err != nil {
			return err
		}
		if len(failed) == 0 {
			return nil
		}
		for _, writes := range [][]controller.Write{m.machine.BringOnline(m.unclean, failed...), m.machine.Shrink()} {
			if _, err := m.write(ctx, writes); err != nil {
				return err
			}
		}
	}
}

func (m *Metadata) isReady() bool {
	select {
	case <-m.ready:
		return true
	default:
		return false
	}
}

// order gives this broker its orders and the machine the answers. It returns
// the topics that have replicas which cannot be served.
func (m *Metadata) order(r *controller.Requests) (failed []string) {
	if r.LeaderAndISR != nil {
		failed = m.answered(r.LeaderAndISR, m.o.Local.LeaderAndISR(r.LeaderAndISR))
	}
	if r.UpdateMetadata != nil {
		m.updateMetadata(r.UpdateMetadata)
	}
	if r.StopReplica != nil {
		m.stopAnswered(m.o.Local.StopReplica(r.StopReplica))
	}
	return failed
}

// answered looks at the answer to a LeaderAndIsr.
func (m *Metadata) answered(req *kmsg.LeaderAndISRRequest, resp *kmsg.LeaderAndISRResponse) (failed []string) {
	if resp.ErrorCode != 0 {
		m.log.Error("the broker refuses its orders", zap.Error(kerr.ErrorForCode(resp.ErrorCode)))
		return nil
	}
	names := make(map[[16]byte]string, len(req.TopicStates))
	for i := range req.TopicStates {
		names[req.TopicStates[i].TopicID] = req.TopicStates[i].Topic
	}
	for i := range resp.Topics {
		topic := names[resp.Topics[i].TopicID]
		var offline []int32
		for _, p := range resp.Topics[i].Partitions {
			switch p.ErrorCode {
			case 0:
			case kerr.KafkaStorageError.Code:
				offline = append(offline, p.Partition)
			default:
				m.log.Error("the broker refuses a partition", zap.String("topic", topic), zap.Int32("partition", p.Partition), zap.Error(kerr.ErrorForCode(p.ErrorCode)))
			}
		}
		if len(offline) > 0 {
			m.log.Error("replicas are offline: their log directory has failed", zap.String("topic", topic), zap.Int32s("partitions", offline))
			m.machine.ReplicasOffline(m.o.BrokerID, topic, offline)
			failed = append(failed, topic)
		}
	}
	return failed
}

// stopAnswered looks at the answer to a StopReplica that deletes.
func (m *Metadata) stopAnswered(resp *kmsg.StopReplicaResponse) {
	if resp.ErrorCode != 0 {
		m.log.Error("the broker refuses to delete replicas", zap.Error(kerr.ErrorForCode(resp.ErrorCode)))
		return
	}
	done := make(map[string][]int32)
	for _, p := range resp.Partitions {
		if p.ErrorCode != 0 {
			m.log.Error("a replica could not be deleted; it is tried again at the next start",
				zap.String("topic", p.Topic), zap.Int32("partition", p.Partition), zap.Error(kerr.ErrorForCode(p.ErrorCode)))
			continue
		}
		done[p.Topic] = append(done[p.Topic], p.Partition)
	}
	for topic, partitions := range done {
		m.machine.ReplicasDeleted(m.o.BrokerID, topic, partitions)
	}
}

// finishDeletions removes the znodes of topics all of whose replicas are gone.
func (m *Metadata) finishDeletions(ctx context.Context) error {
	topics := m.machine.Deletable()
	if len(topics) == 0 {
		return nil
	}
	var writes []controller.Write
	for _, topic := range topics {
		paths, err := m.topicPaths(ctx, topic)
		if err != nil {
			return err
		}
		writes = append(writes, m.machine.Remove(topic, paths)...)
	}
	failed, err := m.write(ctx, writes)
	if err != nil {
		return err
	}
	for _, err := range failed {
		if err != nil {
			m.log.Error("a deleted topic's znodes could not be removed", zap.Error(err))
		}
	}
	m.edit(func(e *editor) {
		for _, topic := range topics {
			e.RemoveTopic(topic)
			e.setConfig(znode.Topics, topic, nil)
		}
	})
	for _, topic := range topics {
		m.log.Info("topic deleted", zap.String("topic", topic))
	}
	return nil
}

// editor is the image's, with the entities' names.
type editor struct{ *image.Editor }

func (e *editor) setConfig(kind, name string, values map[string]string) {
	if kind == znode.Topics {
		e.SetTopicConfig(name, values)
	} else {
		e.SetBrokerConfig(brokerName(name), values)
	}
}

// edit publishes a new image. Only the goroutine of Run calls it.
func (m *Metadata) edit(changes ...func(*editor)) {
	e := &editor{m.Image().Edit()}
	for _, change := range changes {
		change(e)
	}
	m.image.Store(e.Done())
}

// updateMetadata makes the image that the controller's word says (API 6).
func (m *Metadata) updateMetadata(req *kmsg.UpdateMetadataRequest) {
	m.edit(func(e *editor) {
		e.SetCluster(m.Image().ClusterID, req.ControllerID)
		brokers := make([]*image.Broker, 0, len(req.LiveBrokers))
		for i := range req.LiveBrokers {
			brokers = append(brokers, m.liveBroker(&req.LiveBrokers[i]))
		}
		e.SetBrokers(brokers)
		for i := range req.TopicStates {
			updateTopic(e, &req.TopicStates[i])
		}
	})
}

func (m *Metadata) liveBroker(l *kmsg.UpdateMetadataRequestLiveBroker) *image.Broker {
	b := &image.Broker{ID: l.ID, Epoch: -1}
	if l.ID == m.o.BrokerID {
		b.Epoch = m.BrokerEpoch()
	}
	if l.Rack != nil {
		b.Rack = *l.Rack
	}
	for _, e := range l.Endpoints {
		b.Endpoints = append(b.Endpoints, image.Endpoint{
			Listener: e.ListenerName, SecurityProtocol: controller.SecurityProtocol(e.SecurityProtocol), Host: e.Host, Port: e.Port,
		})
	}
	return b
}

// updateTopic puts a topic's new states over the old ones. One that is being
// deleted goes.
func updateTopic(e *editor, s *kmsg.UpdateMetadataRequestTopicState) {
	t := &image.Topic{Name: s.Topic, ID: s.TopicID}
	if old := e.Topic(s.Topic); old != nil && old.ID == s.TopicID {
		t.Partitions = slices.Clone(old.Partitions)
	}
	for i := range s.PartitionStates {
		p := &s.PartitionStates[i]
		if p.Leader == image.LeaderDuringDelete {
			e.RemoveTopic(s.Topic)
			return
		}
		for int(p.Partition) >= len(t.Partitions) {
			t.Partitions = append(t.Partitions, image.Unknown())
		}
		t.Partitions[p.Partition] = image.Partition{
			Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.ZKVersion, ControllerEpoch: p.ControllerEpoch,
			ISR: p.ISR, Replicas: p.Replicas, Offline: p.OfflineReplicas,
		}
	}
	e.PutTopic(t)
}
