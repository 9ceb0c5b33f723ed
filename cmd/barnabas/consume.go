package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// consumeFlags is what the command line of consume says.
type consumeFlags struct {
	offset       string
	partitions   []int32
	count        int64
	exit         bool
	format       string
	keyDelimiter string
	delimiter    string
	nulls        bool
	json         bool
	committed    bool
}

func newConsume() *cobra.Command {
	var conn connection
	var f consumeFlags
	cmd := &cobra.Command{
		Use:   "consume TOPIC",
		Short: "Read records",
		Long: `Read records of a topic and print them until interrupted, until -c records were
read, or with -e until the end. Offsets are not committed. The flags are kcat's
where it has them.

-o says where to begin, in each partition:
  beginning    the first record there is (default)
  end          only what is written from now on
  N            offset N
  -N           the last N records
  s@T          the first record of time T or later: milliseconds since 1970, or
               a time such as 2026-01-31T15:04:05Z

-f tokens: %t topic  %p partition  %o offset  %k key  %s value  %h headers
           %T timestamp (ms)  %K length of the key  %S length of the value (-1: null)  %% a percent sign
with the escapes \n \r \t \0 \\ \xHH.

--json prints one object a line, with the names kcat -J uses: topic, partition,
offset, tstype, ts, headers, key, payload. Bytes that are not UTF-8 come as
key_base64 and payload_base64 instead.`,
		Example: `  barnabas consume orders -e                             all there is, then exit
  barnabas consume orders -o end -K :                     new ones, key:value
  barnabas consume orders -o -5 -p 0 -c 5                 the last five of partition 0
  barnabas consume orders -e --json | jq .payload
  barnabas consume orders -f '%p/%o %T %k = %s\n' -o s@1767225600000`,
		Args:              exactly("TOPIC"),
		ValidArgsFunction: completeTopics(&conn),
		RunE: func(cmd *cobra.Command, args []string) error {
			return consume(cmd, &conn, &f, args[0])
		},
	}
	conn.addFlags(cmd, adminTimeout)
	flags := cmd.Flags()
	flags.StringVarP(&f.offset, "offset", "o", "beginning", "where to begin: `beginning`, end, N, -N or s@time")
	flags.Int32SliceVarP(&f.partitions, "partition", "p", nil, "the partitions to read (default all)")
	flags.Int64VarP(&f.count, "count", "c", 0, "exit after this many records (0: no bound)")
	flags.BoolVarP(&f.exit, "exit", "e", false, "exit at the end: where the partitions ended when reading began")
	flags.StringVarP(&f.format, "format", "f", "", `how to print a record (default '%s\n')`)
	flags.StringVarP(&f.keyDelimiter, "key-delimiter", "K", "", "print the key too, with this between it and the value")
	flags.StringVarP(&f.delimiter, "delimiter", "D", `\n`, "what to print after a record")
	flags.BoolVarP(&f.nulls, "null", "Z", false, "print NULL for a null key or value")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a record")
	flags.BoolVar(&f.committed, "read-committed", false, "leave out records of open and aborted transactions")
	return cmd
}

// printer prints one record.
type printer func(w *bufio.Writer, r *kgo.Record) error

// printer is the one that the flags ask for.
func (f *consumeFlags) printer(cmd *cobra.Command) (printer, error) {
	if f.json {
		if f.format != "" || f.keyDelimiter != "" {
			return nil, usageErrorf(cmd, "--json has its own shape: leave out --format and --key-delimiter")
		}
		return printJSON, nil
	}
	format := f.format
	if format == "" {
		format = "%s" + f.delimiter
		if f.keyDelimiter != "" {
			format = "%k" + f.keyDelimiter + format
		}
	}
	parts, err := parseFormat(format)
	if err != nil {
		return nil, usageErrorf(cmd, "--format %q: %w", format, err)
	}
	return func(w *bufio.Writer, r *kgo.Record) error { return printFormat(w, parts, r, f.nulls) }, nil
}

// consume reads topic until told to stop.
func consume(cmd *cobra.Command, conn *connection, f *consumeFlags, topic string) error {
	print, err := f.printer(cmd)
	if err != nil {
		return err
	}
	start, err := parseStart(cmd, f.offset)
	if err != nil {
		return err
	}
	if f.count < 0 {
		return usageErrorf(cmd, "--count %d: must be 0 or more", f.count)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	reach, cancel := context.WithTimeout(ctx, conn.timeout)
	defer cancel()
	options := []kgo.Opt{
		kgo.FetchMaxBytes(16 << 20), // two such buffers a broker are all that is held
		kgo.FetchMaxWait(time.Second),
		kgo.KeepControlRecords(), // their offsets count for --exit; they are not printed
	}
	if f.committed {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	cl, err := conn.open(reach, cmd, options...)
	if err != nil {
		return err
	}
	defer cl.Close()
	plan, err := planRead(reach, readQuestion{kadm.NewClient(cl), conn.bootstrap, topic, start, f})
	if err != nil {
		return err
	}
	for _, note := range plan.notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "barnabas: %s\n", note)
	}
	r := reading{cl: cl, out: bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10), print: print, plan: plan, left: f.count, bounded: f.count > 0}
	if err := r.run(ctx, topic); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// reading is a consume in progress.
type reading struct {
	cl      *kgo.Client
	out     *bufio.Writer
	print   printer
	plan    readPlan
	left    int64 // records still to print
	bounded bool  // by left
}

// run polls and prints. It returns nil when the bound is reached, and ctx's
// error when interrupted, with everything read so far printed.
func (r *reading) run(ctx context.Context, topic string) error {
	if r.plan.exit && len(r.plan.open) == 0 {
		return nil
	}
	r.cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: r.plan.offsets()})
	for {
		most := 1000
		if r.bounded {
			most = int(min(r.left, int64(most)))
		}
		fetches := r.cl.PollRecords(ctx, most)
		if err := r.take(fetches); err != nil {
			return err
		}
		if err := r.out.Flush(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := fetchError(fetches, r.plan.bootstrap); err != nil {
			return err
		}
		if (r.bounded && r.left == 0) || (r.plan.exit && len(r.plan.open) == 0) {
			return nil
		}
	}
}

// take prints what one poll brought.
func (r *reading) take(fetches kgo.Fetches) error {
	for iter := fetches.RecordIter(); !iter.Done(); {
		record := iter.Next()
		end, open := r.plan.open[record.Partition]
		wanted := !r.plan.exit || (open && record.Offset < end)
		if wanted && !record.Attrs.IsControl() {
			if err := r.print(r.out, record); err != nil {
				return err
			}
			if r.left--; r.bounded && r.left == 0 {
				return nil
			}
		}
		if open && record.Offset+1 >= end {
			delete(r.plan.open, record.Partition)
			r.cl.PauseFetchPartitions(map[string][]int32{record.Topic: {record.Partition}})
		}
	}
	return nil
}

// fetchError is the first error of a poll that is not the end of its context.
func fetchError(fetches kgo.Fetches, bootstrap string) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.Canceled) && !errors.Is(e.Err, io.EOF) {
			return refused(e.Err, "", "read %s [%d] at %s", e.Topic, e.Partition, bootstrap)
		}
	}
	return nil
}
