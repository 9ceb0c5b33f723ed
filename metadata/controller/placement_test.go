package controller_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"barnabas/metadata/controller"
)

// nodes reads "0 1 2" or "0:r1 1:r2".
func nodes(text string) []controller.Node {
	var out []controller.Node
	for _, f := range strings.Fields(text) {
		id, rack, _ := strings.Cut(f, ":")
		n := controller.Node{Rack: rack}
		_, _ = fmt.Sscan(id, &n.ID)
		out = append(out, n)
	}
	return out
}

// TestPlaceExamples are the worked examples of Kafka's placement.
func TestPlaceExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, nodes            string
		first, count, replicas int32
		spread                 controller.Spread
		want                   string
	}{
		{"four brokers", "0 1 2 3", 0, 4, 2, controller.Spread{}, "[[0 1] [1 2] [2 3] [3 0]]"},
		{"start and shift", "3 2 1 0", 0, 4, 2, controller.Spread{Start: 2, Shift: 1}, "[[2 0] [3 1] [0 2] [1 3]]"},
		{"six brokers", "0 1 2 3 4 5", 0, 6, 2, controller.Spread{}, "[[0 1] [1 2] [2 3] [3 4] [4 5] [5 0]]"},
		{"growth", "0 1 2 3 4 5", 4, 2, 2, controller.GrowthSpread(nodes("0 1 2 3 4 5"), []int32{0, 1}), "[[4 5] [5 0]]"},
		{"growth behind broker 2", "0 1 2 3 4 5", 4, 2, 2, controller.GrowthSpread(nodes("0 1 2 3 4 5"), []int32{2, 3}), "[[0 3] [1 4]]"},
		{"second round shifts", "0 1 2 3 4 5", 6, 6, 2, controller.Spread{}, "[[0 2] [1 3] [2 4] [3 5] [4 0] [5 1]]"},
		{"five brokers", "0 1 2 3 4", 0, 10, 3, controller.Spread{}, "[[0 1 2] [1 2 3] [2 3 4] [3 4 0] [4 0 1] [0 2 3] [1 3 4] [2 4 0] [3 0 1] [4 1 2]]"},
		{"one broker", "7", 0, 3, 1, controller.Spread{}, "[[7] [7] [7]]"},
		{"three racks", "0:r1 1:r3 2:r3 3:r2 4:r2 5:r1", 0, 7, 3, controller.Spread{}, "[[0 3 1] [3 1 5] [1 5 4] [5 4 2] [4 2 0] [2 0 3] [0 4 2]]"},
		{"two racks", "0:a 1:a 2:b 3:b", 0, 4, 2, controller.Spread{}, "[[0 2] [2 1] [1 3] [3 0]]"},
		{"three racks of two", "0:a 1:a 2:b 3:b 4:c 5:c", 0, 6, 2, controller.Spread{}, "[[0 2] [2 4] [4 1] [1 3] [3 5] [5 0]]"},
		{"some without a rack", "0:a 1 2:b 3:b", 0, 4, 2, controller.Spread{}, "[[0 1] [1 2] [2 3] [3 0]]"},
	} {
		got, err := controller.Place(nodes(c.nodes), c.first, c.count, c.replicas, c.spread)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestPlaceRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count, replicas int32
		code            *kerr.Error
		message         string
	}{
		{0, 9, kerr.InvalidPartitions, "Number of partitions must be larger than 0."},
		{1<<31 - 1, 1, kerr.InvalidPartitions, "Number of partitions must not be larger than 200000."},
		{1, 0, kerr.InvalidReplicationFactor, "Replication factor must be larger than 0."},
		{1, 3, kerr.InvalidReplicationFactor, "Replication factor: 3 larger than available brokers: 2."},
	} {
		_, err := controller.Place(nodes("1 2"), 0, c.count, c.replicas, controller.Spread{})
		if want := (&controller.Refusal{Code: c.code, Message: c.message}); !reflect.DeepEqual(err, error(want)) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// TestRacksAreUsedEvenly: with as many replicas as racks every partition is in
// each rack; with fewer it is in none twice; and no broker has a partition twice.
func TestRacksAreUsedEvenly(t *testing.T) {
	t.Parallel()
	layouts := []string{"0:a 1:a 2:b 3:b 4:c 5:c", "0:a 1:b 2:c", "0:a 1:a 2:a 3:b 4:c 5:c 6:c", "9:z 8:y 7:z 6:y"}
	for _, text := range layouts {
		ns := nodes(text)
		rack, racks := map[int32]string{}, map[string]bool{}
		for _, n := range ns {
			rack[n.ID], racks[n.Rack] = n.Rack, true
		}
		for replicas := 1; replicas <= len(ns); replicas++ {
			for start := range len(ns) {
				for shift := range len(ns) {
					placed, err := controller.Place(ns, 0, 25, int32(replicas), controller.Spread{Start: start, Shift: shift})
					if err != nil {
						t.Fatal(err)
					}
					for _, ids := range placed {
						brokers, in := map[int32]bool{}, map[string]bool{}
						for _, id := range ids {
							brokers[id], in[rack[id]] = true, true
						}
						if len(brokers) != replicas || len(in) != min(replicas, len(racks)) {
							t.Fatalf("%s, %d replicas, start %d, shift %d: %v", text, replicas, start, shift, ids)
						}
					}
				}
			}
		}
	}
}
