package controller

import (
	"maps"
	"slices"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// The states of a partition follow from its state znode and from who is alive:
//
//	            | BringOnline                   | its leader dies        | another of its ISR dies | QueueDeletion
//	------------+-------------------------------+------------------------+-------------------------+---------------
//	New         | Online under the first live   | –                      | –                       | Deleting
//	(no state)  | replica, all live ones in ISR |                        |                         |
//	Online      | –                             | Offline                | Shrink: Online, without | Deleting
//	(leader is  |                               |                        | it in the ISR           |
//	 there)     |                               |                        |                         |
//	Offline     | Online under another of the   | –                      | –                       | Deleting
//	(leader is  | ISR (unclean: any live one);  |                        |                         |
//	 gone, -1)  | if none, leader -1 is written |                        |                         |
//	Deleting    | –                             | waits for it           | waits for it            | –
//	            |                               |                        |                         |
//
// Deleting ends with Remove, when every replica of the topic was confirmed
// (ReplicasDeleted). Besides, while Online: AlterPartition changes the ISR and
// raises the partition epoch only; Stopping moves the leader to one that stays;
// Preferred moves it to the first replica. Each write of a state by anything but
// AlterPartition raises the leader epoch by one.

// Broker is a broker that is alive. Its epoch is the czxid of its registration.
type Broker struct {
	ID        int32
	Epoch     int64
	Endpoints []znode.Endpoint
	Rack      string
}

// Partition is one partition: who should have it, and who leads it.
type Partition struct {
	Replicas         []int32 // assigned
	Adding, Removing []int32
	// Epoch is the version of the state's znode; -1 while there is none.
	Epoch int32
	State znode.PartitionState // holds if Epoch >= 0
}

// Online reports whether somebody leads the partition.
func (p *Partition) Online() bool { return p.Epoch >= 0 && p.State.Leader >= 0 }

// Topic is one topic.
type Topic struct {
	Name       string
	ID         znode.TopicID
	Version    int32 // of its znode
	Partitions []Partition
	// Deleting is true from the request to delete it until its znodes are gone.
	Deleting bool
	// stopped is how many of its replicas have been confirmed as deleted.
	stopped map[replica]bool
}

// replica is one broker's copy of one partition of a topic.
type replica struct{ partition, broker int32 }

// Machine is the controller's state.
type Machine struct {
	id           int32
	epoch        int32
	epochVersion int32
	brokers      map[int32]*Broker
	topics       map[string]*Topic
	// stopping are brokers that are about to leave: they lead nothing new.
	stopping map[int32]bool
	// offline are replicas on a failed log directory.
	offline map[string]map[replica]bool
	pending pending
}

// New gives the machine of a broker that was elected in an epoch.
// epochVersion is the version of /controller_epoch, which every write checks.
func New(id, epoch, epochVersion int32) *Machine {
	return &Machine{
		id: id, epoch: epoch, epochVersion: epochVersion,
		brokers: make(map[int32]*Broker), topics: make(map[string]*Topic), stopping: make(map[int32]bool),
		offline: make(map[string]map[replica]bool),
	}
}

// Epoch is the controller's epoch.
func (m *Machine) Epoch() int32 { return m.epoch }

// Topic finds a topic, nil if there is none. It must not be changed.
func (m *Machine) Topic(name string) *Topic { return m.topics[name] }

// Write is a transaction on znodes, and what holds once it succeeded.
type Write struct {
	Ops    []store.Op
	Change Change // nil: nothing that the machine keeps
}

// fenced puts the check of the controller's epoch before operations.
func (m *Machine) fenced(change Change, ops ...store.Op) Write {
	all := make([]store.Op, 0, len(ops)+1)
	all = append(all, store.Check(znode.ControllerEpochPath, m.epochVersion))
	return Write{append(all, ops...), change}
}

// Change is a fact that Apply takes in.
type Change interface{ apply(m *Machine) }

// BrokersChanged are all brokers that are alive now.
type BrokersChanged struct{ Brokers []*Broker }

// TopicChanged is a topic as its znode has it: new, or grown. Partitions keep
// the state they have.
type TopicChanged struct {
	Name    string
	Version int32
	Doc     *znode.Topic
}

// StateChanged is a partition's state as it was read or written. New is true of
// the first state a partition ever had.
type StateChanged struct {
	Topic     string
	Partition int32
	Epoch     int32
	State     znode.PartitionState
	New       bool
}

// ISRChanged is a partition's state after its leader changed the ISR: the
// leader epoch is the same, so that only UpdateMetadata tells of it.
type ISRChanged struct {
	Topic     string
	Partition int32
	Epoch     int32
	State     znode.PartitionState
}

// DeletionQueued is a topic that is going to be deleted.
type DeletionQueued struct{ Topic string }

// TopicDeleted is a topic whose znodes are gone.
type TopicDeleted struct{ Topic string }

// Apply takes a fact in.
func (m *Machine) Apply(c Change) {
	if c != nil {
		c.apply(m)
	}
}

func (c BrokersChanged) apply(m *Machine) {
	before := maps.Clone(m.brokers)
	clear(m.brokers)
	for _, b := range c.Brokers {
		m.brokers[b.ID] = b
	}
	for id := range m.stopping { // a broker that is gone, or in another life, does not stop any more
		if b := m.brokers[id]; b == nil || b.Epoch != before[id].Epoch {
			delete(m.stopping, id)
		}
	}
	m.pending.brokers = true
}

func (c TopicChanged) apply(m *Machine) {
	t := m.topics[c.Name]
	if t == nil {
		t = &Topic{Name: c.Name}
		m.topics[c.Name] = t
	}
	t.ID, t.Version = c.Doc.ID, c.Version
	for i, n := range c.Doc.Numbers() {
		if int(n) != i {
			break // a hole: what is behind it is not served, as nobody can have made it
		}
		if i == len(t.Partitions) {
			t.Partitions = append(t.Partitions, Partition{Epoch: -1})
		}
		p := &t.Partitions[i]
		p.Replicas, p.Adding, p.Removing = c.Doc.Partitions[n], c.Doc.Adding[n], c.Doc.Removing[n]
	}
}

func (c StateChanged) apply(m *Machine) {
	t := m.topics[c.Topic]
	if t == nil || int(c.Partition) >= len(t.Partitions) {
		return
	}
	p := &t.Partitions[c.Partition]
	p.Epoch, p.State = c.Epoch, c.State
	m.pending.changed(t, c.Partition, c.New)
}

func (c ISRChanged) apply(m *Machine) {
	t := m.topics[c.Topic]
	if p := m.partition(t, c.Partition); p != nil {
		p.Epoch, p.State = c.Epoch, c.State
		m.pending.told(t, c.Partition)
	}
}

func (c DeletionQueued) apply(m *Machine) {
	t := m.topics[c.Topic]
	if t == nil || t.Deleting {
		return
	}
	t.Deleting, t.stopped = true, make(map[replica]bool)
	m.pending.stop(t)
}

func (c TopicDeleted) apply(m *Machine) {
	delete(m.topics, c.Topic)
	delete(m.offline, c.Topic)
	m.pending.forget(c.Topic)
}

// live lists the brokers that are alive, by id.
func (m *Machine) live() []*Broker {
	out := make([]*Broker, 0, len(m.brokers))
	for _, id := range slices.Sorted(maps.Keys(m.brokers)) {
		out = append(out, m.brokers[id])
	}
	return out
}

// nodes are the live brokers as placement sees them.
func (m *Machine) nodes() []Node {
	var out []Node
	for _, b := range m.live() {
		out = append(out, Node{b.ID, b.Rack})
	}
	return out
}

// alive reports whether a broker has a usable replica of a partition, and stays.
func (m *Machine) alive(t *Topic, partition, broker int32) bool {
	return m.present(t, partition, broker) && !m.stopping[broker]
}

// present is alive, brokers that are about to leave included.
func (m *Machine) present(t *Topic, partition, broker int32) bool {
	return m.brokers[broker] != nil && !m.offline[t.Name][replica{partition, broker}]
}

// partition finds a partition, nil if there is none.
func (m *Machine) partition(t *Topic, n int32) *Partition {
	if t == nil || n < 0 || int(n) >= len(t.Partitions) {
		return nil
	}
	return &t.Partitions[n]
}
