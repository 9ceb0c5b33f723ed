package controller_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"barnabas/metadata/controller"
	"barnabas/metadata/store"
	"barnabas/metadata/store/tree"
	"barnabas/metadata/znode"
)

var rewrite = flag.Bool("rewrite", false, "write the scripts' output anew")

// TestScripts runs testdata/*.txt: lines that begin with "> " are commands, the
// lines behind them their output.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t)
			var out strings.Builder
			lines := bufio.NewScanner(strings.NewReader(string(want)))
			for lines.Scan() {
				switch line := lines.Text(); {
				case strings.HasPrefix(line, "> "):
					fmt.Fprintln(&out, line)
					out.WriteString(s.run(strings.Fields(line[2:])))
				case strings.HasPrefix(line, "#"), line == "":
					fmt.Fprintln(&out, line)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if out.String() != string(want) {
				t.Errorf("%s:\n%s\nwant\n%s", file, out.String(), want)
			}
		})
	}
}

// script is a machine over a tree of znodes. Every write goes through the tree,
// so a write that the znodes refuse shows.
type script struct {
	t    *testing.T
	tree *tree.Tree
	m    *controller.Machine
}

func newScript(t *testing.T) *script {
	s := &script{t: t, tree: tree.New()}
	for _, p := range append([]string{"/kept"}, znode.PersistentPaths()...) {
		s.znode(store.Create(p, nil, 0))
	}
	s.znode(store.Create(znode.ControllerEpochPath, []byte("1"), 0))
	s.m = controller.New(1, 1, 0)
	return s
}

