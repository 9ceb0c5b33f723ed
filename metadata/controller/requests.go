package controller

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions of control requests that Kafka 3.9 speaks, and their sentinels.
const (
	leaderAndISRVersion   = 7
	updateMetadataVersion = 8
	stopReplicaVersion    = 4
	duringDelete          = -2
)

// pending is what brokers have not been told yet.
type pending struct {
	brokers bool                      // who is alive
	states  map[string]map[int32]bool // partitions with a new state; true: never had one
	news    map[string]map[int32]bool // partitions of which only UpdateMetadata tells
	leaving map[int32][]place         // by broker, replicas that it is to stop and to keep
	stops   map[string]bool           // topics to be deleted
}

func (p *pending) changed(t *Topic, n int32, isNew bool) {
	if p.states == nil {
		p.states = make(map[string]map[int32]bool)
	}
	if p.states[t.Name] == nil {
		p.states[t.Name] = make(map[int32]bool)
	}
	p.states[t.Name][n] = p.states[t.Name][n] || isNew
}

// place names a partition.
type place struct {
	topic     string
	partition int32
}

// told notes that all brokers are to hear of a partition.
func (p *pending) told(t *Topic, n int32) {
	if p.news == nil {
		p.news = make(map[string]map[int32]bool)
	}
	if p.news[t.Name] == nil {
		p.news[t.Name] = make(map[int32]bool)
	}
	p.news[t.Name][n] = true
}

// heard lists the partitions that UpdateMetadata tells of, by topic, in order.
func (p *pending) heard() (topics []string, partitions map[string][]int32) {
	sets := make(map[string]map[int32]bool, len(p.states)+len(p.news))
	for _, from := range []map[string]map[int32]bool{p.states, p.news} {
		for name, set := range from {
			if sets[name] == nil {
				sets[name] = set
				continue
			}
			both := maps.Clone(sets[name])
			maps.Copy(both, set)
			sets[name] = both
		}
	}
	partitions = make(map[string][]int32, len(sets))
	for name, set := range sets {
		partitions[name] = slices.Sorted(maps.Keys(set))
	}
	return slices.Sorted(maps.Keys(sets)), partitions
}

func (p *pending) stop(t *Topic) {
	if p.stops == nil {
		p.stops = make(map[string]bool)
	}
	p.stops[t.Name] = true
	delete(p.states, t.Name)
	delete(p.news, t.Name)
}

func (p *pending) forget(topic string) {
	delete(p.states, topic)
	delete(p.news, topic)
	delete(p.stops, topic)
	for id, places := range p.leaving {
		p.leaving[id] = slices.DeleteFunc(places, func(l place) bool { return l.topic == topic })
	}
}

// Requests are what one broker is told, in this order; nil parts are left out.
type Requests struct {
	Broker         int32
	LeaderAndISR   *kmsg.LeaderAndISRRequest
	UpdateMetadata *kmsg.UpdateMetadataRequest
	StopReplica    *kmsg.StopReplicaRequest
}

// TakeRequests gives what has to be told since it was last asked, by broker.
// full marks a broker's first LeaderAndIsr, which names all it has.
func (m *Machine) TakeRequests(full bool) []Requests {
	p := m.pending
	m.pending = pending{}
	if !p.brokers && len(p.states) == 0 && len(p.news) == 0 && len(p.leaving) == 0 && len(p.stops) == 0 {
		return nil
	}
	var out []Requests
	for _, b := range m.live() {
		out = append(out, Requests{
			Broker:         b.ID,
			LeaderAndISR:   m.leaderAndISR(b, &p, full),
			UpdateMetadata: m.updateMetadata(b, &p),
			StopReplica:    m.stopReplica(b, &p),
		})
	}
	return out
}

func (m *Machine) leaderAndISR(b *Broker, p *pending, full bool) *kmsg.LeaderAndISRRequest {
	req := kmsg.NewPtrLeaderAndISRRequest()
	req.Version = leaderAndISRVersion
	req.ControllerID, req.ControllerEpoch, req.BrokerEpoch = m.id, m.epoch, b.Epoch
	req.Type = 1
	if full {
		req.Type = 2
	}
	leaders := make(map[int32]bool)
	for _, name := range slices.Sorted(maps.Keys(p.states)) {
		t := m.topics[name]
		state := kmsg.NewLeaderAndISRRequestTopicState()
		state.Topic, state.TopicID = name, t.ID
		for _, n := range slices.Sorted(maps.Keys(p.states[name])) {
			part := &t.Partitions[n]
			if part.Epoch < 0 || !slices.Contains(part.Replicas, b.ID) || m.offline[name][replica{n, b.ID}] {
				continue
			}
			s := kmsg.NewLeaderAndISRRequestTopicPartition()
			s.Partition, s.ControllerEpoch = n, part.State.ControllerEpoch
			s.Leader, s.LeaderEpoch, s.ISR = part.State.Leader, part.State.LeaderEpoch, part.State.ISR
			s.ZKVersion, s.Replicas = part.Epoch, part.Replicas
			s.AddingReplicas, s.RemovingReplicas = part.Adding, part.Removing
			s.IsNew, s.LeaderRecoveryState = p.states[name][n], int8(part.State.Recovery)
			state.PartitionStates = append(state.PartitionStates, s)
			leaders[s.Leader] = true
		}
		if len(state.PartitionStates) > 0 {
			req.TopicStates = append(req.TopicStates, state)
		}
	}
	if len(req.TopicStates) == 0 {
		return nil
	}
	for _, l := range m.live() {
		if leaders[l.ID] && len(l.Endpoints) > 0 {
			live := kmsg.NewLeaderAndISRRequestLiveLeader()
			live.BrokerID, live.Host, live.Port = l.ID, l.Endpoints[0].Host, l.Endpoints[0].Port
			req.LiveLeaders = append(req.LiveLeaders, live)
		}
	}
	return req
}

