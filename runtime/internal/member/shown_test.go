package member_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// said checks how many lines of the log have a text.
func (p *solo) said(text string, times int) {
	p.t.Helper()
	if n := said(p.log, text); n != times {
		p.t.Errorf("%q is said %d times, want %d:\n%s", text, n, times, p.log)
	}
}

// A silent partition is compared with its log. What that shows is logged with what an operator
// needs, and the partition is taken over again, or read again, or the sink is told.
func TestComparisonOfASilentPartition(t *testing.T) {
	const its = "topic=" + topicName + " partition=0 "
	for name, test := range map[string]struct {
		low, high, end, epochEnd int64
		topic                    intake.Topic
		says                     string
		again, silent            bool
		does                     string // of the client, first
	}{
		"in order":             {low: 0, high: 5, epochEnd: 5},
		"the log begins later": {low: 6, high: 9, epochEnd: 9, again: true, says: `"position is not in the broker's log" ` + its + "position=5 low=6 high=9", does: "Pause 0"},
		"the log ends earlier": {low: 0, high: 4, epochEnd: 4, again: true, says: `"position is not in the broker's log" ` + its + "position=5 low=0 high=4", does: "Pause 0"},
		"the log begins here":  {low: 5, high: 5, epochEnd: 5},
		"it was cut":           {low: 0, high: 9, epochEnd: 3, again: true, says: `"the log was truncated below the position" ` + its + "position=5 epoch=3 end=3", does: "Pause 0"},
		"it has more": {low: 0, high: 9, epochEnd: 5, silent: true, does: "Seek 0@5",
			says: `"the client delivers no records although the broker has some: setting its position again" ` + its + "offset=5 end=9"},
		"a transaction is open": {low: 0, high: 5, end: 8, epochEnd: 5, silent: true, says: `level=ERROR msg="records wait behind an open transaction of p1" ` + its + "offset=5"},
		"the topic is another": {low: 0, high: 5, epochEnd: 5, topic: intake.Topic{ID: wire.UUID{2}, Partitions: 2}, again: true, does: "Pause 0",
			says: `"the topic has changed" ` + its + "again=true partitions=2 before=2"},
		"the topic has more partitions": {low: 0, high: 5, epochEnd: 5, topic: intake.Topic{ID: wire.UUID{1}, Partitions: 3}, again: true, does: "Pause 0",
			says: `"the topic has changed" ` + its + "again=false partitions=3 before=2"},
	} {
		t.Run(name, func(t *testing.T) {
			pollsMember(t, func(t *testing.T, p *solo) {
				p.b.holder = "p1"
				p.sink.assign = func(context.Context, idem.Assignment) (idem.Position, error) {
					return idem.Position{Offset: 5, Epoch: 3}, nil
				}
				p.assigns(first)
				p.polls(time.Second)
				p.does("assigned", "Assign []", "Assign [0@5]", "Resume 0")
				p.b.set(func() {
					p.b.low[first], p.b.high[first], p.b.ends[first], p.b.epochEnd = test.low, test.high, test.end, test.epochEnd
					if test.topic.Partitions > 0 {
						p.b.topics[topicName] = test.topic
					}
				})
				p.polls(100 * time.Second)
				if test.says != "" && !strings.Contains(p.log.String(), test.says) {
					t.Errorf("%q is not said:\n%s", test.says, p.log)
				}
				if n := said(p.log, "level=WARN") + said(p.log, "level=ERROR"); (n > 0) != (test.says != "") {
					t.Errorf("it warns:\n%s", p.log)
				}
				if again := p.sink.seen("Assigned") > 1; again != test.again {
					t.Errorf("taken over again: %t, want %t", again, test.again)
				}
				if p.sink.isSilent(first) != test.silent {
					t.Errorf("silent: %t, want %t", !test.silent, test.silent)
				}
				if got := append(p.b.done(), "")[0]; got != test.does {
					t.Errorf("the client was told %q first, want %q", got, test.does)
				}
				if !test.silent {
					return
				}
				p.accepts(first, 5)
				p.polls(time.Second)
				p.b.set(func() { p.b.high[first], p.b.ends[first] = 6, 6 })
				p.polls(time.Minute)
				if p.sink.isSilent(first) {
					t.Error("it is silent although a record came")
				}
				p.said(`"the client delivers records again" `+strings.TrimSpace(its), 1)
			})
		})
	}
}

