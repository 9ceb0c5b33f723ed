package broker

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"barnabas/broker/observe"
)

// Run serves until ctx ends, then stops in reverse order of the start: no new
// connections, requests in flight are answered, background work ends, logs are
// flushed and marked clean. It returns the first error of any room.
func (b *Broker) Run(ctx context.Context) error {
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	rooms, roomsCtx := errgroup.WithContext(background)
	rooms.Go(func() error { return b.logs.Run(roomsCtx) })
	rooms.Go(func() error { return b.replicas.Run(roomsCtx) })
	rooms.Go(func() error { return b.metadata.Run(roomsCtx) })
	if b.observe != nil {
		rooms.Go(func() error { return b.observe.Run(roomsCtx) })
	}

	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	served := make(chan error, 1)
	go func() { served <- b.serve(serving, roomsCtx) }()

	var err error
	select {
	case err = <-served:
		// The listeners failed, or ctx has ended and everybody was answered.
	case <-roomsCtx.Done():
		stopServing() // a room failed: its error comes from Wait
		err = <-served
	}
	stopBackground()
	err = errors.Join(err, rooms.Wait())
	return errors.Join(err, b.close())
}

// serve opens the doors once the metadata is there.
func (b *Broker) serve(ctx, rooms context.Context) error {
	select {
	case <-b.metadata.Ready():
	case <-ctx.Done():
		return b.server.Close()
	case <-rooms.Done():
		return b.server.Close()
	}
	b.replicas.SetBrokerEpoch(b.metadata.BrokerEpoch())
	close(b.ready)
	return b.server.Run(ctx)
}

// close gives everything back that Open took, in reverse.
func (b *Broker) close() error {
	var errs []error
	if b.observe != nil {
		errs = append(errs, b.observe.Close())
	}
	if b.server != nil && !b.isReady() {
		errs = append(errs, b.server.Close())
	}
	if b.logs != nil {
		errs = append(errs, b.logs.Close())
	}
	if b.store != nil {
		errs = append(errs, b.store.Close())
	}
	return errors.Join(errs...)
}

func (b *Broker) isReady() bool {
	select {
	case <-b.ready:
		return true
	default:
		return false
	}
}

// openObserve binds the operators' port. If nobody named the address and it is
// taken, the broker does without.
func (b *Broker) openObserve() (*observe.Server, error) {
	address := b.settings.MetricsListener
	if address == "" {
		return nil, nil
	}
	o, err := observe.New(observe.Options{
		Address: address, Metrics: b.metrics, Version: b.o.Version, Logger: b.o.Logger.Named("observe"), Ready: b.readiness,
	})
	if err == nil {
		return o, nil
	}
	if !b.o.Static.Given("barnabas.metrics.listener") {
		b.o.Logger.Warn("no metrics: the default address is taken (set barnabas.metrics.listener to another one, or to nothing)", zap.String("address", address), zap.Error(err))
		return nil, nil
	}
	return nil, fmt.Errorf("barnabas.metrics.listener: %w", err)
}

// readiness is why the broker is not ready, nil if it is.
func (b *Broker) readiness() error {
	switch {
	case !b.isReady():
		return errors.New("starting")
	case !b.logs.Online():
		return errors.New("every log directory is offline")
	}
	return nil
}
