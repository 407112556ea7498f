package member_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
)

// polled counts the polls of franz-go that returned records of partition 0 from an offset on, and
// those records.
type polled struct {
	from int64

	mu             sync.Mutex
	counted        bool // this poll
	polls, records int
}

func (p *polled) OnPollStart(context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counted = false
}

func (p *polled) OnFetchRecordUnbuffered(r *kgo.Record, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Partition != 0 || r.Offset < p.from {
		return
	}
	if !p.counted {
		p.counted = true
		p.polls++
	}
	p.records++
}

// A full queue does not make its client poll record by record. Partition 0 delivers nothing, so
// its queue fills up and the partition is paused. Partition 1 continues.
func TestFullQueueIsPolledByManyRecordsAtATime(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 2)
	const each = 10000
	var records []*kgo.Record
	for i := range 2 * each {
		records = append(records, &kgo.Record{Topic: topicName, Partition: int32(i % 2), Value: make([]byte, 1024)})
	}
	produceRecords(t, brokers, records...)
	l := newLedger()
	sink := newSink(t, l)
	sink.before = func(ctx context.Context, id idem.Partition, _ []idem.Message) error {
		if id.Number == 0 {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	count := &polled{from: 500} // one batch of 100 is being delivered, four are in the queue
	s := &franz.Source{Brokers: brokers, Options: []kgo.Opt{kgo.WithHooks(count)}, Logger: slog.New(slog.DiscardHandler)}
	stop := start(t, s, subscription(), sink)
	eventually(t, "the other partition's records", func() bool {
		return l.position(idem.Partition{Topic: topicName, Number: 1}) == each
	})
	if err := stop(); err != nil {
		t.Error(err)
	}
	if count.records == 0 || count.records < 10*count.polls {
		t.Errorf("%d polls returned %d records while the queue was full", count.polls, count.records)
	}
}
