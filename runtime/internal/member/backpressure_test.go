package member_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// A partition that stands does not keep others from their records, whose log goes on when
// its own queue is full: it is paused.
func TestFullQueueStarvesNoOther(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		produce(t, brokers, 60000, 0)
		l := newLedger()
		sink := newSink(t, l)
		begun, gate := make(chan struct{}, 1), make(chan struct{})
		sink.before = func(ctx context.Context, p idem.Partition, _ []idem.Message) error {
			if p.Number == 0 {
				select {
				case begun <- struct{}{}:
				default:
				}
				select {
				case <-gate:
				case <-ctx.Done():
				}
			}
			return nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		<-begun
		time.Sleep(intake.MaxRoomWaits * intake.RoomWait / 2) // all that the client holds is of the partition that stands
		produce(t, brokers, 5000, 1)
		eventually(t, "the other partition's records", func() bool {
			return l.position(idem.Partition{Topic: topicName, Number: 1}) == 5000
		})
		close(gate)
		eventually(t, "65000 records", func() bool { return l.count() >= 65000 })
		complete(t, l, 60000, 0)
		complete(t, l, 5000, 1)
	})
}

// slowly is a sink whose deliveries take longer than polling waits for a queue, so that the
// queues become full.
func slowly(t *testing.T, l *ledger) *fakeSink {
	sink := newSink(t, l)
	sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
		if !sleep(ctx, 3*intake.RoomWait) {
			return ctx.Err()
		}
		return nil
	}
	return sink
}

// delegated is closed when the client has a revoke for its application, as it says in its log.
type delegated struct {
	slog.Handler
	says   string
	revoke chan struct{}
	once   sync.Once
}

func (d *delegated) Enabled(context.Context, slog.Level) bool { return true }

func (d *delegated) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, d.says) {
		d.once.Do(func() { close(d.revoke) })
	}
	r.Attrs(func(a slog.Attr) bool {
		if text := a.Value.String(); a.Key == "text" && strings.Contains(text, d.says) {
			d.once.Do(func() { close(d.revoke) })
		}
		return true
	})
	if d.Handler.Enabled(ctx, r.Level) {
		return d.Handler.Handle(ctx, r)
	}
	return nil
}

// A revoke does not wait until the records are delivered that the client fetched before, or
// that stand in the queues: two of them are on their way and may end, and two more begin.
func TestRevokeIsAnsweredWhileQueuesAreFull(t *testing.T) {
	withEach(t, revokeIsAnsweredWhileQueuesAreFull)
}

func revokeIsAnsweredWhileQueuesAreFull(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	const events, each = 100, 20000
	var records []*kgo.Record
	for i := range 2 * each {
		records = append(records, &kgo.Record{Topic: topicName, Partition: int32(i % 2), Value: make([]byte, 300)})
	}
	produceRecords(t, brokers, records...)
	l := newLedger()
	first := slowly(t, l)
	s := open(t, brokers, k)
	s.debug = true
	told := &delegated{Handler: s.Logger.Handler(), says: k.revokes, revoke: make(chan struct{})}
	s.Logger = slog.New(told)
	start(t, s, subscription(), first)
	eventually(t, "deliveries", func() bool { return l.count() > 10*events })
	start(t, open(t, brokers, k), subscription(), slowly(t, l))
	happens(t, "the client has a revoke", told.revoke)
	from := l.count()
	eventually(t, "a revoke", func() bool { return first.seen("Revoked") == 1 })
	if all := l.count(); all-from > 4*events || all == 2*each {
		t.Errorf("%d records were delivered before it was answered, and %d in all", all-from, all)
	}
}