func (m *Machine) updateMetadata(b *Broker, p *pending) *kmsg.UpdateMetadataRequest {
	req := kmsg.NewPtrUpdateMetadataRequest()
	req.Version = updateMetadataVersion
	req.ControllerID, req.ControllerEpoch, req.BrokerEpoch = m.id, m.epoch, b.Epoch
	topics, partitions := p.heard()
	for _, name := range topics {
		m.tellTopic(req, m.topics[name], partitions[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.stops)) {
		t := m.topics[name]
		all := make([]int32, len(t.Partitions))
		for i := range all {
			all[i] = int32(i)
		}
		m.tellTopic(req, t, all)
	}
	for _, l := range m.live() {
		live := kmsg.NewUpdateMetadataRequestLiveBroker()
		live.ID = l.ID
		if l.Rack != "" {
			live.Rack = kmsg.StringPtr(l.Rack)
		}
		for _, e := range l.Endpoints {
			end := kmsg.NewUpdateMetadataRequestLiveBrokerEndpoint()
			end.Host, end.Port, end.ListenerName, end.SecurityProtocol = e.Host, e.Port, e.Listener, SecurityProtocolID(e.SecurityProtocol)
			live.Endpoints = append(live.Endpoints, end)
		}
		req.LiveBrokers = append(req.LiveBrokers, live)
	}
	return req
}

func (m *Machine) tellTopic(req *kmsg.UpdateMetadataRequest, t *Topic, partitions []int32) {
	state := kmsg.NewUpdateMetadataRequestTopicState()
	state.Topic, state.TopicID = t.Name, t.ID
	for _, n := range partitions {
		p := &t.Partitions[n]
		s := kmsg.NewUpdateMetadataRequestTopicPartition()
		s.Partition, s.ControllerEpoch = n, p.State.ControllerEpoch
		s.Leader, s.LeaderEpoch, s.ISR = p.State.Leader, p.State.LeaderEpoch, p.State.ISR
		s.ZKVersion, s.Replicas = p.Epoch, p.Replicas
		if t.Deleting {
			s.Leader, s.LeaderEpoch = duringDelete, duringDelete
		} else if p.Epoch < 0 {
			continue
		}
		for _, r := range p.Replicas {
			if !m.alive(t, n, r) {
				s.OfflineReplicas = append(s.OfflineReplicas, r)
			}
		}
		state.PartitionStates = append(state.PartitionStates, s)
	}
	if len(state.PartitionStates) > 0 {
		req.TopicStates = append(req.TopicStates, state)
	}
}

func (m *Machine) stopReplica(b *Broker, p *pending) *kmsg.StopReplicaRequest {
	req := kmsg.NewPtrStopReplicaRequest()
	req.Version = stopReplicaVersion
	req.ControllerID, req.ControllerEpoch, req.BrokerEpoch = m.id, m.epoch, b.Epoch
	for _, name := range slices.Sorted(maps.Keys(p.stops)) {
		t := m.topics[name]
		stop := kmsg.NewStopReplicaRequestTopic()
		stop.Topic = name
		for i := range t.Partitions {
			if !slices.Contains(t.Partitions[i].Replicas, b.ID) {
				continue
			}
			s := kmsg.NewStopReplicaRequestTopicPartitionState()
			s.Partition, s.LeaderEpoch, s.Delete = int32(i), duringDelete, true
			stop.PartitionStates = append(stop.PartitionStates, s)
		}
		if len(stop.PartitionStates) > 0 {
			req.Topics = append(req.Topics, stop)
		}
	}
	m.stopLeaving(req, p.leaving[b.ID])
	if len(req.Topics) == 0 {
		return nil
	}
	return req
}

// SecurityProtocolID is Kafka's number of a security protocol; SecurityProtocol
// its name.
func SecurityProtocolID(name string) int16 {
	return int16(max(0, slices.Index(securityProtocols[:], name)))
}

// SecurityProtocol is the name of a security protocol, PLAINTEXT if unknown.
func SecurityProtocol(id int16) string {
	if id < 0 || int(id) >= len(securityProtocols) {
		return securityProtocols[0]
	}
	return securityProtocols[id]
}

var securityProtocols = [...]string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
