package outbox

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/process"
)

// sends is a producer that answers nothing.
type sends struct{ records []Record }

func (s *sends) Produce(r Record, _ func(error)) { s.records = append(s.records, r) }
func (s *sends) Purge()                          {}

// take returns the values that were sent since it was called last, in order.
func (s *sends) take() string {
	var values []string
	for _, r := range s.records {
		values = append(values, string(r.Value))
	}
	s.records = nil
	slices.Sort(values)
	return strings.Join(values, " ")
}

// A relay without a database or a producer does not begin.
func TestARelayNeedsBothEnds(t *testing.T) {
	for _, r := range []*Relay{{DB: new(pgxpool.Pool)}, {Producer: &sends{}}, {}} {
		if err := r.Run(t.Context()); err == nil || err.Error() != "outbox: a relay needs DB and Producer" {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestLimitOfWaitingEventsIsNotNegative(t *testing.T) {
	r := &Relay{DB: new(pgxpool.Pool), Producer: &sends{}, MaxWaiting: -1}
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "MaxWaiting is -1") {
		t.Error(err)
	}
}

// Each thing that keeps events has the time when it began, whatever is said of it since then.
func TestFaultsKeepTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, began := new(Relay), time.Now()
		for i, about := range []string{"database", "broker", "database", "broker"} {
			if news := r.tell(about, errors.New("gone")); news != (i < 2) {
				t.Errorf("%d: %v", i, news)
			}
			time.Sleep(time.Second)
		}
		if is := r.since; len(is) != 2 || !is["database"].Equal(began) || !is["broker"].Equal(began.Add(time.Second)) {
			t.Errorf("since %v, which began at %v", is, began)
		}
		if !r.tell("broker", nil) || r.tell("broker", nil) || len(r.since) != 1 || len(r.fault) != 1 {
			t.Errorf("what is over: %v %v", r.fault, r.since)
		}
	})
}

// A broker that is away twice is away for the time of its own, each time.
func TestABrokerIsAwaySinceItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		for range 2 {
			l.failed(errors.New("refused"))
			began := time.Now()
			time.Sleep(time.Second)
			l.failed(errors.New("refused"))
			if is, _ := errors.AsType[*lasting](l.fault[aboutBroker]); is == nil || !is.since.Equal(began) {
				t.Errorf("%+v, away since %v", is, began)
			}
			l.returned()
			if err := l.Health(); err != nil || !l.brokenSince.IsZero() {
				t.Errorf("afterwards: %v, away since %v", err, l.brokenSince)
			}
			time.Sleep(time.Minute)
		}
	})
}

// leading returns a lead without a database.
func leading() (*lead, *sends) {
	to := &sends{}
	r := newRunner(&Relay{Producer: to, Logger: slog.New(slog.DiscardHandler)})
	return newLead(r, tenure{since: time.Now()}), to
}

// eventOf is event seq of an aggregate, to a topic.
func eventOf(seq int64, id, topic string, bytes int) *event {
	return &event{seq: seq, id: fmt.Sprint("e", seq), aggregate: aggregate{kind: "user", id: id}, record: Record{Topic: topic, Value: fmt.Append(nil, id, seq)}, bytes: bytes}
}

func (l *lead) reads(events ...*event) {
	for _, e := range events {
		l.line(e, time.Now())
	}
}

func (l *lead) answer(seq int64, err error) { l.conclude(outcome{seq, err}) }

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var errRefused = &RefusedError{Cause: TooLarge, Err: errors.New("too large")}

// TestOrderOfAnAggregate: one event of an aggregate is on its way at a time; aggregates do not
// wait for one another.
func TestOrderOfAnAggregate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "a", "t", 10), eventOf(3, "b", "t", 10))
		l.sendFirsts()
		l.sendFirsts()
		expect(t, "sent first", to.take(), "a1 b3")
		expect(t, "bytes", l.bytes, 30)
		l.answer(1, nil)
		l.sendFirsts()
		expect(t, "sent after an answer", to.take(), "a2")
		l.answer(3, nil)
		l.answer(2, nil)
		expect(t, "acknowledged", fmt.Sprint(l.acked.seqs), "[1 3 2]")
		expect(t, "bytes in the end", l.bytes, 0)
		expect(t, "sent in all", l.Stats().Sent, 3)
	})
}

