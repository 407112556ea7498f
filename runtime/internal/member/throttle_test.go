package member

import (
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// However many queues are full, polling goes on after RoomWait: nothing else that the client has
// to tell, such as a rebalance, waits for longer. And no wait lasts for ever. The
// time is that of a bubble, in which only these goroutines live.
func TestFullQueuesHoldPollingUpForOneWaitAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const fetchBytes = 128 << 10
		m := New(t.Context(), Config{
			Subscription: idemtype.Subscription{BatchEvents: 10, BatchBytes: 1 << 30, BatchWait: time.Hour},
			Log:          slog.New(slog.DiscardHandler), FetchBytes: fetchBytes,
		})
		for number := range int32(4) {
			id := idemtype.Partition{Topic: "orders.v1", Number: number}
			p := newPartition(intake.NewDelivery(t.Context(), &m.intake, id, nil))
			m.partitions.add(p)
			p.delivery.Queue.Open(p.delivery.Queue.Reset())
			p.cursor.State = intake.Reading
			for p.cursor.Accept(&wire.Message{Offset: p.cursor.Next}, fetchBytes/20) != intake.Full {
			}
		}
		all := slices.Collect(maps.Values(m.partitions.all))
		begun, polls := time.Now(), 0
		for ; slices.ContainsFunc(all, func(p *Partition) bool { return !p.delivery.Queue.Paused() }); polls++ {
			p := all[polls%len(all)]
			before := time.Now()
			if m.Accept(p, &wire.Message{Offset: p.cursor.Next}, 1000) {
				m.Throttle(p)
			}
			if held := time.Since(before); held > intake.RoomWait {
				t.Fatalf("a record held polling up by %v, want %v at most", held, intake.RoomWait)
			}
		}
		if waited := time.Since(begun); polls != intake.MaxRoomWaits*len(all) || waited != time.Duration(polls)*intake.RoomWait {
			t.Errorf("all were paused after %d polls and %v, want %d polls of %v", polls, waited, intake.MaxRoomWaits*len(all), intake.RoomWait)
		}
	})
}

// A log that begins behind the next record has lost some, if the partition is read.
func TestRecordsThatALogLostAreMissed(t *testing.T) {
	t.Parallel()
	p := newPartition(&intake.Delivery{Queue: intake.NewQueue(intake.Limits{}, intake.NewSignal())})
	p.cursor.Next = 10
	for state, missed := range map[intake.State]bool{intake.Reading: true, intake.AwaitingRecord: true, intake.TakingOver: false, intake.StandingBy: false} {
		p.cursor.State = state
		if p.Misses(10) || p.Misses(11) != missed {
			t.Errorf("in state %v records are missed: %v, want %v", state, p.Misses(11), missed)
		}
	}
}
