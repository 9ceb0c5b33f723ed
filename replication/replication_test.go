package replication_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/replication"
	"barnabas/storage"
)

func TestAppendedRecordsAreRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 2)
	for i, want := range []int64{0, 3, 4} {
		if got := r.put("t", batch([][]string{{"a", "b", "c"}, {"d"}, {"e", "f"}}[i]...)); got != want {
			t.Errorf("batch %d at offset %d, want %d", i, got, want)
		}
	}
	for _, tt := range []struct {
		offset int64
		want   string
		err    error
	}{
		{0, "[0 3 4]", nil},
		{2, "[0 3 4]", nil},
		{3, "[3 4]", nil},
		{5, "[4]", nil},
		{6, "[]", nil},
		{7, "[]", storage.ErrOffsetOutOfRange},
		{-1, "[]", storage.ErrOffsetOutOfRange},
	} {
		parts, wait := r.fetch("t", tt.offset, func(o *replication.ReadOptions) { o.MaxWait = 0 })
		if wait != nil {
			t.Fatalf("offset %d: waits", tt.offset)
		}
		f := &parts[0]
		if got := fmt.Sprint(offsets(t, f)); got != tt.want || !errors.Is(f.Err, tt.err) {
			t.Errorf("offset %d: %s and %v, want %s and %v", tt.offset, got, f.Err, tt.want, tt.err)
		}
		if hw := map[bool]int64{true: 6, false: -1}[tt.err == nil]; f.HighWatermark != hw || f.StableOffset != hw {
			t.Errorf("offset %d: high watermark %d, stable offset %d, want %d", tt.offset, f.HighWatermark, f.StableOffset, hw)
		}
	}
	if p := r.m.PartitionByID(idOf("t"), 1); p == nil || p.Topic() != "t" || p.Number() != 1 {
		t.Error("partition 1 is not found by the topic's id")
	}
}

func TestLimitsOfARead(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 3)
	big := batch(strings.Repeat("x", 1000))
	put := func(p int32, data []byte) {
		parts := []replication.ProducePart{{Partition: r.m.Partition("t", p), Records: data}}
		if r.m.Append(parts, &replication.AppendOptions{Version: 9, Acks: 1}); parts[0].Err != nil {
			t.Fatal(parts[0].Err)
		}
	}
	put(1, big)
	put(1, batch("s"))
	put(2, batch(strings.Repeat("y", 1000)))
	for _, tt := range []struct {
		max, part int32
		want      string
	}{
		{1, 1, "[[] [0] []]"},
		{0, 0, "[[] [0] []]"},
		{100, 1 << 20, "[[] [0] []]"},
		{1 << 20, 1, "[[] [0] []]"},
		{1 << 20, int32(len(big)) + 10, "[[] [0 cut] [0]]"},
		{1 << 20, 1 << 20, "[[] [0 1] [0]]"},
	} {
		var parts []replication.FetchPart
		for p := range int32(3) {
			parts = append(parts, replication.FetchPart{Partition: r.m.Partition("t", p), MaxBytes: tt.part, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1})
		}
		r.m.Read(parts, &replication.ReadOptions{ReplicaID: -1, MinBytes: 1, MaxBytes: int(tt.max)}, false)
		var got []string
		for i := range parts {
			if parts[i].Err != nil {
				t.Errorf("limits %d and %d: %v", tt.max, tt.part, parts[i].Err)
			}
			got = append(got, fmt.Sprint(offsets(t, &parts[i])))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("limits %d and %d: %v, want %s", tt.max, tt.part, got, tt.want)
		}
	}
	parts, _ := r.fetch("t", 0, func(o *replication.ReadOptions) { o.MaxBytes = -1 })
	if parts[0].Err != kerr.UnknownServerError {
		t.Errorf("negative limit: %v, want UNKNOWN_SERVER_ERROR", parts[0].Err)
	}
}

