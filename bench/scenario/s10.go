package scenario

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"barnabas/bench/proc"
	"barnabas/bench/replay"
)

// idleScenario is S10: connections that asked for ApiVersions and Metadata once
// and then do nothing, beside a server with one goroutine and 4 bytes of buffer
// for each.
func idleScenario(ctx context.Context, e *Env) error {
	levels := either(e, []int{1000, 5000, 9000}, []int{1000, 3000})
	e.logf("S10 idle connections: %v", levels)
	dir, remove, err := e.freshDir()
	if err != nil {
		return err
	}
	defer remove()
	broker, _, err := e.startBroker(ctx, dir)
	if err != nil {
		return err
	}
	defer broker.Kill()
	ours, err := e.growth(ctx, broker, levels)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, broker.Said())
	}
	loop, err := proc.Role(ctx, "echo")
	if err != nil {
		return err
	}
	defer loop.Kill()
	floor, err := e.growth(ctx, loop, levels)
	if err != nil {
		return err
	}
	for i, n := range levels {
		e.Report.add(comparison{
			scenario: "S10", what: strconv.Itoa(n) + " idle connections: RSS of each", unit: "KB",
			ours: []float64{ours[i]}, floor: []float64{floor[i]}, beside: "bare server",
			aim: &Aim{Most: 8, Because: "issue 3"},
		})
	}
	return nil
}

// growth opens connections up to each level and gives the child's RSS growth
// for each connection, in KB.
func (e *Env) growth(ctx context.Context, child *proc.Child, levels []int) ([]float64, error) {
	const warm = 64
	conns, err := e.openIdle(ctx, child.Address, warm)
	for _, c := range conns {
		c.Close()
	}
	if err != nil {
		return nil, err
	}
	before, err := settled(ctx, child)
	if err != nil {
		return nil, err
	}
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	var grown []float64
	for _, level := range levels {
		more, err := e.openIdle(ctx, child.Address, level-len(open))
		open = append(open, more...)
		if err != nil {
			return nil, fmt.Errorf("connection %d: %w", len(open), err)
		}
		after, err := settled(ctx, child)
		if err != nil {
			return nil, err
		}
		grown = append(grown, float64(after-before)/float64(level)/1e3)
	}
	return grown, nil
}

// openIdle opens n connections that each ask two questions.
func (e *Env) openIdle(ctx context.Context, address string, n int) ([]net.Conn, error) {
	const workers = 8
	var mu sync.Mutex // guards conns and errs
	var conns []net.Conn
	var errs []error
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				conn, err := e.Dialer.Dial(ctx, address)
				if err == nil {
					_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
					err = replay.Ask(conn, apiVersions(), metadata())
				}
				mu.Lock()
				if conn != nil {
					conns = append(conns, conn)
				}
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return conns, errors.Join(errs...)
}

// settled waits until the child's RSS stops moving, two seconds at most.
func settled(ctx context.Context, child *proc.Child) (int64, error) {
	last := int64(-1)
	for range 10 {
		m, err := child.Memory()
		if err != nil || m.RSS == last || ctx.Err() != nil {
			return m.RSS, errors.Join(err, ctx.Err())
		}
		last = m.RSS
		time.Sleep(200 * time.Millisecond)
	}
	return last, nil
}