// A comparison that fails is logged once while the cause is the same. A position that the client
// lost is looked for again until it is found.
func TestComparisonThatFailsIsLogged(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Assign([]idem.Partition{first})
		p.polls(time.Second)
		p.b.done()
		failing := func(err error) {
			p.b.set(func() { p.b.fails["Watermarks"] = err })
			p.polls(10 * time.Second)
		}
		p.PositionLost(nil)
		failing(errors.New("a"))
		p.said(`level=WARN msg="partitions could not be compared with the broker" err=a`, 1)
		failing(errors.New("b"))
		p.said(`level=WARN msg="partitions could not be compared with the broker" err=b`, 1)
		p.does("without an answer")
		failing(nil)
		p.does("with an answer", "Seek 0@0")
		p.PositionLost(nil)
		failing(errors.New("b"))
		p.said("partitions could not be compared", 3)
	})
}

// What is durable is committed every five seconds if it has changed. An error is told once it has
// lasted, and so is its end.
func TestOffsetsAreCommittedAsTheyChange(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Assign([]idem.Partition{first, second})
		p.polls(time.Second)
		commits := func(when string, want ...string) {
			t.Helper()
			p.b.mu.Lock()
			defer p.b.mu.Unlock()
			var got []string
			for _, c := range p.b.commits {
				text := ""
				for _, id := range []idem.Partition{first, second} {
					if at, ok := c[id]; ok {
						text += fmt.Sprintf("%d=%d,%s ", id.Number, at.Offset, at.Metadata)
					}
				}
				got = append(got, strings.TrimSpace(text))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %q was committed, want %q", when, got, want)
			}
			p.b.commits = nil
		}
		commits("at once")
		p.polls(5 * time.Second)
		commits("after 5 s", "0=0,at 0 1=0,at 0")
		p.accepts(first, 0)
		p.polls(20 * time.Second)
		commits("after a record", "0=1,at 1")
		p.b.set(func() { p.b.fails["Commit"] = errors.New("no") })
		p.accepts(first, 1)
		p.polls(25 * time.Second)
		commits("while it fails", "0=2,at 2", "0=2,at 2", "0=2,at 2", "0=2,at 2", "0=2,at 2")
		p.said("offsets", 0)
		p.polls(20 * time.Second)
		p.said("level=WARN msg=\"the group's offsets have not been committed several times in a row", 1)
		p.said("failures=6 err=no", 1)
		p.b.set(func() { delete(p.b.fails, "Commit"); p.b.commits = nil })
		p.polls(10 * time.Second)
		commits("when it works", "0=2,at 2")
		p.said("the group's offsets are committed again", 1)
		p.accepts(first, 2)
		p.polls(time.Second)
		p.Revoke([]idem.Partition{first}, false)
		commits("revoked", "0=3,at 3")
		p.accepts(second, 0)
		p.polls(time.Second)
		p.Revoke([]idem.Partition{second}, true)
		synctest.Wait()
		commits("lost")
		p.said("\"partitions were assigned\" partitions=\"["+topicName+"/0 "+topicName+"/1]\"", 1)
		p.said("\"partitions were revoked\" partitions=["+topicName+"/0] lost=false", 1)
		p.said("\"partitions were revoked\" partitions=["+topicName+"/1] lost=true", 1)
	})
}

// A record of another leader epoch is not accepted before the position was compared with its log.
func TestRecordOfAnotherEpochTakesOverAgain(t *testing.T) {
	for epoch, says := range map[int32]string{
		2: `level=WARN msg="the leader epoch went down" topic=` + topicName + ` partition=0 offset=5 epoch=2 before=3`,
		4: `level=INFO msg="the partition has a new leader: the position is compared with its log" topic=` + topicName + ` partition=0 offset=5 epoch=4 before=3`,
	} {
		t.Run(fmt.Sprint(epoch), func(t *testing.T) {
			pollsMember(t, func(t *testing.T, p *solo) {
				p.sink.assign = func(context.Context, idem.Assignment) (idem.Position, error) {
					return idem.Position{Offset: 5, Epoch: 3}, nil
				}
				p.b.high[first] = 5
				p.Assign([]idem.Partition{first})
				p.polls(time.Second)
				p.b.done()
				p.Accept(p.Find(topicName, 0), &wire.Message{Topic: topicName, Offset: 5, LeaderEpoch: epoch}, 10)
				p.polls(time.Second)
				p.applied(first)
				p.said(says, 1)
				p.does("then", "Pause 0", "Seek 0@5", "Resume 0")
				if n := p.sink.seen("Assigned"); n != 2 {
					t.Errorf("taken over %d times, want 2", n)
				}
			})
		})
	}
}