func TestEpochsOfARead(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.epoch = 3
	r.lead("t", 1) // epoch 4
	r.put("t", batch("a", "b"))
	r.lead("t", 1) // epoch 5
	r.put("t", batch("c"))
	for _, tt := range []struct {
		current, last int32
		offset        int64
		err           error
		diverging     string
	}{
		{-1, -1, 0, nil, ""},
		{-2, -2, 0, nil, ""},
		{5, 5, 2, nil, ""},
		{4, -1, 0, kerr.FencedLeaderEpoch, ""},
		{6, -1, 0, kerr.UnknownLeaderEpoch, ""},
		{-1, 4, 2, nil, ""},
		{-1, 4, 3, nil, "4 2"},
		{-1, 6, 1, kerr.OffsetOutOfRange, ""},
		{-1, 3, 1, nil, "3 0"},
	} {
		parts := []replication.FetchPart{{Partition: r.m.Partition("t", 0), Offset: tt.offset, MaxBytes: 100, CurrentLeaderEpoch: tt.current, LastFetchedEpoch: tt.last}}
		r.m.Read(parts, &replication.ReadOptions{ReplicaID: -1, MinBytes: 1, MaxBytes: 1 << 20}, false)
		f := &parts[0]
		diverging := ""
		if f.DivergingEnd >= 0 {
			diverging = fmt.Sprint(f.DivergingEpoch, f.DivergingEnd)
		}
		if f.Err != tt.err || diverging != tt.diverging || (diverging != "") == (f.Region != nil) && f.Err == nil {
			t.Errorf("%+v: error %v, diverging %q, records %v", tt, f.Err, diverging, f.Region != nil)
		}
		f.Release()
	}
}

func TestControlRequestsAreFenced(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	me := []int32{broker}
	r.lead("t", 1) // epoch 0
	r.m.SetBrokerEpoch(100)
	send := func(change func(*kmsg.LeaderAndISRRequest)) int16 {
		req := leaderAndISR("t", 1, state(broker, 10, me, me))
		req.ControllerEpoch = 5
		change(req)
		return firstCode(r.m.LeaderAndISR(req))
	}
	said := func(q *kmsg.LeaderAndISRRequest) *kmsg.LeaderAndISRRequestTopicPartition {
		return &q.TopicStates[0].PartitionStates[0]
	}
	for _, tt := range []struct {
		name   string
		change func(*kmsg.LeaderAndISRRequest)
		want   *kerr.Error
	}{
		{"newer", func(*kmsg.LeaderAndISRRequest) {}, nil},
		{"same leader epoch", func(*kmsg.LeaderAndISRRequest) {}, kerr.StaleControllerEpoch},
		{"older leader epoch", func(q *kmsg.LeaderAndISRRequest) { said(q).LeaderEpoch = 9 }, kerr.StaleControllerEpoch},
		{"older controller", func(q *kmsg.LeaderAndISRRequest) { q.ControllerEpoch = 4; said(q).LeaderEpoch = 11 }, kerr.StaleControllerEpoch},
		{"earlier life of this broker", func(q *kmsg.LeaderAndISRRequest) { q.BrokerEpoch = 99; said(q).LeaderEpoch = 11 }, kerr.StaleBrokerEpoch},
		{"this life", func(q *kmsg.LeaderAndISRRequest) { q.BrokerEpoch = 100; said(q).LeaderEpoch = 11 }, nil},
		{"not assigned here", func(q *kmsg.LeaderAndISRRequest) { said(q).LeaderEpoch = 12; said(q).Replicas = []int32{2} }, kerr.UnknownTopicOrPartition},
		{"another topic of the name", func(q *kmsg.LeaderAndISRRequest) { q.TopicStates[0].TopicID = idOf("x"); said(q).LeaderEpoch = 12 }, kerr.InconsistentTopicID},
	} {
		want := int16(0)
		if tt.want != nil {
			want = tt.want.Code
		}
		if got := send(tt.change); got != want {
			t.Errorf("%s: code %d, want %d", tt.name, got, want)
		}
	}
	if _, epoch := r.m.Partition("t", 0).Leader(); epoch != 11 {
		t.Errorf("leader epoch %d, want 11", epoch)
	}
}

func TestRolesDecideWhoAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	r.put("t", batch("a"))
	if code := r.control("t", 1, 2, []int32{2, broker}, []int32{2, broker}); code != 0 {
		t.Fatalf("become follower: %d", code)
	}
	parts, _ := r.produce("t", 1, 0, batch("b"))
	if parts[0].Err != kerr.NotLeaderForPartition || parts[0].BaseOffset != -1 || parts[0].LogStart != -1 {
		t.Errorf("produce to a follower: %+v", parts[0])
	}
	f, _ := r.fetch("t", 0)
	if got := fmt.Sprint(offsets(t, &f[0])); got != "[0]" || f[0].Err != nil {
		t.Errorf("a consumer of version 11 from a follower: %s and %v, want [0]", got, f[0].Err)
	}
	f, _ = r.fetch("t", 0, func(o *replication.ReadOptions) { o.AnyReplica = false })
	if f[0].Err != kerr.NotLeaderForPartition || f[0].HighWatermark != -1 {
		t.Errorf("an older consumer from a follower: %v", f[0].Err)
	}
	if _, err := r.m.Partition("t", 0).ListOffset(&replication.OffsetQuery{Timestamp: replication.Latest, CurrentLeaderEpoch: -1}); err != kerr.NotLeaderForPartition {
		t.Errorf("ListOffsets of a follower: %v", err)
	}
	p := r.m.Partition("t", 0)
	r.remove("t", 1)
	if !p.Deleted() || r.m.Partition("t", 0) != nil || r.m.PartitionByID(idOf("t"), 0) != nil {
		t.Error("a deleted partition is still found")
	}
}

func TestFollowersMoveTheHighWatermark(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	if code := r.control("t", 1, broker, []int32{broker, 2}, []int32{broker, 2}); code != 0 {
		t.Fatal(code)
	}
	parts, wait := r.produce("t", -1, 20*time.Second, batch("a", "b"))
	if wait == nil {
		t.Fatalf("acknowledged before the follower has it: %+v", parts[0])
	}
	acked := waiting(wait.Start)
	consumer, cw := r.fetch("t", 0)
	if cw == nil {
		t.Fatalf("records above the high watermark are visible: %+v", consumer[0])
	}
	visible := waiting(cw.Start)
	follower := func(offset int64) []string {
		t.Helper()
		f, w := r.fetch("t", offset, func(o *replication.ReadOptions) { o.ReplicaID, o.MaxWait = 2, 0 })
		if w != nil || f[0].Err != nil {
			t.Fatalf("follower at %d: %v", offset, f[0].Err)
		}
		return offsets(t, &f[0])
	}
	if got := follower(0); !reflect.DeepEqual(got, []string{"0"}) {
		t.Errorf("follower reads %v", got)
	}
	asleep(t, acked)
	asleep(t, visible)
	follower(2)
	woken(t, acked)
	woken(t, visible)
	wait.Settle()
	cw.Finish()
	if parts[0].Err != nil || parts[0].BaseOffset != 0 {
		t.Errorf("acknowledged with %v at %d", parts[0].Err, parts[0].BaseOffset)
	}
	if got := offsets(t, &consumer[0]); !reflect.DeepEqual(got, []string{"0"}) {
		t.Errorf("consumer reads %v", got)
	}
	f, _ := r.fetch("t", 0, func(o *replication.ReadOptions) { o.ReplicaID = 77 })
	if f[0].Err != kerr.NotLeaderForPartition {
		t.Errorf("a broker that is no replica: %v", f[0].Err)
	}
}

