package member_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A revoke commits what is durable after the sink has ended its work. It waits neither for a sink
// that does not end nor for a commit without an answer, and what was durable before is committed.
func TestRevokeCommitsWhatIsDurableInTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		hangs   bool          // a transaction of the sink
		end     int64         // what is durable then; it was offset 7 before
		commit  time.Duration // how long the broker takes
		lost    bool
		leaves  bool  // the member
		durable int64 // the offset that is committed; -1 is none
		takes   time.Duration
	}{
		"at once":                  {end: 8, durable: 8},
		"at the beginning":         {end: 0, durable: 0},
		"nothing in the end":       {end: -1, durable: 7},
		"a slow broker":            {end: 8, commit: time.Second, durable: 8, takes: time.Second},
		"a broker that is away":    {end: 8, commit: time.Hour, durable: 8, takes: 2500 * time.Millisecond},
		"a sink that does not end": {hangs: true, end: 8, durable: 7, takes: 5 * time.Second},
		"of a member that leaves":  {end: 8, leaves: true, durable: 8},
		"a lost partition":         {end: 8, lost: true, durable: -1},
	} {
		pollsMemberIn(t, name, func(t *testing.T, p *solo) {
			hang := make(chan struct{})
			p.sink.ledger.next[first], p.b.high[first] = 7, 9
			p.sink.revoked = &idem.Commit{Offset: test.end}
			p.sink.before = func(context.Context, idem.Partition, []idem.Message) error { <-hang; return context.Canceled }
			p.Assign([]idem.Partition{first})
			p.polls(100 * time.Millisecond)
			if test.hangs {
				p.accepts(first, 7)
			}
			time.Sleep(time.Second) // it is being delivered
			synctest.Wait()
			p.b.set(func() {
				p.b.waits = func(call string) {
					if call == "Commit" {
						time.Sleep(test.commit)
					}
				}
			})
			start := time.Now()
			if test.leaves {
				_ = p.Leave()
			} else {
				p.Revoke([]idem.Partition{first}, test.lost)
			}
			if took := time.Since(start); took != test.takes {
				t.Errorf("it took %v, want %v", took, test.takes)
			}
			p.b.set(func() { p.b.waits = nil })
			time.Sleep(time.Hour)
			synctest.Wait()
			got := int64(-1)
			if len(p.b.commits) > 0 {
				got = p.b.commits[0][first].Offset
			}
			if got != test.durable || len(p.b.commits) > 1 {
				t.Errorf("committed: %v, want offset %d", p.b.commits, test.durable)
			}
			close(hang)
		})
	}
}

// A client that does not close is left, and that is said.
func TestClientThatDoesNotCloseIsLeft(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.b.waits = func(call string) {
			if call == "Close" {
				time.Sleep(time.Hour)
			}
		}
		broken, start := errors.New("broken"), time.Now()
		p.Fail(broken)
		if err, took := p.Leave(), time.Since(start); err != broken || took != 10*time.Second {
			t.Errorf("left with %v after %v", err, took)
		}
		if n := said(p.log, "the Kafka client does not close"); n != 1 {
			t.Errorf("%d lines that say so:\n%s", n, p.log)
		}
		time.Sleep(time.Hour)
		p.b.set(func() { p.b.waits = nil })
	})
}

// What a comparison finds out is of no account for a partition that was given up or taken over
// again meanwhile.
func TestComparisonOfThePastIsOfNoAccount(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.b.high[first], p.b.high[second] = 9, 9
		p.assigns(first, second)
		p.polls(6 * time.Second) // and the first comparison
		p.b.done()
		asks := func(d time.Duration) (answer func()) {
			hold := make(chan struct{})
			p.b.set(func() { p.b.hold = hold })
			p.polls(d)
			p.b.set(func() { p.b.hold = nil })
			return func() { close(hold) }
		}
		answer := asks(5 * time.Second)
		p.accepts(first, 0)
		p.accepts(second, 0)
		answer()
		p.polls(100 * time.Millisecond)
		p.does("about the time before a record")
		p.PositionLost(p.Find(topicName, 0))
		answer = asks(time.Second)
		p.Revoke([]idem.Partition{first}, true)
		p.b.done()
		answer()
		p.polls(100 * time.Millisecond)
		p.does("about a partition that was revoked")
		p.PositionLost(nil)
		answer = asks(time.Second)
		p.b.set(func() { p.b.topics[topicName] = intake.Topic{ID: wire.UUID{1}, Partitions: 3} })
		p.Accept(p.Find(topicName, 1), &wire.Message{Topic: topicName, Partition: 1, Offset: 1, LeaderEpoch: 0}, 10)
		p.Accept(p.Find(topicName, 1), &wire.Message{Topic: topicName, Partition: 1, Offset: 2, LeaderEpoch: 1}, 10)
		p.polls(time.Second)
		if n := p.sink.seen("Assigned 1"); n != 2 {
			t.Fatalf("the second partition was taken over %d times, want 2", n)
		}
		p.b.done()
		answer()
		p.polls(time.Second)
		p.does("about the past")
		if n := p.sink.seen("Assigned"); n != 3 {
			t.Errorf("%d take-overs, want 3", n)
		}
	})
}

