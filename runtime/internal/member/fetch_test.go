package member_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// accepts has the client deliver a record of a partition.
func (p *solo) accepts(id idem.Partition, offset int64) {
	p.t.Helper()
	p.Accept(p.Find(id.Topic, id.Number), &wire.Message{Topic: id.Topic, Partition: id.Number, Offset: offset, LeaderEpoch: -1}, 10)
}

// applied checks which offsets of a partition were applied.
func (p *solo) applied(id idem.Partition, want ...int64) {
	p.t.Helper()
	p.sink.ledger.mu.Lock()
	defer p.sink.ledger.mu.Unlock()
	if got := p.sink.ledger.offsets[id]; !slices.Equal(got, want) {
		p.t.Errorf("offsets %v of %v were applied, want %v", got, id, want)
	}
}

// The client reads from the sink's positions: it is told where before a record is accepted, and
// again each time that a partition was taken over.
func TestClientReadsFromThePositions(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.sink.ledger.next[first], p.b.low[first], p.b.high[first] = 3, 1, 9
		p.assigns(first)
		p.does("assigned", "Assign []")
		p.accepts(first, 3) // the client may have it from before
		p.polls(100 * time.Millisecond)
		p.does("taken over", "Assign [0@3]", "Resume 0")
		p.accepts(first, 3)
		p.accepts(first, 4)
		p.polls(100 * time.Millisecond)
		p.applied(first, 3, 4)
		p.b.set(func() { p.b.topics[topicName] = intake.Topic{ID: wire.UUID{1}, Partitions: 3} })
		p.polls(6 * time.Second)
		p.does("taken over again", "Pause 0", "Seek 0@5", "Resume 0")
		p.accepts(first, 5)
		p.polls(100 * time.Millisecond)
		p.applied(first, 3, 4, 5)
		p.PositionLost(p.Find(topicName, 0))
		p.polls(100 * time.Millisecond)
		p.does("with a lost position", "Seek 0@6")
		p.polls(12 * time.Second)
		p.does("later", "Seek 0@6") // the log has more, and the client delivers none
		p.assigns(second)
		p.polls(100 * time.Millisecond)
		p.does("assigned another", "Assign []", "Assign [1@0]", "Resume 1")
		p.PositionLost(nil)
		p.polls(time.Second)
		if got := p.b.done(); len(got) != 2 || !slices.Contains(got, "Seek 0@6") || !slices.Contains(got, "Seek 1@0") {
			t.Errorf("with lost positions, the client was told %q", got)
		}
		p.PositionLost(p.Find(topicName, 0))
		p.PositionLost(p.Find(topicName, 1))
		p.polls(time.Second)
		if got := p.b.done(); len(got) != 2 {
			t.Errorf("with two lost positions, the client was told %q", got)
		}
		p.Revoke([]idem.Partition{first, {Topic: "other"}}, false)
		p.does("revoked", "Unassign [0]")
		p.assigns(first)
		p.Revoke([]idem.Partition{first}, false) // before it was taken over
		p.does("assigned and revoked at once", "Assign []", "Unassign []")
		if err := p.Leave(); err != nil {
			t.Error(err)
		}
		p.does("left", "Unassign [1]", "Close")
	})
}

// A partition that is given up is paused until it is taken over, and its records are not accepted.
func TestClientPausesWhatIsNotRead(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		halted := true
		p.b.high[first] = 7
		p.sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			if halted {
				return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Reason: "test"}
			}
			return idem.Position{Offset: 7, Epoch: -1}, nil
		}
		released := make(chan struct{})
		p.sink.answer = func(ctx context.Context, _ idem.Partition) (idem.TakeOver, error) {
			select {
			case <-released:
			case <-ctx.Done():
			}
			return idem.TakeOver{}, ctx.Err()
		}
		p.assigns(first)
		p.polls(time.Second)
		p.does("halted", "Assign []")
		p.accepts(first, 0)
		halted = false
		close(released)
		p.polls(time.Second)
		p.does("standing by", "Assign [0@0]", "Resume 0")
		p.accepts(first, 0) // so that it is taken over
		p.accepts(first, 1)
		p.polls(time.Second)
		p.does("released", "Pause 0", "Seek 0@7", "Resume 0")
		p.sink.before = func(context.Context, idem.Partition, []idem.Message) error {
			p.sink.before = nil
			return &idem.FencedError{Partition: first, Reason: "test"}
		}
		p.accepts(first, 7)
		p.polls(time.Second)
		p.does("fenced, and standing by", "Pause 0", "Seek 0@0", "Resume 0")
		p.applied(first)
	})
}

