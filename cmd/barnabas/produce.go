package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

// produceFlags is what the command line of produce says.
type produceFlags struct {
	keyDelimiter string
	delimiter    string
	headers      []string
	codec        string
	partition    int32
	acks         string
	file         string
	nulls        bool
	verbose      bool
	json         bool
	maxBytes     int
}

func newProduce() *cobra.Command {
	var conn connection
	var f produceFlags
	cmd := &cobra.Command{
		Use:   "produce TOPIC [FILE...]",
		Short: "Write records: lines of standard input, or files",
		Long: `Write records to a topic. Without FILE every line of standard input, or of the
file given with -l, is one record; each FILE is one record as a whole. Keys are
hashed to partitions as Kafka's Java client does it. The topic is created if the
broker allows that.

The flags are kcat's where it has them. --timeout is how long a record may take
to be acknowledged. Exit code 0: all were; 1: at least one was not, and reading
stopped there.

Delimiters take the escapes \n \r \t \0 \\ \xHH.`,
		Example: `  echo hello | barnabas produce greetings
  printf 'k1:v1\nk2:\n' | barnabas produce users -K : -Z         k2 is deleted (null value)
  barnabas produce events -H source=import -z zstd -l events.txt
  barnabas produce images photo.jpg                              one record
  barnabas produce orders -p 3 --acks 1 -v < orders.txt          prints each offset`,
		Args: atLeast("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return produce(cmd, &conn, &f, args)
		},
		ValidArgsFunction: completeTopics(&conn),
	}
	conn.addFlags(cmd, 30*time.Second)
	flags := cmd.Flags()
	flags.StringVarP(&f.keyDelimiter, "key-delimiter", "K", "", "what stands between key and value; a line without it has no key")
	flags.StringVarP(&f.delimiter, "delimiter", "D", `\n`, "what ends a record")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "one header for every record, as `key=value`; may be repeated")
	flags.StringVarP(&f.codec, "compression", "z", "none", "`codec`: none, gzip, snappy, lz4 or zstd")
	flags.Int32VarP(&f.partition, "partition", "p", -1, "the partition (-1: by key, or any)")
	flags.StringVar(&f.acks, "acks", "all", "who must have a record: all (in-sync replicas), 1 (the leader) or 0 (nobody is asked)")
	flags.StringVarP(&f.file, "lines", "l", "", "read lines from this `file`")
	flags.BoolVarP(&f.nulls, "null", "Z", false, "an empty key or value is null")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print partition and offset of each record")
	flags.BoolVar(&f.json, "json", false, "with -v: one JSON object a line")
	flags.IntVar(&f.maxBytes, "max-message-bytes", 1_048_588, "the longest record and batch")
	return cmd
}

// options are the client's, from the flags.
func (f *produceFlags) options(cmd *cobra.Command, conn *connection) ([]kgo.Opt, error) {
	const memory = 64 << 20 // for records that are not yet acknowledged
	options := []kgo.Opt{
		kgo.AllowAutoTopicCreation(),
		kgo.RecordDeliveryTimeout(max(conn.timeout, time.Second)),
		kgo.MaxBufferedBytes(memory),
		kgo.ProducerBatchMaxBytes(int32(f.maxBytes)),
	}
	switch f.acks {
	case "all", "-1":
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	default:
		return nil, usageErrorf(cmd, "--acks %q: use all, 1 or 0", f.acks)
	}
	codec, ok := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[f.codec]
	if !ok {
		return nil, usageErrorf(cmd, "--compression %q: use none, gzip, snappy, lz4 or zstd", f.codec)
	}
	options = append(options, kgo.ProducerBatchCompression(codec))
	if f.partition < -1 {
		return nil, usageErrorf(cmd, "--partition %d: must be 0 or more, or -1 for any", f.partition)
	}
	if f.partition >= 0 {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	if f.maxBytes < 1<<10 || f.maxBytes > 1<<30 {
		return nil, usageErrorf(cmd, "--max-message-bytes %d: must lie between 1024 and 1073741824", f.maxBytes)
	}
	return options, nil
}

// produce reads records and writes them until the input ends, a record fails,
// or the process is told to stop; what was read by then is still delivered.
func produce(cmd *cobra.Command, conn *connection, f *produceFlags, args []string) error {
	topic, files := args[0], args[1:]
	if len(files) > 0 && f.file != "" {
		return usageErrorf(cmd, "either -l or FILE arguments, not both")
	}
	options, err := f.options(cmd, conn)
	if err != nil {
		return err
	}
	records, err := newRecordReader(cmd, f, topic)
	if err != nil {
		return err
	}
	in := cmd.InOrStdin()
	if f.file != "" {
		file, err := os.Open(f.file)
		if err != nil {
			return fmt.Errorf("-l: %w", err)
		}
		defer file.Close()
		in = file
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	reach, cancel := context.WithTimeout(ctx, conn.timeout)
	defer cancel()
	cl, err := conn.open(reach, cmd, options...)
	if err != nil {
		return err
	}
	defer cl.Close()

	d := newDelivery(cl, cmd.OutOrStdout(), f)
	if len(files) > 0 {
		err = d.files(ctx, records, files)
	} else {
		err = d.lines(ctx, records, in)
	}
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), conn.timeout)
	defer cancel()
	flushErr := cl.Flush(flush)
	if failed := d.failed(); failed != nil {
		return failed
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if flushErr != nil {
		return fmt.Errorf("%d records are not acknowledged: %w", cl.BufferedProduceRecords(), flushErr)
	}
	return nil
}

// readFile reads one record's value, bounded.
func readFile(name string, limit int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	value, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(value) > limit {
		return nil, fmt.Errorf("%s: longer than --max-message-bytes %s", name, strconv.Itoa(limit))
	}
	return value, nil
}
