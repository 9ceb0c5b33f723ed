package controller_test

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/metadata/controller"
	"barnabas/metadata/store/tree"
)

// runMore runs the commands that brokers send.
func (s *script) runMore(cmd string, args []string, out *strings.Builder) {
	switch cmd {
	case "isr":
		s.alterPartition(args, out)
	case "stop":
		epoch := int64(-1)
		if len(args) > 1 {
			epoch = int64(atoi(args[1]))
		}
		writes, err := s.m.Stopping(int32(atoi(args[0])), epoch)
		if err != nil {
			fmt.Fprintln(out, err.Message)
			return
		}
		s.write(writes, out)
		for _, r := range s.m.Leave(int32(atoi(args[0]))) {
			fmt.Fprintf(out, "stays: %s-%d\n", r.Topic, r.Partition)
		}
	case "preferred":
		s.write(s.m.Preferred(int32(atoi(args[0]))), out)
	default:
		s.t.Fatalf("unknown command %q", cmd)
	}
}

func (s *script) alterPartition(args []string, out *strings.Builder) {
	req := kmsg.NewPtrAlterPartitionRequest()
	req.Version, req.BrokerID = 3, int32(atoi(args[0]))
	req.BrokerEpoch = 100 + int64(req.BrokerID)
	p := kmsg.NewAlterPartitionRequestTopicPartition()
	p.Partition = int32(atoi(args[2]))
	t := kmsg.NewAlterPartitionRequestTopic()
	t.Topic, t.TopicID = args[1], [16]byte{9, 9}
	if known := s.m.Topic(args[1]); known != nil {
		t.TopicID = known.ID
		if int(p.Partition) < len(known.Partitions) {
			p.PartitionEpoch, p.LeaderEpoch = known.Partitions[p.Partition].Epoch, known.Partitions[p.Partition].State.LeaderEpoch
		}
	}
	for _, a := range args[3:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "isr":
			for _, id := range ids(value) {
				m := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
				m.BrokerID, m.BrokerEpoch = id, 100+int64(id)
				p.NewISR, p.NewEpochISR = append(p.NewISR, id), append(p.NewEpochISR, m)
			}
		case "leader":
			p.LeaderEpoch = int32(atoi(value))
		case "epoch":
			p.PartitionEpoch = int32(atoi(value))
		case "broker":
			req.BrokerEpoch = int64(atoi(value))
		case "life": // of the last member
			p.NewEpochISR[len(p.NewEpochISR)-1].BrokerEpoch = int64(atoi(value))
		case "recovering":
			p.LeaderRecoveryState = 1
		case "v1":
			req.Version = 1
		}
	}
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	r := s.m.AlterPartition(req)
	failed := s.writeEach(r.Writes, out)
	resp := r.Answer(failed)
	if resp.ErrorCode != 0 {
		fmt.Fprintf(out, "error %d\n", resp.ErrorCode)
		return
	}
	a := resp.Topics[0].Partitions[0]
	if a.ErrorCode != 0 {
		fmt.Fprintf(out, "error %d\n", a.ErrorCode)
		return
	}
	fmt.Fprintf(out, "leader %d epoch %d isr %v version %d\n", a.LeaderID, a.LeaderEpoch, a.ISR, a.PartitionEpoch)
}

// writeEach writes and gives the error of each write.
func (s *script) writeEach(writes []controller.Write, out *strings.Builder) []error {
	failed := make([]error, len(writes))
	for i, w := range writes {
		if _, failed[i] = s.tree.Apply(&tree.Txn{Session: 1, Ops: w.Ops}); failed[i] != nil {
			fmt.Fprintf(out, "refused: %v\n", failed[i])
			continue
		}
		fmt.Fprintf(out, "set %s %s\n", w.Ops[1].Path, w.Ops[1].Data)
		s.m.Apply(w.Change)
	}
	return failed
}