// TestRefusedEventIsTriedAlone: a refused event holds its aggregate back, is read again when its
// time has come, and goes only when nothing else is on its way to its topic. Then others have
// their turn.
func TestRefusedEventIsTriedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "a", "t", 10), eventOf(3, "b", "t", 10))
		l.sendFirsts()
		to.take()
		l.answer(1, errRefused)
		expect(t, "bytes without the held ones", l.bytes, 10)
		expect(t, "due at once", len(l.due(time.Now())), 0)
		l.reads(eventOf(1, "a", "t", 10))
		expect(t, "read too early", len(l.lines), 1)

		time.Sleep(250 * time.Millisecond)
		due := l.due(time.Now())
		expect(t, "due after its pause", len(due), 1)
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "a", "t", 10), eventOf(4, "c", "t", 10), eventOf(5, "d", "other", 10))
		expect(t, "only the first of a held aggregate is kept", len(l.lines[aggregate{kind: "user", id: "a"}]), 1)
		l.sendFirsts()
		expect(t, "sent while another is on its way to the topic", to.take(), "d5")
		l.answer(3, nil)
		l.sendFirsts()
		expect(t, "sent alone", to.take(), "a1")
		time.Sleep(100 * time.Millisecond)
		l.answer(1, errRefused)
		l.sendFirsts()
		expect(t, "the turn of others", to.take(), "c4")
		l.answer(4, nil)

		time.Sleep(500 * time.Millisecond) // the second pause
		l.reads(eventOf(1, "a", "t", 10), eventOf(6, "c", "t", 10))
		l.sendFirsts()
		expect(t, "the turn of others is nine times as long as the event took", to.take(), "c6")
		l.answer(6, nil)
		time.Sleep(400 * time.Millisecond)
		l.sendFirsts()
		expect(t, "after it", to.take(), "a1")
		l.answer(1, nil)
		expect(t, "held back in the end", l.Stats().HeldBack, 0)
		if !l.read.IsZero() {
			t.Error("the rest of the aggregate is not read at once")
		}
	})
}

// TestHealthNamesTheFirstRefusedEvent: by its number in the table, with how many are held back,
// and with what to do.
func TestHealthNamesTheFirstRefusedEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		for _, seq := range []int64{2, 1, 3} {
			l.reads(eventOf(seq, fmt.Sprint("k", seq), "t", 7))
		}
		l.sendFirsts()
		for _, seq := range []int64{2, 1, 3} {
			l.answer(seq, errRefused)
		}
		err := l.Health()
		if err == nil || !strings.Contains(err.Error(), "3 aggregates are held back, the first one by") || !strings.Contains(err.Error(), "event e1 ") {
			t.Errorf("got %v", err)
		}
		expect(t, "held back", l.Stats().HeldBack, 3)
		p := l.snapshot().Problems[0]
		expect(t, "code", p.Code, process.TooLarge)
		if !strings.Contains(p.Do, "the payload of this event has 7 bytes") {
			t.Errorf("advice: %s", p.Do)
		}
		if do := adviceOn(aboutRefused, l.fault[aboutRefused]); do != p.Do {
			t.Errorf("the log advises %q, the report %q", do, p.Do)
		}
	})
}

// TestBrokerThatWasAway: what waits for it is due at once when it takes events again, at most two
// seconds apart before, and is not counted as held back.
func TestBrokerThatWasAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		a := aggregate{kind: "user", id: "a"}
		for n := range 6 {
			l.reads(eventOf(1, "a", "t", 10))
			l.sendFirsts()
			expect(t, "sent", to.take(), "a1")
			l.answer(1, errors.New("no broker"))
			expect(t, "held back", l.Stats().HeldBack, 0)
			want := min(250*time.Millisecond<<n, 2*time.Second)
			expect(t, "pause", time.Until(l.held[a].until), want)
			time.Sleep(want)
		}
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "b", "t", 10))
		l.sendFirsts()
		l.answer(1, errors.New("no broker"))
		expect(t, "due while it is away", len(l.due(time.Now())), 0)
		l.answer(2, nil)
		expect(t, "due when it is back", len(l.due(time.Now())), 1)
	})
}

// TestFailureBesideSuccessesIsAlone: if the broker took others after an event was sent, the event
// counts as held back, and its pauses grow to a minute.
func TestFailureBesideSuccessesIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "b", "t", 10))
		l.sendFirsts()
		time.Sleep(time.Millisecond)
		l.answer(2, nil)
		l.answer(1, errors.New("no leader"))
		expect(t, "held back", l.Stats().HeldBack, 1)
		expect(t, "refused", l.Stats().Refused, 0)
		expect(t, "code", l.snapshot().Problems[0].Code, process.Refused)
		h := held{why: alone}
		for _, c := range []struct {
			failures int
			want     time.Duration
		}{{1, 250 * time.Millisecond}, {3, time.Second}, {9, time.Minute}, {90, time.Minute}} {
			h.failures = c.failures
			expect(t, fmt.Sprint("pause after ", c.failures), h.pause(), c.want)
		}
	})
}

