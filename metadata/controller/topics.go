package controller

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/metadata/store"
	"barnabas/metadata/znode"
)

// NewTopic is a topic to be made.
type NewTopic struct {
	Name string
	ID   znode.TopicID
	// Partitions and ReplicationFactor count if there is no Assignment.
	Partitions        int32
	ReplicationFactor int32
	// Assignment is the replicas of each partition, or nil.
	Assignment map[int32][]int32
	// Config is its own settings.
	Config map[string]string
	// Spread is where placement begins, at random.
	Spread Spread
}

// CheckName says in Kafka's words why a name is none for a topic.
func CheckName(name string) error {
	const longest = 249
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	problem := ""
	switch {
	case name == "":
		problem = "the empty string is not allowed"
	case name == "." || name == "..":
		problem = "'" + name + "' is not allowed"
	case len(name) > longest:
		problem = "the length of '" + name + "' is longer than the max allowed length " + strconv.Itoa(longest)
	case strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }):
		problem = "'" + name + "' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
	default:
		return nil
	}
	return refuse(kerr.InvalidTopicException, "Topic name is invalid: "+problem)
}

// Assign gives the replicas that a new topic's partitions get, or why it cannot
// have them. It does not look at the name.
func (m *Machine) Assign(t *NewTopic) (map[int32][]int32, error) {
	if len(t.Assignment) > 0 {
		return t.Assignment, nil
	}
	placed, err := Place(m.nodes(), 0, t.Partitions, t.ReplicationFactor, t.Spread)
	if err != nil {
		return nil, err
	}
	out := make(map[int32][]int32, len(placed))
	for i, replicas := range placed {
		out[int32(i)] = replicas
	}
	return out, nil
}

// CheckNew judges a new topic's name and assignment, in Kafka's order. planned
// are the names of topics that are made along with it.
func (m *Machine) CheckNew(name string, assignment map[int32][]int32, planned ...string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if t := m.topics[name]; t != nil {
		if t.Deleting {
			return refuse(kerr.TopicAlreadyExists, "Topic '"+name+"' is marked for deletion.")
		}
		return AlreadyExists(name)
	}
	if err := m.checkCollision(name, planned); err != nil {
		return err
	}
	return checkAssignment(assignment)
}

// AlreadyExists refuses a topic that is there.
func AlreadyExists(name string) error {
	return refuse(kerr.TopicAlreadyExists, "Topic '"+name+"' already exists.")
}

// checkCollision refuses names that differ only in dots and underscores: the
// names of their metrics would be the same.
func (m *Machine) checkCollision(name string, planned []string) error {
	if !strings.ContainsAny(name, "._") {
		return nil
	}
	unify := func(s string) string { return strings.ReplaceAll(s, ".", "_") }
	unified := unify(name)
	var same []string
	compare := func(other string) {
		if len(other) == len(name) && unify(other) == unified {
			same = append(same, other)
		}
	}
	for other := range m.topics {
		compare(other)
	}
	for _, other := range planned {
		compare(other)
	}
	if len(same) == 0 {
		return nil
	}
	slices.Sort(same)
	return refuse(kerr.InvalidTopicException, "Topic '"+name+"' collides with existing topics: "+strings.Join(same, ", "))
}

func checkAssignment(assignment map[int32][]int32) error {
	numbers := slices.Sorted(maps.Keys(assignment))
	for _, n := range numbers {
		if len(assignment[n]) != len(assignment[numbers[0]]) {
			return refuse(kerr.InvalidReplicaAssignment, "All partitions should have the same number of replicas")
		}
	}
	for _, n := range numbers {
		if repeats(assignment[n]) {
			return refuse(kerr.InvalidReplicaAssignment, "Duplicate replica assignment found: "+scalaAssignment(numbers, assignment))
		}
	}
	for i, n := range numbers {
		if int(n) != i {
			return refuse(kerr.InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
	}
	return nil
}

func repeats(ids []int32) bool {
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return true
		}
	}
	return false
}

