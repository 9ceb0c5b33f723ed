package controller

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Node is a broker as placement sees it.
type Node struct {
	ID   int32
	Rack string // empty: none
}

// MaxPartitions bounds the partitions that one request makes. Kafka has no
// bound: a request of a few bytes makes it run out of memory.
const MaxPartitions = 200_000

// Spread says where placement begins: two numbers that are random for a new
// topic, and the same for one that grows.
type Spread struct{ Start, Shift int }

// Place assigns replicas of partitions first, first+1, … (count of them) to
// brokers, as Kafka does (kafka.md §7). Brokers without racks among ones with
// racks make placement ignore racks.
func Place(nodes []Node, first, count, replicas int32, spread Spread) ([][]int32, error) {
	switch {
	case count <= 0:
		return nil, refuse(kerr.InvalidPartitions, "Number of partitions must be larger than 0.")
	case count > MaxPartitions:
		return nil, refuse(kerr.InvalidPartitions, "Number of partitions must not be larger than "+strconv.Itoa(MaxPartitions)+".")
	case replicas <= 0:
		return nil, refuse(kerr.InvalidReplicationFactor, "Replication factor must be larger than 0.")
	case int(replicas) > len(nodes):
		return nil, refuse(kerr.InvalidReplicationFactor, "Replication factor: "+decimal(replicas)+" larger than available brokers: "+strconv.Itoa(len(nodes))+".")
	}
	nodes = slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return int(a.ID) - int(b.ID) })
	rackless := slices.ContainsFunc(nodes, func(n Node) bool { return n.Rack == "" })
	racks := 0
	if !rackless {
		nodes, racks = alternate(nodes)
	}
	out := make([][]int32, count)
	shift := spread.Shift
	for i := range out {
		p := int(first) + i
		if p > 0 && p%len(nodes) == 0 {
			shift++
		}
		lead := (p + spread.Start) % len(nodes)
		if rackless {
			out[i] = placeAnywhere(nodes, lead, shift, int(replicas))
		} else {
			out[i] = placeByRack(nodes, lead, shift*racks, int(replicas), racks)
		}
	}
	return out, nil
}

func placeAnywhere(nodes []Node, lead, shift, replicas int) []int32 {
	out := append(make([]int32, 0, replicas), nodes[lead].ID)
	for j := range replicas - 1 {
		out = append(out, nodes[follower(lead, shift+j, len(nodes))].ID)
	}
	return out
}

// follower is the index of the k-th candidate behind the leader's.
func follower(lead, k, n int) int { return (lead + 1 + k%(n-1)) % n }

// placeByRack takes one candidate after the other, but none of a rack that has
// a replica while another rack has none.
func placeByRack(nodes []Node, lead, k, replicas, racks int) []int32 {
	out := append(make([]int32, 0, replicas), nodes[lead].ID)
	used := map[string]bool{nodes[lead].Rack: true}
	for len(out) < replicas {
		n := nodes[follower(lead, k, len(nodes))]
		k++
		if used[n.Rack] && len(used) < racks || slices.Contains(out, n.ID) && len(out) < len(nodes) {
			continue
		}
		out = append(out, n.ID)
		used[n.Rack] = true
	}
	return out
}

// alternate orders brokers so that neighbours are of different racks: one of
// each rack in turn, racks by name, skipping those that are used up.
func alternate(nodes []Node) (out []Node, racks int) {
	byRack := make(map[string][]Node)
	var names []string
	for _, n := range nodes {
		if byRack[n.Rack] == nil {
			names = append(names, n.Rack)
		}
		byRack[n.Rack] = append(byRack[n.Rack], n)
	}
	slices.SortFunc(names, strings.Compare)
	for round := 0; len(out) < len(nodes); round++ {
		for _, r := range names {
			if round < len(byRack[r]) {
				out = append(out, byRack[r][round])
			}
		}
	}
	return out, len(names)
}

// GrowthSpread is where placement begins for a topic that grows: at the first
// broker that is not before the leader of partition 0.
func GrowthSpread(nodes []Node, partition0 []int32) Spread {
	ids := make([]int32, len(nodes))
	for i, n := range nodes {
		ids[i] = n.ID
	}
	slices.Sort(ids)
	start := 0
	if len(partition0) > 0 {
		start = max(0, slices.IndexFunc(ids, func(id int32) bool { return id >= partition0[0] }))
	}
	return Spread{start, start}
}

func decimal(n int32) string { return strconv.FormatInt(int64(n), 10) }
