package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// partition writes the records of one partition in their order.
type partition struct {
	consumer *consumer
	writer   writer
	queue    chan []*kgo.Record
	ended    chan struct{}
}

// run writes full batches, and what there is when nothing more is queued.
func (p *partition) run(ctx context.Context) {
	defer close(p.ended)
	var pending []*kgo.Record
	for records := range p.queue {
		if len(pending) == 0 {
			pending = records
		} else {
			pending = append(pending, records...)
		}
		for len(pending) >= batchRecords || len(pending) > 0 && len(p.queue) == 0 {
			batch := pending[:min(len(pending), batchRecords)]
			if err := p.writer.write(ctx, batch); err != nil {
				p.consumer.fail(err)
				return
			}
			p.consumer.client.MarkCommitRecords(batch[len(batch)-1])
			p.consumer.applied.Add(int64(len(batch)))
			pending = pending[len(batch):]
		}
	}
}