// scalaAssignment writes an assignment as Scala prints it.
func scalaAssignment(numbers []int32, assignment map[int32][]int32) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = decimal(n) + " -> ArrayBuffer(" + join(assignment[n]) + ")"
	}
	return "HashMap(" + strings.Join(parts, ", ") + ")"
}

func join(ids []int32) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = decimal(id)
	}
	return strings.Join(text, ", ")
}

// CreateTopic writes a topic that was judged: its settings, then itself.
func (m *Machine) CreateTopic(t *NewTopic, assignment map[int32][]int32, configThere bool) []Write {
	doc := &znode.Topic{ID: t.ID, Partitions: assignment}
	var writes []Write
	configPath, config := znode.EntityConfigPath(znode.Topics, t.Name), znode.EncodeConfig(t.Config)
	if configThere { // left by a topic of that name
		writes = append(writes, m.fenced(nil, store.Set(configPath, config, store.AnyVersion)))
	} else {
		writes = append(writes, m.fenced(nil, store.Create(configPath, config, store.Persistent)))
	}
	return append(writes, m.fenced(TopicChanged{t.Name, 0, doc}, store.Create(znode.TopicPath(t.Name), doc.Encode(), store.Persistent)))
}

// Growth is a topic that is to have more partitions.
type Growth struct {
	Topic string
	Count int32
	// Assignment is the replicas of the new partitions; nil places them.
	Assignment [][]int32
}

// CheckGrowth judges it, in Kafka's order, and gives the replicas of the new
// partitions.
func (m *Machine) CheckGrowth(g *Growth) ([][]int32, error) {
	t := m.topics[g.Topic]
	switch {
	case t == nil:
		return nil, refuse(kerr.UnknownTopicOrPartition, "The topic '"+g.Topic+"' does not exist.")
	case t.Deleting:
		return nil, refuse(kerr.InvalidTopicException, "The topic is queued for deletion.")
	}
	for i := range t.Partitions {
		if len(t.Partitions[i].Adding)+len(t.Partitions[i].Removing) > 0 {
			return nil, refuse(kerr.ReassignmentInProgress, "A partition reassignment is in progress for the topic '"+g.Topic+"'.")
		}
	}
	have := int32(len(t.Partitions))
	switch {
	case g.Count < have:
		return nil, refuse(kerr.InvalidPartitions, "Topic currently has "+decimal(have)+" partitions, which is higher than the requested "+decimal(g.Count)+".")
	case g.Count == have:
		return nil, refuse(kerr.InvalidPartitions, "Topic already has "+decimal(have)+" partitions.")
	}
	if g.Assignment != nil {
		return g.Assignment, m.checkGrowthAssignment(t, g)
	}
	first := t.Partitions[0].Replicas
	return Place(m.nodes(), have, g.Count-have, int32(len(first)), GrowthSpread(m.nodes(), first))
}