// TestLateAnswers: an event whose answer is late leaves its room to others, and its aggregate
// waits.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "a", "t", 20))
		l.sendFirsts()
		to.take()
		l.recognizeLate(time.Now())
		expect(t, "late at once", len(l.late), 0)
		time.Sleep(time.Second)
		l.recognizeLate(time.Now())
		expect(t, "late", len(l.late), 1)
		expect(t, "bytes", fmt.Sprint(l.bytes, l.lateBytes, l.waiting()), "0 10 0")
		expect(t, "on their way to the topic", l.topics["t"].flying, 0)
		kinds, ids := l.aggregates(nil, false)
		expect(t, "not read", fmt.Sprint(kinds, ids), "[user] [a]")
		l.tellUnanswered(time.Now())
		expect(t, "problems within 5 s", len(l.fault), 0)
		time.Sleep(4 * time.Second)
		l.tellUnanswered(time.Now())
		if err := l.Health(); err == nil || !strings.Contains(err.Error(), "1 aggregate waits for an answer of the broker") {
			t.Errorf("got %v", err)
		}
		l.answer(1, nil)
		l.tellUnanswered(time.Now())
		expect(t, "problems in the end", len(l.fault), 0)
		expect(t, "bytes in the end", fmt.Sprint(l.bytes, l.lateBytes), "0 0")
	})
}

// TestWhatIsDue: at most mostDue aggregates are retried at once, with a quarter of the bytes; one
// of them whatever its bytes; none while too many bytes wait for late answers.
func TestWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := func(n, bytes int) *lead {
			l, _ := leading()
			for i := range n {
				l.held[aggregate{kind: "user", id: fmt.Sprint(i)}] = &held{seq: int64(i), bytes: bytes, until: time.Now()}
			}
			return l
		}
		now := time.Now()
		expect(t, "of many", len(hold(3*mostDue, 1).due(now)), mostDue)
		expect(t, "of large ones", len(hold(9, mostBytes/8).due(now)), 2)
		expect(t, "of too large ones", len(hold(9, mostBytes).due(now)), 1)
		l := hold(9, 1)
		l.lateBytes = mostLate/4 + 1
		expect(t, "while many bytes are late", len(l.due(now)), 0)
		l = hold(2, 1)
		l.lines[aggregate{kind: "user", id: "0"}] = []*event{eventOf(0, "0", "t", mostBytes)}
		expect(t, "beside one that is read", len(l.due(now)), 1)
		expect(t, "before its time", len(l.due(now.Add(-time.Nanosecond))), 0)

		due := map[aggregate]bool{{kind: "user", id: "0"}: true}
		_, ids := l.aggregates(due, true)
		expect(t, "those that are due", fmt.Sprint(ids), "[0]")
		_, ids = l.aggregates(due, false)
		expect(t, "those that are left out", fmt.Sprint(ids), "[1]")
		l.release(maps.Clone(due))
		expect(t, "held after a read that found no event of it", len(l.held), 2)
		delete(l.lines, aggregate{kind: "user", id: "0"})
		l.release(due)
		expect(t, "held after its events were deleted", len(l.held), 1)
	})
}

// TestCrowdOfDeadLetters: topics are left out only if enough dead letters are stopped, and only
// those of dead letters.
func TestCrowdOfDeadLetters(t *testing.T) {
	l, _ := leading()
	l.most = 2
	l.held[aggregate{kind: "dead.a", id: "1", letters: true}] = &held{}
	l.held[aggregate{kind: "user", id: "1"}] = &held{}
	l.held[aggregate{kind: "user", id: "2"}] = &held{}
	expect(t, "with one dead letter", fmt.Sprint(l.crowd()), "[]")
	for n := range 20 { // events may have the topic of a dead letter as their type
		l.held[aggregate{kind: "dead.a", id: fmt.Sprint("event ", n)}] = &held{}
		l.late[aggregate{kind: "dead.b", id: fmt.Sprint("event ", n)}] = eventOf(9, "1", "t", 1)
	}
	l.late[aggregate{kind: "dead.b", id: "1", letters: true}] = eventOf(9, "1", "t", 1)
	expect(t, "with two", fmt.Sprint(slices.Sorted(slices.Values(l.crowd()))), "[dead.a dead.b]")
	expect(t, "stopped letters", l.stopped(true), 2)
	expect(t, "stopped events", l.stopped(false), 42)
}