// After an error of the client it is unknown what it fetches: nothing of it is accepted any more,
// and the member ends with the first error.
func TestErrorOfTheClientEndsTheMember(t *testing.T) {
	for call, provoke := range map[string]func(p *solo){
		"Assign": func(p *solo) { p.Assign([]idem.Partition{second}) },
		"Resume": func(p *solo) { p.Assign([]idem.Partition{second}) },
		"Seek":   func(p *solo) { p.PositionLost(nil) },
		"Pause": func(p *solo) {
			p.b.set(func() { p.b.topics[topicName] = intake.Topic{ID: wire.UUID{1}, Partitions: 3} })
			p.polls(6 * time.Second)
		},
		"Unassign": func(p *solo) { p.Revoke([]idem.Partition{first}, true) },
	} {
		t.Run(call, func(t *testing.T) {
			pollsMember(t, func(t *testing.T, p *solo) {
				p.Assign([]idem.Partition{first})
				p.polls(100 * time.Millisecond)
				if p.Ended() {
					t.Fatal("it has ended already")
				}
				broken := errors.New("broken")
				p.b.set(func() { p.b.fails[call] = broken })
				provoke(p)
				p.polls(100 * time.Millisecond)
				if !p.Ended() {
					t.Error("the member has not ended")
				}
				if call == "Assign" {
					p.accepts(second, 0)
					p.polls(time.Second)
					p.applied(second)
				}
				p.Fail(errors.New("another one"))
				p.b.set(func() { p.b.fails["Close"] = errors.New("does not close") })
				err := p.Leave()
				if !errors.Is(err, broken) || err.Error() != "broken\nleaving the group: does not close" {
					t.Errorf("left with %v", err)
				}
				delete(p.b.fails, "Close")
				if err := p.Leave(); err != broken {
					t.Errorf("left with %v", err)
				}
			})
		})
	}
}

// A member that is told to fail ends, as one whose run is canceled.
func TestMemberEndsIfItFails(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		broken := errors.New("broken")
		p.Fail(nil)
		if p.Ended() {
			t.Error("it has ended without an error")
		}
		p.Fail(broken)
		if !p.Ended() || p.Leave() != broken {
			t.Error("it has not ended")
		}
		p.Assign([]idem.Partition{first}) // is only acknowledged
		synctest.Wait()
		if n := p.sink.seen("Assigned"); n > 0 {
			t.Error("a partition is taken over after the end")
		}
	})
}

// The sink hears the ends of logs: of an empty one too, which is where it begins, and no other one
// than the client knows, unless a comparison has found a higher one.
func TestSinkHearsTheEndsThatAreKnown(t *testing.T) {
	for name, test := range map[string]struct {
		at, low, high, open int64
		client              int64 // the end that the client knows
		atOnce, later       int64 // what the sink hears; -1 is nothing
	}{
		"an empty log":                       {0, 0, 0, 0, 0, 0, 0},
		"an empty log that had records":      {5, 5, 5, 0, 5, 5, 5},
		"a log with a record":                {0, 0, 1, 0, 1, 1, 1},
		"a client that knows no end":         {0, 0, 0, 0, -1, -1, 0},
		"a client that knows an older end":   {7, 0, 7, 0, 6, 6, 7},
		"a log that ends with a transaction": {7, 0, 7, 9, 7, 7, 9},
	} {
		t.Run(name, func(t *testing.T) {
			pollsMember(t, func(t *testing.T, p *solo) {
				p.sink.ledger.next[first] = test.at
				p.b.low[first], p.b.high[first], p.b.ends[first] = test.low, test.high, test.open
				if test.client >= 0 {
					p.b.fetched[first] = test.client
				}
				heard := func(when string, want int64) {
					t.Helper()
					end := int64(-1)
					if got, ok := p.sink.ends[first]; ok {
						end = got
					}
					if end != want {
						t.Errorf("%s, the end is %d, want %d", when, end, want)
					}
				}
				p.Assign([]idem.Partition{first})
				p.polls(1500 * time.Millisecond)
				heard("at once", test.atOnce)
				p.polls(time.Minute) // and a comparison
				heard("later", test.later)
			})
		})
	}
}
