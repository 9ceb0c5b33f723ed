package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// start is where reading begins: exactly one field says it.
type start struct {
	kind   startKind
	offset int64 // fromOffset: the offset; fromTail: how many records before the end
	millis int64 // fromTime
}

type startKind int8

const (
	fromBeginning startKind = iota
	fromEnd
	fromOffset
	fromTail
	fromTime
)

// parseStart reads consume's -o.
func parseStart(cmd *cobra.Command, s string) (start, error) {
	wrong := func() (start, error) {
		return start{}, usageErrorf(cmd, "--offset %q: use beginning, end, N, -N (the last N) or s@time (milliseconds or 2006-01-02T15:04:05Z)", s)
	}
	switch s {
	case "beginning", "earliest":
		return start{kind: fromBeginning}, nil
	case "end", "latest":
		return start{kind: fromEnd}, nil
	}
	if at, ok := strings.CutPrefix(s, "s@"); ok {
		if millis, err := strconv.ParseInt(at, 10, 64); err == nil && millis >= 0 {
			return start{kind: fromTime, millis: millis}, nil
		}
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			return start{kind: fromTime, millis: t.UnixMilli()}, nil
		}
		return wrong()
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return wrong()
	case strings.HasPrefix(s, "-"):
		return start{kind: fromTail, offset: -n}, nil
	}
	return start{kind: fromOffset, offset: n}, nil
}

// readQuestion is what planRead needs to know.
type readQuestion struct {
	adm       *kadm.Client
	bootstrap string
	topic     string
	start     start
	flags     *consumeFlags
}

// readPlan is where reading begins in each partition and where it may end.
type readPlan struct {
	bootstrap string
	begin     map[int32]int64
	exit      bool            // stop when open is empty
	open      map[int32]int64 // partitions that have records below the end of the time of planning, and that end
	notes     []string        // what differs from what was asked
}

// offsets are the begin offsets in the client's terms.
func (p *readPlan) offsets() map[int32]kgo.Offset {
	m := make(map[int32]kgo.Offset, len(p.begin))
	for partition, offset := range p.begin {
		m[partition] = kgo.NewOffset().At(offset)
	}
	return m
}

// planRead asks where the topic's partitions begin and end now.
func planRead(ctx context.Context, q readQuestion) (readPlan, error) {
	partitions, err := q.partitions(ctx)
	if err != nil {
		return readPlan{}, err
	}
	starts, err := q.list(ctx, q.adm.ListStartOffsets)
	if err != nil {
		return readPlan{}, err
	}
	list := q.adm.ListEndOffsets
	if q.flags.committed {
		list = q.adm.ListCommittedOffsets
	}
	ends, err := q.list(ctx, list)
	if err != nil {
		return readPlan{}, err
	}
	var times map[int32]int64
	if q.start.kind == fromTime {
		times, err = q.list(ctx, func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return q.adm.ListOffsetsAfterMilli(ctx, q.start.millis, topics...)
		})
		if err != nil {
			return readPlan{}, err
		}
	}
	plan := readPlan{bootstrap: q.bootstrap, begin: map[int32]int64{}, exit: q.flags.exit, open: map[int32]int64{}}
	for _, p := range partitions {
		begin, note := q.start.resolve(starts[p], ends[p], times[p])
		if note != "" {
			plan.notes = append(plan.notes, fmt.Sprintf("%s [%d]: %s", q.topic, p, note))
		}
		plan.begin[p] = begin
		if plan.exit && begin < ends[p] {
			plan.open[p] = ends[p]
		}
	}
	return plan, nil
}

// resolve is the first offset to read of a partition that holds [first, end).
// found is what the search for a time gave.
func (s start) resolve(first, end, found int64) (begin int64, note string) {
	switch s.kind {
	case fromEnd:
		return end, ""
	case fromTail:
		return max(first, end-s.offset), ""
	case fromTime:
		return found, ""
	case fromOffset:
		begin = min(max(s.offset, first), end)
		if begin != s.offset {
			note = fmt.Sprintf("offset %d lies outside of %d to %d, reading from %d", s.offset, first, end, begin)
		}
		return begin, note
	}
	return first, ""
}

// partitions are those to read.
func (q *readQuestion) partitions(ctx context.Context) ([]int32, error) {
	details, err := q.adm.ListTopicsWithInternal(ctx, q.topic)
	if err != nil {
		return nil, refused(err, "", "topic %q at %s", q.topic, q.bootstrap)
	}
	detail := details[q.topic]
	if err := mustExist(detail, q.topic, q.bootstrap); err != nil {
		return nil, err
	}
	all := detail.Partitions.Numbers()
	if len(q.flags.partitions) == 0 {
		return all, nil
	}
	for _, p := range q.flags.partitions {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("topic %q has no partition %d: it has %d, counted from 0", q.topic, p, len(all))
		}
	}
	return q.flags.partitions, nil
}

// list asks one of the ListOffsets questions about the topic.
func (q *readQuestion) list(ctx context.Context, ask func(context.Context, ...string) (kadm.ListedOffsets, error)) (map[int32]int64, error) {
	listed, err := ask(ctx, q.topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, refused(err, "", "offsets of topic %q at %s", q.topic, q.bootstrap)
	}
	offsets := map[int32]int64{}
	for p, o := range listed[q.topic] {
		offsets[p] = o.Offset
	}
	return offsets, nil
}
