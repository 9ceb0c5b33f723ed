package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"barnabas/bench/frames"
)

// DrainLoad is what Drain reads. All batches of the partitions have one size,
// so that whole batches are counted instead of decoded.
type DrainLoad struct {
	Dialer            Dialer
	Address           string
	Topic             string
	Partitions        []int32
	End               int64 // the offset each partition ends at
	BatchBytes        int
	BatchRecords      int
	MaxBytes          int32
	PartitionMaxBytes int32
	Check             bool // verify checksums of the first answer; not while measuring
}

// Drain reads every partition from offset 0 to its end on one connection, one
// request in flight.
func Drain(ctx context.Context, load DrainLoad) (Progress, error) {
	conn, err := load.Dialer.Dial(ctx, load.Address)
	if err != nil {
		return Progress{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	d := drain{conn: conn, load: &load, reader: reader{conn: conn, buf: make([]byte, 1<<20)}, offsets: map[int32]int64{}}
	start := time.Now()
	for open := load.Partitions; len(open) > 0; {
		if err := d.round(open); err != nil {
			return d.progress, err
		}
		if load.Check {
			break
		}
		var rest []int32
		for _, p := range open {
			if d.offsets[p] < load.End {
				rest = append(rest, p)
			}
		}
		open = rest
	}
	d.progress.Elapsed = time.Since(start)
	return d.progress, nil
}

type drain struct {
	conn     net.Conn
	load     *DrainLoad
	reader   reader
	offsets  map[int32]int64
	request  []byte
	progress Progress
}

// round sends one Fetch for the open partitions and walks the answer.
func (d *drain) round(open []int32) error {
	fetch := frames.Fetch{Topic: d.load.Topic, MaxWaitMillis: 500, MaxBytes: d.load.MaxBytes, PartitionMaxBytes: d.load.PartitionMaxBytes}
	d.request = fetch.Append(d.request[:0], open, d.offsets)
	if _, err := d.conn.Write(d.request); err != nil {
		return err
	}
	before := d.progress.Bytes
	err := d.reader.fetchResponse(func(partition int32, size int) error {
		d.progress.Bytes += int64(size)
		d.offsets[partition] += int64(size / d.load.BatchBytes * d.load.BatchRecords)
		if !d.load.Check {
			return d.reader.discard(size)
		}
		records, err := d.reader.take(size)
		if err != nil {
			return err
		}
		if n, err := frames.Check(records); err != nil || n != size/d.load.BatchBytes {
			return fmt.Errorf("partition %d: %d whole batches in %d bytes of batches of %d (%w)", partition, n, size, d.load.BatchBytes, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if d.progress.Bytes == before {
		return fmt.Errorf("a Fetch brought nothing at %v, the end is %d", d.offsets, d.load.End)
	}
	d.progress.Requests++
	return nil
}

// reader walks answers through one large buffer.
type reader struct {
	conn       io.Reader
	buf        []byte
	start, end int
}

// need makes n bytes stand contiguous at start.
func (r *reader) need(n int) ([]byte, error) {
	if n > len(r.buf) {
		return nil, fmt.Errorf("%d bytes wanted at once", n)
	}
	if len(r.buf)-r.start < n {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	for r.end-r.start < n {
		got, err := r.conn.Read(r.buf[r.end:])
		if err != nil {
			return nil, err
		}
		r.end += got
	}
	b := r.buf[r.start : r.start+n]
	r.start += n
	return b, nil
}

// discard passes over n bytes.
func (r *reader) discard(n int) error {
	for {
		step := min(n, r.end-r.start)
		r.start += step
		n -= step
		if r.start == r.end {
			r.start, r.end = 0, 0
		}
		if n == 0 {
			return nil
		}
		got, err := r.conn.Read(r.buf[r.end:])
		if err != nil {
			return err
		}
		r.end += got
	}
}

// take reads n bytes into memory of their own.
func (r *reader) take(n int) ([]byte, error) {
	out := make([]byte, 0, n)
	for len(out) < n {
		b, err := r.need(min(n-len(out), len(r.buf)/2))
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

// fetchResponse walks a Fetch version 11 response of one topic. visit must
// consume the size bytes of records it is told about.
func (r *reader) fetchResponse(visit func(partition int32, size int) error) error {
	head, err := r.need(4 + 4 + 4 + 2 + 4 + 4)
	if err != nil {
		return err
	}
	if code := int16(binary.BigEndian.Uint16(head[12:])); code != 0 {
		return fmt.Errorf("fetch: error code %d", code)
	}
	topics := int(binary.BigEndian.Uint32(head[18:]))
	for range topics {
		name, err := r.need(2)
		if err != nil {
			return err
		}
		if err := r.discard(int(binary.BigEndian.Uint16(name))); err != nil {
			return err
		}
		count, err := r.need(4)
		if err != nil {
			return err
		}
		for range int(binary.BigEndian.Uint32(count)) {
			if err := r.fetchPartition(visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) fetchPartition(visit func(partition int32, size int) error) error {
	head, err := r.need(4 + 2 + 8 + 8 + 8 + 4)
	if err != nil {
		return err
	}
	partition := int32(binary.BigEndian.Uint32(head))
	if code := int16(binary.BigEndian.Uint16(head[4:])); code != 0 {
		return fmt.Errorf("fetch of partition %d: error code %d", partition, code)
	}
	if aborted := int32(binary.BigEndian.Uint32(head[30:])); aborted > 0 {
		if err := r.discard(int(aborted) * 16); err != nil {
			return err
		}
	}
	tail, err := r.need(4 + 4)
	if err != nil {
		return err
	}
	if size := int32(binary.BigEndian.Uint32(tail[4:])); size > 0 {
		return visit(partition, int(size))
	}
	return nil
}
