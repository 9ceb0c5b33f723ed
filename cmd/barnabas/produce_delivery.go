package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// delivery hands records to the client and keeps what became of them. Records
// are numbered from 1 in the order read.
type delivery struct {
	cl      *kgo.Client
	out     io.Writer
	verbose bool
	json    bool
	stop    chan struct{} // closed at the first failure

	mu    sync.Mutex // guards what follows: acknowledgements come on the client's goroutine
	acked int64
	first error
}

func newDelivery(cl *kgo.Client, out io.Writer, f *produceFlags) *delivery {
	return &delivery{cl: cl, out: out, verbose: f.verbose, json: f.json, stop: make(chan struct{})}
}

// send gives one record to the client. It waits while the client's memory is
// full.
func (d *delivery) send(ctx context.Context, number int64, r *kgo.Record) {
	d.cl.Produce(ctx, r, func(r *kgo.Record, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if err == nil {
			d.acked++
			err = d.print(r)
		} else {
			err = d.explain(number, r, err)
		}
		if err != nil && d.first == nil {
			d.first = err
			close(d.stop)
		}
	})
}

// explain words why record number was not delivered.
func (d *delivery) explain(number int64, r *kgo.Record, err error) error {
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return refused(ke, "", "record %d was not written to topic %q", number, r.Topic)
	}
	return fmt.Errorf("record %d was not written to topic %q: %w", number, r.Topic, err)
}

// failed is the first failure, with how many records are safe.
func (d *delivery) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == nil {
		return nil
	}
	return fmt.Errorf("%w (%d records were acknowledged)", d.first, d.acked)
}

// delivered is what -v says of a record. An offset is -1 with --acks 0.
type delivered struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Timestamp int64  `json:"ts"`
}

func (d *delivery) print(r *kgo.Record) error {
	if !d.verbose {
		return nil
	}
	if d.json {
		return json.NewEncoder(d.out).Encode(delivered{r.Topic, r.Partition, r.Offset, r.Timestamp.UnixMilli()})
	}
	_, err := fmt.Fprintf(d.out, "%s [%d] @ %d\n", r.Topic, r.Partition, r.Offset)
	return err
}

// lines sends every line of in. A reader goroutine runs beside it because a
// read of a terminal or pipe cannot be called off; the process ends with it.
func (d *delivery) lines(ctx context.Context, records *recordReader, in io.Reader) error {
	lines := make(chan *kgo.Record)
	ended := make(chan error, 1)
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		scanner := records.scanner(in)
		var n int64
		for ; scanner.Scan(); n++ {
			select {
			case lines <- records.fromLine(scanner.Bytes()):
			case <-quit:
				return
			}
		}
		if err := scanner.Err(); err != nil {
			ended <- records.scanError(err, n)
			return
		}
		ended <- nil
	}()
	for number := int64(1); ; number++ {
		select {
		case r := <-lines:
			// Not ctx: what was read is delivered, also after an interrupt.
			d.send(context.WithoutCancel(ctx), number, r)
		case err := <-ended:
			return err
		case <-d.stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// files sends each file as one record.
func (d *delivery) files(ctx context.Context, records *recordReader, names []string) error {
	for i, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		value, err := readFile(name, records.maxBytes)
		if err != nil {
			return err
		}
		d.send(context.WithoutCancel(ctx), int64(i+1), records.record(nil, value))
		select {
		case <-d.stop:
			return nil
		default:
		}
	}
	return nil
}