func TestTooFewInSyncReplicas(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.settings.MinISR = 2
	if code := r.control("t", 1, broker, []int32{broker, 2}, []int32{broker, 2}); code != 0 {
		t.Fatal(code)
	}
	parts, wait := r.produce("t", -1, 20*time.Second, batch("a"))
	if wait == nil {
		t.Fatal("acknowledged too early")
	}
	acked := waiting(wait.Start)
	// The follower leaves. The record stays, but nothing proves that two have it.
	r.control("t", 1, broker, []int32{broker}, []int32{broker, 2})
	asleep(t, acked)
	none, _ := r.produce("t", -1, 0, batch("b"))
	if none[0].Err != kerr.NotEnoughReplicas || none[0].BaseOffset != -1 {
		t.Errorf("acks=all below the minimum: %+v", none[0])
	}
	if one, _ := r.produce("t", 1, 0, batch("c")); one[0].Err != nil || one[0].BaseOffset != 1 {
		t.Errorf("acks=1 below the minimum: %+v", one[0])
	}
	r.set(func(s *replication.TopicSettings) { s.MinISR = 1 })
	woken(t, acked)
	if wait.Settle(); parts[0].Err != nil {
		t.Errorf("after the minimum was lowered: %v", parts[0].Err)
	}
}

func TestStateOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, dir)
	r.lead("t", 1)
	r.put("t", batch("a", "b"))
	r.put("t", batch("c"))
	r.close()
	r = newRig(t, dir)
	r.lead("t", 1) // under the same epoch as before: this life knows none
	parts, _ := r.fetch("t", 0, func(o *replication.ReadOptions) { o.MaxWait = 0 })
	if got := fmt.Sprint(offsets(t, &parts[0])); got != "[0 2]" || parts[0].HighWatermark != 3 {
		t.Errorf("read %s up to %d, want [0 2] up to 3", got, parts[0].HighWatermark)
	}
	if got := r.put("t", batch("d")); got != 3 {
		t.Errorf("the next batch is at %d, want 3", got)
	}
}

func TestATopicOfManyPartitions(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	const n = 300
	r.lead("t", n)
	found := 0
	for p := range r.m.Partitions {
		if p.Topic() == "t" && p.Log() != nil {
			found++
		}
	}
	if found != n {
		t.Errorf("%d partitions, want %d", found, n)
	}
	r.remove("t", n)
	for p := range r.m.Partitions {
		t.Fatalf("%s-%d is still there", p.Topic(), p.Number())
	}
	r.lead("t", 1) // a new topic of the old name
	if got := r.put("t", batch("a")); got != 0 {
		t.Errorf("the first record of a recreated topic is at %d", got)
	}
}

