package main

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// flow is a log that is produced while it is consumed. Records that the group has committed are
// dropped, so that the broker's memory does not grow with the time.
type flow struct {
	log    log
	group  string
	broker *idemtest.Broker
	ahead  int // how many records it keeps in front of what the group has committed

	produced int
	dropped  [partitions]int64 // offset below which nothing is kept
	stop     context.CancelFunc
	done     chan error
}

// startFlow returns when there is enough to begin with.
func startFlow(ctx context.Context, f flow) (*flow, error) {
	for f.produced < f.ahead {
		if err := f.produce(ctx); err != nil {
			return nil, err
		}
	}
	ctx, f.stop = context.WithCancel(ctx)
	f.done = make(chan error, 1)
	go func() { f.done <- f.run(ctx) }()
	return &f, nil
}

// end ends the flow.
func (f *flow) end() error {
	f.stop()
	err := <-f.done
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (f *flow) run(ctx context.Context) error {
	for {
		kept, err := f.drop()
		if err != nil {
			return err
		}
		if kept < f.ahead {
			if err := f.produce(ctx); err != nil {
				return err
			}
			continue
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drop drops what the group has committed, and returns how many records are left.
func (f *flow) drop() (kept int, err error) {
	kept = f.produced
	for p, committed := range f.broker.Committed(f.group, f.log.topic) {
		if committed > f.dropped[p] {
			if err := f.broker.DeleteRecords(f.log.topic, int32(p), committed); err != nil {
				return 0, err
			}
			f.dropped[p] = committed
		}
		kept -= int(f.dropped[p])
	}
	return kept, nil
}

// produce appends some records.
func (f *flow) produce(ctx context.Context) error {
	batch := make([]*wire.Message, 5000)
	for i := range batch {
		batch[i] = f.log.message(f.produced + i)
	}
	if err := f.broker.Produce(ctx, batch...); err != nil {
		return err
	}
	f.produced += len(batch)
	return nil
}