func (m *Machine) checkGrowthAssignment(t *Topic, g *Growth) error {
	have := int32(len(t.Partitions))
	var unknown []int32
	for _, replicas := range g.Assignment {
		for _, b := range replicas {
			if m.brokers[b] == nil && !slices.Contains(unknown, b) {
				unknown = append(unknown, b)
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return refuse(kerr.InvalidReplicaAssignment, "Unknown broker(s) in replica assignment: "+join(unknown)+".")
	case int32(len(g.Assignment)) != g.Count-have:
		return refuse(kerr.InvalidReplicaAssignment, "Increasing the number of partitions by "+decimal(g.Count-have)+" but "+strconv.Itoa(len(g.Assignment))+" assignments provided.")
	}
	for i, replicas := range g.Assignment {
		n := decimal(have + int32(i))
		switch {
		case len(replicas) == 0:
			return refuse(kerr.InvalidReplicaAssignment, "Cannot have replication factor of 0 for partition id "+n+".")
		case repeats(replicas):
			return refuse(kerr.InvalidReplicaAssignment, "Duplicate brokers not allowed in replica assignment: "+join(replicas)+" for partition id "+n+".")
		}
	}
	want := len(t.Partitions[0].Replicas)
	var bad, factors []int32
	for i, replicas := range g.Assignment {
		if len(replicas) != want {
			bad, factors = append(bad, have+int32(i)), append(factors, int32(len(replicas)))
		}
	}
	if len(bad) > 0 {
		return refuse(kerr.InvalidReplicaAssignment, "Inconsistent replication factor between partitions, partition 0 has "+strconv.Itoa(want)+
			" while partitions ["+join(bad)+"] have replication factors ["+join(factors)+"], respectively.")
	}
	return nil
}

// Grow writes a topic with more partitions.
func (m *Machine) Grow(topic string, added [][]int32) Write {
	t := m.topics[topic]
	doc := &znode.Topic{ID: t.ID, Partitions: make(map[int32][]int32, len(t.Partitions)+len(added))}
	for i := range t.Partitions {
		doc.Partitions[int32(i)] = t.Partitions[i].Replicas
	}
	for i, replicas := range added {
		doc.Partitions[int32(len(t.Partitions)+i)] = replicas
	}
	return m.fenced(TopicChanged{topic, t.Version + 1, doc}, store.Set(znode.TopicPath(topic), doc.Encode(), t.Version))
}

// GiveID writes an id to a topic from before topics had ids.
func (m *Machine) GiveID(topic string, id znode.TopicID) Write {
	t := m.topics[topic]
	doc := &znode.Topic{ID: id, Partitions: map[int32][]int32{}, Adding: map[int32][]int32{}, Removing: map[int32][]int32{}}
	for i := range t.Partitions {
		p, n := &t.Partitions[i], int32(i)
		doc.Partitions[n] = p.Replicas
		if len(p.Adding) > 0 {
			doc.Adding[n] = p.Adding
		}
		if len(p.Removing) > 0 {
			doc.Removing[n] = p.Removing
		}
	}
	return m.fenced(TopicChanged{topic, t.Version + 1, doc}, store.Set(znode.TopicPath(topic), doc.Encode(), t.Version))
}

// QueueDeletion asks for a topic's deletion. The topic must be there.
func (m *Machine) QueueDeletion(topic string) Write {
	return m.fenced(DeletionQueued{topic}, store.Create(znode.DeleteTopicPath(topic), nil, store.Persistent))
}

// ReplicasDeleted notes the replicas of a topic that a broker has deleted, and
// reports whether all are now.
func (m *Machine) ReplicasDeleted(broker int32, topic string, partitions []int32) bool {
	t := m.topics[topic]
	if t == nil || !t.Deleting {
		return false
	}
	for _, n := range partitions {
		t.stopped[replica{n, broker}] = true
	}
	return m.deletable(t)
}

func (m *Machine) deletable(t *Topic) bool {
	for i := range t.Partitions {
		for _, b := range t.Partitions[i].Replicas {
			// A broker that never was alive while the topic lived has nothing to
			// delete: a partition without state was told to nobody.
			if t.Partitions[i].Epoch >= 0 && !t.stopped[replica{int32(i), b}] {
				return false
			}
		}
	}
	return true
}

// Deletable lists topics all of whose replicas are gone.
func (m *Machine) Deletable() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		if t := m.topics[name]; t.Deleting && m.deletable(t) {
			out = append(out, name)
		}
	}
	return out
}

// opsATxn bounds a transaction: ZooKeeper takes a megabyte.
const opsATxn = 1000

// Remove deletes znodes: paths, parents last, then a topic's request for
// deletion. Paths are what is there of the topic and its settings.
func (m *Machine) Remove(topic string, paths []string) []Write {
	var writes []Write
	for chunk := range slices.Chunk(paths, opsATxn) {
		ops := make([]store.Op, len(chunk))
		for i, p := range chunk {
			ops[i] = store.Delete(p, store.AnyVersion)
		}
		writes = append(writes, m.fenced(nil, ops...))
	}
	return append(writes, m.fenced(TopicDeleted{topic}, store.Delete(znode.DeleteTopicPath(topic), store.AnyVersion)))
}