func TestOffsetLookups(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	ask := func(ts int64) replication.OffsetAnswer {
		t.Helper()
		a, err := r.m.Partition("t", 0).ListOffset(&replication.OffsetQuery{Timestamp: ts, CurrentLeaderEpoch: -1})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	none := replication.NoOffset()
	if got := ask(replication.MaxTimestamp); got != none {
		t.Errorf("highest timestamp of an empty log: %+v", got)
	}
	r.put("t", batch("a", "b")) // at 1600000000000 and ...001
	r.put("t", batch("c"))
	const base = int64(1_600_000_000_000)
	for ts, want := range map[int64]replication.OffsetAnswer{
		replication.Latest:        {Offset: 3, Timestamp: -1},
		replication.Earliest:      {Offset: 0, Timestamp: -1},
		replication.EarliestLocal: {Offset: 0, Timestamp: -1},
		replication.LatestTiered:  none,
		replication.MaxTimestamp:  {Offset: 1, Timestamp: base + 1},
		0:                         {Offset: 0, Timestamp: base},
		base + 1:                  {Offset: 1, Timestamp: base + 1},
		base + 2:                  none,
	} {
		if got := ask(ts); got != want {
			t.Errorf("timestamp %d: %+v, want %+v", ts, got, want)
		}
	}
	for _, tt := range []struct {
		epoch int32
		err   error
	}{{0, nil}, {1, kerr.UnknownLeaderEpoch}, {-2, kerr.FencedLeaderEpoch}} {
		_, err := r.m.Partition("t", 0).ListOffset(&replication.OffsetQuery{Timestamp: replication.Latest, CurrentLeaderEpoch: tt.epoch})
		if !errors.Is(err, tt.err) {
			t.Errorf("current leader epoch %d: %v, want %v", tt.epoch, err, tt.err)
		}
		if _, _, err := r.m.Partition("t", 0).EpochEnd(0, tt.epoch); !errors.Is(err, tt.err) {
			t.Errorf("epoch end under current leader epoch %d: %v, want %v", tt.epoch, err, tt.err)
		}
	}
	release := r.m.HoldHighWatermark()
	defer release()
	r.produce("t", 1, 0, batch("d", "e"))
	if got := ask(base); got.Offset != 0 {
		t.Errorf("a record below the high watermark: %+v", got)
	}
	all, err := r.m.Partition("t", 0).ListOffset(&replication.OffsetQuery{Timestamp: replication.Latest, CurrentLeaderEpoch: -1, ToLogEnd: true})
	if got := ask(replication.Latest); got.Offset != 3 || err != nil || all.Offset != 5 {
		t.Errorf("latest %d for a consumer, %d for a broker (%v); want 3 and 5", got.Offset, all.Offset, err)
	}
}

func TestDeleteRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	r.put("t", batch("a", "b", "c", "d", "e"))
	r.put("t", batch("f"))
	for _, tt := range []struct{ offset, low int64 }{{0, 0}, {4, 4}, {2, 4}, {7, -1}, {-2, -1}, {-1, 6}, {6, 6}} {
		parts := []replication.DeletePart{{Partition: r.m.Partition("t", 0), Offset: tt.offset}}
		if r.m.DeleteRecords(parts, 0) != nil {
			t.Fatal("waits for nobody")
		}
		if parts[0].LowWatermark != tt.low || (tt.low < 0) != (parts[0].Err == kerr.OffsetOutOfRange) {
			t.Errorf("offset %d: low watermark %d and %v, want %d", tt.offset, parts[0].LowWatermark, parts[0].Err, tt.low)
		}
	}
	r.set(func(s *replication.TopicSettings) { s.Delete, s.Compact = false, true })
	parts := []replication.DeletePart{{Partition: r.m.Partition("t", 0), Offset: 6}}
	if r.m.DeleteRecords(parts, 0); parts[0].Err != kerr.PolicyViolation {
		t.Errorf("a topic that is only compacted: %v", parts[0].Err)
	}
}

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	r.lead("t", 1)
	r.set(func(s *replication.TopicSettings) { s.MaxMessageBytes = 2000 })
	r.put("t", batch("a"))
	for _, tt := range []struct {
		name  string
		data  []byte
		err   *kerr.Error
		start int64
	}{
		{"empty", nil, kerr.InvalidRecord, -1},
		{"checksum", spoil(batch("a")), kerr.CorruptMessage, -1},
		{"two batches", append(batch("a"), batch("b")...), kerr.InvalidRecord, -1},
		{"too large", batch(strings.Repeat("x", 3000)), kerr.MessageTooLarge, -1},
	} {
		parts, wait := r.produce("t", -1, 0, tt.data)
		if p := &parts[0]; wait != nil || p.Err != tt.err || p.BaseOffset != -1 || p.LogAppendTime != -1 || p.LogStart != tt.start {
			t.Errorf("%s: %+v, want %v", tt.name, parts[0], tt.err)
		}
	}
	if got := r.put("t", batch("b")); got != 1 {
		t.Errorf("the next batch is at %d, want 1: something refused was appended", got)
	}
}
