package member_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// fence tells whether a delivery was refused, and with which record it began.
type fence struct {
	atomic.Bool
	at atomic.Int64
}

// fenceOnce makes a sink's first delivery from an offset on fail as if another owner had
// appended, which went as far as next.
func fenceOnce(sink *fakeSink, p idem.Partition, from, next int64) (fenced *fence) {
	fenced = &fence{}
	sink.before = func(_ context.Context, id idem.Partition, records []idem.Message) error {
		if id != p || records[0].Offset < from || fenced.Swap(true) {
			return nil
		}
		fenced.at.Store(records[0].Offset)
		l := sink.ledger
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next[p] = next
		return &idem.FencedError{Partition: p, Reason: "another owner appended"}
	}
	return fenced
}

// The other owner went ahead: what it passed is not delivered, and all else is, including the
// record that was waited for.
func TestFencedPartitionIsTakenOverAgain(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		produce(t, brokers, 2000, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		fenced := fenceOnce(sink, p, 500, 1500)
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "both partitions to their end", func() bool {
			return l.position(p) == 2000 && l.position(idem.Partition{Topic: topicName, Number: 1}) == 2000
		})
		complete(t, l, 2000, 1)
		want := append(numbers(int(fenced.at.Load())), numbers(2000)[1500:]...)
		delivered(t, l, p, want)
		if a, s := sink.seen("Assigned 0"), sink.seen("Standby 0"); a != 2 || s != 1 {
			t.Errorf("taken over %d times, stood by %d times; want 2 and 1", a, s)
		}
	})
}

// The position that the sink tells after a standby may lie before what the client has read,
// also while further records arrive.
func TestPartitionIsReadAgainFromAnEarlierPosition(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 3000, 0)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		fenced := fenceOnce(sink, p, 500, 200) // an operator rewound it
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "the fence", fenced.Load)
		for range 50 {
			produce(t, brokers, 1, 0)
			time.Sleep(5 * time.Millisecond)
		}
		eventually(t, "the end", func() bool { return l.position(p) == 3050 })
		delivered(t, l, p, append(numbers(int(fenced.at.Load())), numbers(3050)[200:]...))
	})
}

// An idle partition is not fought for: it is taken over when there is something to read.
func TestStandbyWaitsForARecord(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 100, 0)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		fenceOnce(sink, p, 0, 100)
		sink.answer = func(context.Context, idem.Partition) (idem.TakeOver, error) {
			return idem.TakeOver{At: idem.Position{Offset: 100, Epoch: -1}}, nil
		}
		var checks atomic.Int64
		sink.idle = func() error { checks.Add(1); return nil }
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "two checks while it waits", func() bool { return checks.Load() >= 2 || sink.seen("Assigned") > 1 })
		if n := sink.seen("Assigned"); n != 1 {
			t.Fatalf("taken over %d times although nothing waits, want once", n)
		}
		produce(t, brokers, 10, 0)
		eventually(t, "the end", func() bool { return l.position(p) == 110 })
		delivered(t, l, p, numbers(110)[100:])
	})
}

// While a worker is fenced in Assigned, too, it goes back to Standby; an error of Standby is
// no answer.
func TestStandbyIsAskedUntilItIsOver(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 100, 0)
		l := newLedger()
		sink := newSink(t, l)
		var tries, turns atomic.Int64
		sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			if tries.Add(1) < 4 {
				return idem.Position{}, &idem.FencedError{Partition: a.Partition, Reason: "it is alive"}
			}
			return idem.Position{Epoch: -1}, nil
		}
		sink.answer = func(context.Context, idem.Partition) (idem.TakeOver, error) {
			if turns.Add(1)%2 == 1 {
				return idem.TakeOver{}, errors.New("the database is away")
			}
			return idem.TakeOver{At: idem.Position{Epoch: -1}}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "100 records", func() bool { return l.count() >= 100 })
		complete(t, l, 100, 0)
		if n, m := tries.Load(), turns.Load(); n != 4 || m != 6 {
			t.Errorf("Assigned %d times, Standby %d times, want 4 and 6", n, m)
		}
	})
}