func (s *script) znode(ops ...store.Op) {
	if _, err := s.tree.Apply(&tree.Txn{Session: 1, Ops: ops}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) write(writes []controller.Write, out *strings.Builder) {
	for _, w := range writes {
		if _, err := s.tree.Apply(&tree.Txn{Session: 1, Ops: w.Ops}); err != nil {
			fmt.Fprintf(out, "refused: %v\n", err)
			continue
		}
		for _, op := range w.Ops[1:] {
			kind := map[store.Kind]string{store.KindCreate: "create", store.KindSet: "set", store.KindDelete: "delete"}[op.Kind]
			fmt.Fprintln(out, strings.TrimRight(kind+" "+op.Path+" "+string(op.Data), " "))
		}
		s.m.Apply(w.Change)
	}
}

// run runs one command:
//
//	brokers 1 2:rack      these are alive
//	create T P RF [cfg]   or create T assign 1,2 2,3
//	grow T N
//	online [unclean]      elect where nobody leads
//	shrink                take the dead out of ISRs
//	offline B T P…        a log directory of B failed
//	started B             B came again
//	delete T
//	deleted B T P…        B has deleted its replicas
//	remove T
//	tell                  the requests that are due
//	isr B T P isr=1,2 [leader=N] [epoch=N] [recovering] [v1]   B proposes an ISR; epochs that are not said are right
//	stop B [epoch]        B is about to leave
//	preferred PERCENT     leaders go back
func (s *script) run(args []string) string {
	var out strings.Builder
	switch cmd, args := args[0], args[1:]; cmd {
	case "brokers":
		var c controller.BrokersChanged
		for _, n := range nodes(strings.Join(args, " ")) {
			c.Brokers = append(c.Brokers, &controller.Broker{ID: n.ID, Rack: n.Rack, Epoch: 100 + int64(n.ID)})
		}
		s.m.Apply(c)
	case "create":
		s.create(args, &out)
	case "grow":
		g := &controller.Growth{Topic: args[0], Count: int32(atoi(args[1]))}
		for _, a := range args[2:] {
			g.Assignment = append(g.Assignment, ids(a))
		}
		if added, err := s.m.CheckGrowth(g); err != nil {
			fmt.Fprintln(&out, message(err))
		} else {
			s.write([]controller.Write{s.m.Grow(args[0], added)}, &out)
		}
	case "online":
		s.write(s.m.BringOnline(func(string) bool { return len(args) > 0 }), &out)
	case "shrink":
		s.write(s.m.Shrink(), &out)
	case "offline":
		s.m.ReplicasOffline(int32(atoi(args[0])), args[1], ids(strings.Join(args[2:], ",")))
	case "started":
		s.m.BrokerStarted(int32(atoi(args[0])))
	case "delete":
		s.write([]controller.Write{s.m.QueueDeletion(args[0])}, &out)
	case "deleted":
		fmt.Fprintln(&out, "all:", s.m.ReplicasDeleted(int32(atoi(args[0])), args[1], ids(strings.Join(args[2:], ","))))
	case "remove":
		s.write(s.m.Remove(args[0], s.below(znode.TopicPath(args[0]), znode.EntityConfigPath(znode.Topics, args[0]))), &out)
	case "tell":
		s.tell(&out)
	default:
		s.runMore(cmd, args, &out)
	}
	return out.String()
}

func (s *script) create(args []string, out *strings.Builder) {
	topic := &controller.NewTopic{Name: args[0], ID: znode.TopicID{1, 2, 3}}
	if args[1] == "assign" {
		topic.Assignment = map[int32][]int32{}
		for _, a := range args[2:] {
			n, replicas, _ := strings.Cut(a, ":")
			topic.Assignment[int32(atoi(n))] = ids(replicas)
		}
	} else {
		topic.Partitions, topic.ReplicationFactor = int32(atoi(args[1])), int32(atoi(args[2]))
	}
	assignment, err := s.m.Assign(topic)
	if err == nil {
		err = s.m.CheckNew(topic.Name, assignment)
	}
	if err != nil {
		fmt.Fprintln(out, message(err))
		return
	}
	_, there := s.tree.Exists(znode.EntityConfigPath(znode.Topics, topic.Name), nil)
	s.write(s.m.CreateTopic(topic, assignment, there), out)
}

func (s *script) below(roots ...string) (paths []string) {
	for _, root := range roots {
		names, _ := s.tree.Children(root, nil)
		for _, n := range names {
			paths = append(paths, s.below(root+"/"+n)...)
		}
		if _, there := s.tree.Exists(root, nil); there {
			paths = append(paths, root)
		}
	}
	return paths
}

func (s *script) tell(out *strings.Builder) {
	for _, r := range s.m.TakeRequests(false) {
		if l := r.LeaderAndISR; l != nil {
			for _, t := range l.TopicStates {
				for _, p := range t.PartitionStates {
					fmt.Fprintf(out, "%d: LeaderAndIsr %s-%d leader %d epoch %d isr %v replicas %v version %d new %v\n",
						r.Broker, t.Topic, p.Partition, p.Leader, p.LeaderEpoch, p.ISR, p.Replicas, p.ZKVersion, p.IsNew)
				}
			}
		}
		u := r.UpdateMetadata
		for _, t := range u.TopicStates {
			for _, p := range t.PartitionStates {
				fmt.Fprintf(out, "%d: UpdateMetadata %s-%d leader %d epoch %d isr %v offline %v\n", r.Broker, t.Topic, p.Partition, p.Leader, p.LeaderEpoch, p.ISR, p.OfflineReplicas)
			}
		}
		var live []int32
		for _, b := range u.LiveBrokers {
			live = append(live, b.ID)
		}
		fmt.Fprintf(out, "%d: UpdateMetadata live %v\n", r.Broker, live)
		if st := r.StopReplica; st != nil {
			for _, t := range st.Topics {
				for _, p := range t.PartitionStates {
					fmt.Fprintf(out, "%d: StopReplica %s-%d epoch %d delete %v\n", r.Broker, t.Topic, p.Partition, p.LeaderEpoch, p.Delete)
				}
			}
		}
	}
}

func message(err error) string {
	var r *controller.Refusal
	if errors.As(err, &r) {
		return fmt.Sprintf("%d %s", r.Code.Code, r.Message)
	}
	return err.Error()
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func ids(list string) []int32 {
	out := []int32{}
	for f := range strings.SplitSeq(list, ",") {
		if f != "" {
			out = append(out, int32(atoi(f)))
		}
	}
	return slices.Clip(out)
}
