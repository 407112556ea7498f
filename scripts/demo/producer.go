package main

import (
	"context"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

const (
	perSecond   = 300     // records, of which some are sent twice
	mostRecords = 200_000 // the broker keeps them in memory
)

// producer makes the log as it goes on, and keeps what the broker acknowledged.
type producer struct {
	broker broker

	mu       sync.Mutex
	shop     *shop.Maker
	log      []shop.Entry // in the order of the broker's
	messages []*wire.Message
	again    int64 // copies in the log
}

func newProducer(b broker) *producer {
	return &producer{broker: b, shop: shop.New(7, partitions)}
}

// send makes records and produces them. What the broker has must be known here, so that the end
// of ctx does not cut it short.
func (p *producer) send(ctx context.Context, compose func(*shop.Maker) []shop.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries := compose(p.shop)
	messages := make([]*wire.Message, len(entries))
	for i, e := range entries {
		messages[i] = e.Message
	}
	if err := p.broker.Produce(context.WithoutCancel(ctx), messages...); err != nil {
		return err
	}
	p.log, p.messages = append(p.log, entries...), append(p.messages, messages...)
	for _, e := range entries {
		if e.Cause == shop.Resent || e.Cause == shop.Old {
			p.again++
		}
	}
	return nil
}

// acknowledged is the log so far, and how many of its records are copies.
func (p *producer) acknowledged() ([]shop.Entry, []*wire.Message, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log, p.messages, p.again
}

// run produces until ctx ends.
func (p *producer) run(ctx context.Context) error {
	const times = 10 // a second
	tick := time.NewTicker(time.Second / times)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if log, _, _ := p.acknowledged(); len(log) >= mostRecords {
			continue
		}
		if err := p.send(ctx, func(m *shop.Maker) []shop.Entry { return take(m, perSecond/times) }); err != nil {
			return err
		}
	}
}