// A halted partition is not read until the sink says that a person acted; the others are.
func TestHaltedPartitionStaysUnreadUntilAPersonActs(t *testing.T) {
	for _, in := range []string{"Assigned", "Deliver"} {
		t.Run(in, func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				_, brokers := startCluster(t, 3)
				produce(t, brokers, 1000, 0, 1, 2)
				l := newLedger()
				sink := newSink(t, l)
				acted := make(chan struct{})
				halt := func(p idem.Partition) error {
					select {
					case <-acted:
						return nil
					default:
					}
					if p.Number != 1 {
						return nil
					}
					return &idem.HaltedError{Partition: p, Offset: -1, Reason: "a test"}
				}
				sink.before = func(_ context.Context, p idem.Partition, _ []idem.Message) error { return halt(p) }
				if in == "Assigned" {
					sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
						return idem.Position{Offset: l.position(a.Partition), Epoch: -1}, halt(a.Partition)
					}
				}
				sink.answer = func(ctx context.Context, _ idem.Partition) (idem.TakeOver, error) {
					select {
					case <-acted:
						return idem.TakeOver{Now: true}, nil
					case <-ctx.Done():
						return idem.TakeOver{}, ctx.Err()
					}
				}
				log, src := &testLog{}, open(t, brokers, k)
				src.Logger = textLogger(log)
				start(t, src, subscription(), sink)
				eventually(t, "the other partitions", func() bool { return l.count() >= 2000 && sink.seen("Standby 1") == 1 })
				complete(t, l, 1000, 0, 2)
				if text := log.String(); strings.Contains(text, "stands by") { // that is for who waits for another owner
					t.Errorf("the halt is taken for something else: %s", text)
				}
				if n := sink.seen("Assigned 1"); n != 1 {
					t.Errorf("the halted partition was tried %d times, want once", n)
				}
				close(acted)
				eventually(t, "the partition that was halted", func() bool { return l.count() >= 3000 })
				complete(t, l, 1000, 0, 1, 2)
			})
		})
	}
}

// Partitions that stand by, or wait for a record, are given up like others.
func TestStandbyEndsWithTheAssignment(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 4)
		l := newLedger()
		first, second := newSink(t, l), newSink(t, l)
		first.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			return idem.Position{}, &idem.FencedError{Partition: a.Partition, Reason: "a test"}
		}
		first.answer = func(ctx context.Context, p idem.Partition) (idem.TakeOver, error) {
			if p.Number%2 == 0 {
				return idem.TakeOver{At: idem.Position{Epoch: -1}}, nil
			}
			<-ctx.Done()
			return idem.TakeOver{}, ctx.Err()
		}
		stop := start(t, open(t, brokers, k), subscription(), first)
		eventually(t, "all stand by", func() bool { return first.seen("Standby") == 4 })
		start(t, open(t, brokers, k), subscription(), second)
		eventually(t, "two are given up", func() bool { return first.seen("Revoked") == 2 && second.owns() == 2 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the other two as well", func() bool { return first.seen("Revoked") == 4 && second.owns() == 4 })
		produce(t, brokers, 100, 0, 1, 2, 3)
		eventually(t, "400 records", func() bool { return l.count() >= 400 })
		complete(t, l, 100, 0, 1, 2, 3)
	})
}

// Behind the record that the other owner read last come markers only. Nobody is left to pass
// them, so that they, too, end the wait.
func TestMarkersEndTheWait(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produceTransaction(t, brokers, 10, true)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		fenceOnce(sink, p, 0, 10)
		sink.answer = func(context.Context, idem.Partition) (idem.TakeOver, error) {
			return idem.TakeOver{At: idem.Position{Offset: 10, Epoch: -1}}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "the partition is taken over", func() bool { return sink.seen("Assigned") == 2 && l.position(p) == 11 })
	})
}