// A partition whose queue is full is paused until the queue is half empty, and then resumed once.
func TestFullQueuePausesUntilItIsHalfEmpty(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		gate := make(chan struct{})
		p.sink.before = func(context.Context, idem.Partition, []idem.Message) error { <-gate; return nil }
		p.assigns(first)
		p.polls(100 * time.Millisecond)
		p.does("taken over", "Assign []", "Assign [0@0]", "Resume 0")
		n, of := int64(0), p.Find(topicName, 0)
		for range 2 { // the first time, the records are being delivered at once
			for full := false; !full; n++ {
				full = p.Accept(of, &wire.Message{Topic: topicName, Offset: n, LeaderEpoch: -1}, 64<<10)
			}
			synctest.Wait()
		}
		for waits := 1; len(p.b.calls) == 0; waits++ {
			if waited := p.Throttle(of); !waited || waits > intake.MaxRoomWaits {
				t.Fatalf("throttled %d times; it waited: %t", waits, waited)
			}
		}
		p.does("full", "Pause 0")
		if p.Throttle(of) {
			t.Error("a paused partition is throttled")
		}
		if wait := p.PollWait(); wait != 5*time.Millisecond {
			t.Errorf("while it is paused, a poll waits %v", wait)
		}
		p.b.high[first] = 1000
		p.assigns(second)
		p.polls(2 * time.Minute)
		p.does("still full", "Assign []", "Assign [1@0]", "Resume 1")
		close(gate)
		p.polls(time.Second)
		p.does("half empty", "Resume 0")
		if got := p.sink.ledger.position(first); got != n {
			t.Errorf("the position is %d, want %d", got, n)
		}
	})
}

// A full queue is not waited for while another partition is in need of records.
func TestFullQueueIsNotWaitedForWhileAnotherStarves(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		gate := make(chan struct{})
		defer close(gate)
		p.sink.before = func(context.Context, idem.Partition, []idem.Message) error { <-gate; return nil }
		p.assigns(first, second)
		p.polls(100 * time.Millisecond)
		of := p.Find(topicName, 0)
		for n := int64(0); n < 40; n++ {
			if p.Accept(of, &wire.Message{Topic: topicName, Offset: n, LeaderEpoch: -1}, 64<<10); n == 20 {
				synctest.Wait()
			}
		}
		if p.Throttle(of) {
			t.Error("it waited although the second partition has no records")
		}
		p.ReachedEnd(p.Find(topicName, 1), 0)
		if !p.Throttle(of) {
			t.Error("it did not wait although the second partition has no more records")
		}
	})
}

// The retention of a topic is asked for once, if its keys have a window.
func TestRetentionIsAskedForOnce(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.b.windows = map[string]time.Duration{topicName: time.Hour}
		p.b.topics["other"] = intake.Topic{ID: wire.UUID{2}, Partitions: 1}
		p.Assign([]idem.Partition{first, second, {Topic: "other"}})
		p.polls(time.Second)
		p.Revoke([]idem.Partition{first}, false)
		p.Assign([]idem.Partition{first})
		p.polls(time.Second)
		if !slices.Equal(p.b.configs, []string{topicName}) {
			t.Errorf("asked for %q", p.b.configs)
		}
		if n := said(p.log, "the topic never deletes old records"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, p.log)
		}
	})
}

// The sink hears since when a log ends where it does: since the look before the one that found it.
// Brokers are asked only where the client may not know the end.
func TestSinkHearsSinceWhenALogEnds(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		third := idem.Partition{Topic: topicName, Number: 2} // it halts
		p.sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			if a.Partition == third {
				return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Reason: "test"}
			}
			return idem.Position{Epoch: -1}, nil
		}
		p.sink.answer = untilTheEnd
		start := time.Now()
		p.b.fetched[first], p.b.high[first] = 0, 9
		p.assigns(first, second, third)
		p.polls(1500 * time.Millisecond)
		p.b.set(func() { p.b.fetched[first] = 5 })
		p.polls(2 * time.Second)
		var got []string
		for _, s := range p.sink.since {
			since := "ever"
			if !s.after.IsZero() {
				since = s.after.Sub(start).Truncate(time.Second).String()
			}
			got = append(got, fmt.Sprintf("%d at %d since %s", s.partition, s.end, since))
		}
		if want := "0 at 0 since ever, 0 at 0 since ever, 0 at 5 since 1s, 0 at 5 since 1s"; strings.Join(got, ", ") != want {
			t.Errorf("the sink heard %q, want %q", got, want)
		}
		for offset := range int64(12) { // one each second
			p.accepts(first, offset)
			p.polls(time.Second)
		}
		if asked := fmt.Sprint(p.b.ended); asked != "[[2] [1 2] [1 2]]" {
			t.Errorf("brokers were asked for the ends of %s", asked)
		}
	})
}
