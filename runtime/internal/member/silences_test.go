package member_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Records that the log has, and that the client does not deliver, are read again: at once, and
// then once for each silence. The sink hears of it from the second time on, and when they have
// come. Records behind an open transaction are not read again.
func TestSilenceOfALogThatHasMoreIsTold(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		told := func(when string, want ...string) {
			t.Helper()
			if got := strings.Join(p.sink.silences, "; "); got != strings.Join(want, "; ") {
				t.Errorf("%s, the sink was told %q, want %q", when, got, want)
			}
			p.sink.silences = nil
		}
		const start = "00:00:" // of synctest
		p.assigns(first)
		p.polls(100 * time.Millisecond)
		p.b.done()
		p.b.set(func() { p.b.high[first] = 3 })
		p.polls(12 * time.Second)
		p.does("at the first look", "Seek 0@0")
		told("at the first look")
		p.polls(20 * time.Second)
		p.does("later")
		told("later", "0 since "+start+"10: the broker has records, but the client delivers none")
		p.polls(5 * time.Second)
		p.does("after a silence", "Seek 0@0")
		for offset := range int64(3) {
			p.accepts(first, offset)
		}
		p.polls(5 * time.Second)
		told("when they came", "0 since 00:00:00: ")
		p.polls(time.Minute)
		told("at the end")
		if p.sink.idle.Load() != 3 {
			t.Errorf("the sink is told that the log ends at %d", p.sink.idle.Load())
		}
		p.does("at the end")
		p.b.set(func() { p.b.ends[first], p.b.holder = 5, "producer id 7" })
		p.polls(2 * time.Minute)
		p.does("behind an open transaction")
		if n := len(p.sink.silences); n != 1 || !strings.HasSuffix(p.sink.silences[0], ": records wait behind an open transaction of producer id 7, at offset 3") {
			t.Errorf("behind an open transaction, the sink was told %q", p.sink.silences)
		}
		if end := p.sink.end(first); end != 5 {
			t.Errorf("the log ends at %d", end)
		}
		p.sink.silences = nil
		p.b.set(func() { delete(p.b.ends, first) })
		p.polls(time.Minute)
		told("when it has ended", "0 since 00:00:00: ")
		p.PositionLost(p.Find(topicName, 0))
		p.sink.since = nil
		p.polls(300 * time.Millisecond)
		p.does("with a lost position", "Seek 0@3")
		if n := len(p.sink.since); n == 0 || p.sink.since[n-1].end != 3 {
			t.Errorf("with a lost position, the sink was told %v", p.sink.since)
		}
	})
}

// Offsets are not committed of a partition without one, nor while a commit has no answer yet.
func TestOneCommitIsMadeAtATime(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			if a.Partition == second {
				return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Reason: "test"}
			}
			return idem.Position{Epoch: -1}, nil
		}
		p.sink.answer = untilTheEnd
		p.assigns(first, second)
		p.b.waits = func(string) { time.Sleep(7 * time.Second) }
		for offset := range int64(24) {
			p.accepts(first, offset)
			p.polls(time.Second)
		}
		p.b.set(func() {
			p.b.waits = nil
			if got := fmt.Sprint(p.b.commits); len(p.b.commits) != 2 || strings.Contains(got, "{orders.v1 1}") {
				t.Errorf("committed: %s", got)
			}
		})
	})
}
