package member_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A poll waits shortly only while something waits for the polling goroutine.
func TestPollIsShortWhileAPartitionWaits(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		waits := func(when string, want time.Duration) {
			t.Helper()
			if got := p.PollWait(); got != want {
				t.Errorf("%s, a poll waits %v, want %v", when, got, want)
			}
		}
		waits("without partitions", 50*time.Millisecond)
		p.assigns(first)
		waits("while it is taken over", 5*time.Millisecond)
		p.polls(time.Second)
		waits("while it is read", 50*time.Millisecond)
	})
}

// A record's partition is found by topic and number.
func TestPartitionIsFoundByTopicAndNumber(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		other := idem.Partition{Topic: "other"}
		p.b.topics["other"] = intake.Topic{ID: wire.UUID{2}, Partitions: 1}
		p.Assign([]idem.Partition{first, second, other})
		for _, id := range []idem.Partition{first, first, other, second, first, second, other} {
			if of := p.Find(id.Topic, id.Number); of == nil || of.ID() != id {
				t.Errorf("%v is not found", id)
			}
		}
		if p.Find("none", 0) != nil || p.Find(topicName, 2) != nil {
			t.Error("what is not assigned is found")
		}
		p.Find("other", 0)
		p.Revoke([]idem.Partition{other}, false)
		if p.Find("other", 0) != nil {
			t.Error("what was revoked is found")
		}
	})
}

// However often the client loses positions, they are looked for once in a while only.
func TestLostPositionsAreLookedForOnceInAWhile(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Assign([]idem.Partition{first})
		p.polls(time.Second)
		before := p.b.asked
		for range 50 {
			p.PositionLost(nil)
			p.polls(50 * time.Millisecond)
		}
		if n := p.b.asked - before; n < 5 || n > 13 { // every 250 ms
			t.Errorf("the brokers were asked %d times in 2.5 s", n)
		}
	})
}

// A partition is taken over once the brokers say all that the sink must know of it.
func TestPartitionIsTakenOverOnceItIsDescribed(t *testing.T) {
	for _, call := range []string{"Topics", "Watermarks", "a topic"} {
		pollsMemberIn(t, call, func(t *testing.T, p *solo) {
			p.b.fails[call] = errors.New("no answer")
			topics := p.b.topics
			if call == "a topic" {
				p.b.topics = nil
			}
			p.b.low[first], p.b.high[first], p.b.epochEnd = 2, 7, 4
			p.Assign([]idem.Partition{first})
			p.polls(10 * time.Second)
			if n := p.sink.seen("Assigned"); n > 0 {
				t.Errorf("taken over %d times without an answer", n)
			}
			p.b.set(func() { delete(p.b.fails, call); p.b.topics = topics })
			p.polls(20 * time.Second)
			if len(p.sink.answers) == 0 {
				t.Fatal("not taken over")
			}
			a := p.sink.answers[0]
			if a.Partition != first || a.TopicID != (wire.UUID{1}) || a.Partitions != 2 || a.Low != 2 || a.High != 7 {
				t.Errorf("taken over with %+v", a)
			}
			committed, err := a.Committed(t.Context())
			others, also := a.Others(t.Context())
			if fmt.Sprint(committed, others) != "{10 orders.v1} map[0:{10 orders.v1} 1:{11 orders.v1}]" || err != nil || also != nil {
				t.Errorf("committed: %v, %v, %v, %v", committed, err, others, also)
			}
			p.b.set(func() { p.b.fails["Committed"] = errors.New("no answer") })
			if committed, err := a.Committed(t.Context()); err == nil || committed != idemtype.NoCommit {
				t.Errorf("without an answer: %v, %v", committed, err)
			}
			end, err := a.EpochEnd(t.Context(), idem.Position{})
			last, other := a.Last(t.Context())
			if end != 4 || err != nil || last.Offset != 6 || other != nil {
				t.Errorf("the epoch ends at %d, %v; the last record is at %d, %v", end, err, last.Offset, other)
			}
		})
	}
}
