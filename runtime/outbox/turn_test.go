package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// asks lets time pass, and returns what the lead asks Postgres then. Nobody answers.
func (l *lead) asks(after time.Duration) string {
	time.Sleep(after)
	now := time.Now()
	before := []time.Time{l.counted, l.acked.removed, l.read}
	l.inquire()
	if !l.busy {
		return ""
	}
	<-l.answers
	l.busy = false
	var what []string
	for i, at := range []time.Time{l.counted, l.acked.removed, l.read} {
		if at.Equal(now) && !at.Equal(before[i]) {
			what = append(what, []string{"count", "delete", "read"}[i])
		}
	}
	return strings.Join(what, " ")
}

// TestWhatALeadAsks: it counts every three seconds, deletes what the broker has, and then reads,
// each when it is time for it, one at a time.
func TestWhatALeadAsks(t *testing.T) {
	const tick = time.Nanosecond
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		expect(t, "first", l.asks(tick), "count")
		counted := l.counted
		l.acked.seqs = []int64{1}
		expect(t, "an acknowledged event", l.asks(tick), "delete")
		l.acked.seqs = nil
		expect(t, "then", l.asks(tick), "read")
		expect(t, "soon", l.asks(l.pace.again-tick), "")
		expect(t, "after the pause", l.asks(tick), "read")
		l.more = true
		expect(t, "where there is more", l.asks(tick), "read")
		l.bytes = mostBytes
		expect(t, "without room", l.asks(l.pace.again), "")
		l.more, l.bytes = false, 0
		expect(t, "what is left", l.asks(tick), "read")
		l.busy = true
		l.sent[1] = eventOf(1, "a", "t", 1)
		time.Sleep(time.Minute)
		l.inquire()
		expect(t, "counted while Postgres answers", l.counted, counted)
		expect(t, "late while Postgres answers", len(l.late), 0)
		l.busy = false
		delete(l.sent, 1)
		expect(t, "after a minute", l.asks(tick), "count")
		expect(t, "then", l.asks(tick), "read")
		l.read = time.Now().Add(time.Hour)
		expect(t, "before three seconds", l.asks(countEvery-2*tick), "")
		expect(t, "after three seconds", l.asks(tick), "count")
	})
}

// TestWhenEventsAreDeleted: at once if nothing is on its way, or they are many; else, and where
// they are locked, every 200 ms.
func TestWhenEventsAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			acked, locked, sent int
			since               time.Duration
			want                bool
		}{
			{0, 0, 0, time.Hour, false},
			{1, 0, 0, 0, true},
			{1, 0, 1, removeAgain - 1, false},
			{1, 0, 1, removeAgain, true},
			{mostRows/4 - 1, 0, 1, 0, false},
			{mostRows / 4, 0, 1, 0, true},
			{mostRows / 4, 1, 1, 0, false},
			{2, 2, 0, removeAgain - 1, false},
			{2, 2, 0, removeAgain, true},
			{3, 2, 0, 0, true},
		} {
			l, _ := leading()
			l.acked = acked{seqs: make([]int64, c.acked), locked: c.locked, removed: time.Now()}
			for n := range c.sent {
				l.sent[int64(n)] = eventOf(int64(n), "a", "t", 1)
			}
			expect(t, fmt.Sprintf("%+v", c), l.mayRemove(time.Now().Add(c.since)), c.want)
		}
	})
}

// TestRoom: events are read when half of the rows and half of the bytes are free. Events with a
// late answer do not count as rows, and their bytes have a limit of their own.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		sent, late, lines, acked, bytes, lateBytes int
		want                                       bool
	}{
		{sent: mostRows / 2, want: true},
		{sent: mostRows/2 + 1},
		{sent: mostRows/2 + 2, late: 2, want: true},
		{lines: mostRows/2 - 3, acked: 3, want: true},
		{lines: mostRows/2 - 2, acked: 3},
		{bytes: mostBytes / 2, want: true},
		{bytes: mostBytes/2 + 1},
		{lateBytes: mostLate - 1, want: true},
		{lateBytes: mostLate},
	} {
		l, _ := leading()
		l.bytes, l.lateBytes, l.acked.seqs = c.bytes, c.lateBytes, make([]int64, c.acked)
		for n := range c.sent {
			l.sent[int64(n)] = nil
		}
		for n := range c.late {
			a := aggregate{id: fmt.Sprint(n)}
			l.late[a], l.lines[a] = nil, []*event{nil}
		}
		for n := range c.lines { // of two aggregates
			a := aggregate{kind: fmt.Sprint(n % 2)}
			l.lines[a] = append(l.lines[a], nil)
		}
		expect(t, fmt.Sprintf("%+v", c), l.room(), c.want)
	}
}

// TestPatience: a lead that nobody wakes looks again when something is due.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := aggregate{id: "a"}, aggregate{id: "b"}
		now := time.Now()
		for _, c := range []struct {
			name  string
			poll  time.Duration
			acked int
			lines map[aggregate][]*event
			held  map[aggregate]*held
			want  time.Duration
		}{
			{name: "nothing", poll: time.Second, want: time.Second},
			{name: "acknowledged events", poll: time.Second, acked: 1, want: removeAgain},
			{name: "acknowledged events of a hasty one", poll: time.Millisecond, acked: 1, want: time.Millisecond},
			{name: "the turn of others", poll: time.Second, lines: map[aggregate][]*event{a: nil}, held: map[aggregate]*held{a: {until: now.Add(time.Second / 2)}}, want: 50 * time.Millisecond},
			{name: "the turn of others, of a hasty one", poll: time.Millisecond, lines: map[aggregate][]*event{a: nil}, want: time.Millisecond},
			{name: "the first pause", poll: time.Second, held: map[aggregate]*held{a: {until: now.Add(time.Second / 2)}, b: {until: now.Add(time.Second / 4)}}, want: time.Second / 4},
			{name: "a pause that is over", poll: time.Second, held: map[aggregate]*held{a: {until: now.Add(-time.Second)}, b: {until: now.Add(time.Hour)}}, want: 50 * time.Millisecond},
			{name: "a long pause", poll: time.Second, held: map[aggregate]*held{a: {until: now.Add(time.Hour)}}, want: time.Second},
			{name: "a long pause and acknowledged events", poll: time.Second, acked: 1, held: map[aggregate]*held{a: {until: now.Add(time.Hour)}}, want: removeAgain},
		} {
			l, _ := leading()
			l.pace.poll, l.acked.seqs = c.poll, make([]int64, c.acked)
			maps.Copy(l.lines, c.lines)
			maps.Copy(l.held, c.held)
			expect(t, c.name, l.patience(), c.want)
		}
	})
}

// TestTurn: a turn sends what may be sent, and takes what comes first: all outcomes that are
// there, an answer of Postgres, or the time to look again.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l, to := leading()
		l.busy = true
		l.reads(eventOf(1, "a", "t", 1), eventOf(2, "b", "t", 1), eventOf(3, "c", "t", 1))
		began := time.Now()
		expect(t, "a turn", l.turn(ctx), nil)
		expect(t, "its time", time.Since(began), l.pace.again)
		expect(t, "sent", to.take(), "a1 b2 c3")
		for seq := range int64(3) {
			l.done <- outcome{seq: seq + 1}
		}
		began = time.Now()
		expect(t, "a turn with outcomes", l.turn(ctx), nil)
		expect(t, "its time", time.Since(began), 0)
		expect(t, "acknowledged", fmt.Sprint(l.acked.seqs), "[1 2 3]")

		heard, taken := l.heard, 0
		asked1 := asked{began: began.Add(time.Millisecond), take: func() { taken++ }}
		l.answers <- asked1
		expect(t, "a turn with an answer", l.turn(ctx), nil)
		expect(t, "taken", taken, 1)
		expect(t, "busy", l.busy, false)
		expect(t, "alive when it was asked", l.heard, asked1.began)
		l.busy, l.heard = true, heard
		gone := errors.New("gone")
		l.answers <- asked{began: time.Now(), take: func() { taken++ }, err: gone}
		expect(t, "a turn with a failure", l.turn(ctx), gone)
		expect(t, "taken", taken, 1)
		expect(t, "alive after a failure", l.heard, heard)

		l.busy = false
		l.counted, l.read, l.acked = time.Now(), time.Now(), acked{}
		l.reads(eventOf(5, "e", "t", 1))
		began = time.Now()
		expect(t, "a turn that waits for outcomes only", l.turn(ctx), nil)
		expect(t, "its time", time.Since(began), l.pace.again)

		l.busy = true
		cancel()
		expect(t, "a turn of one that ends", l.turn(ctx), context.Canceled)
		l.busy = false
		l.reads(eventOf(4, "a", "t", 1))
		l.counted = time.Time{}
		_ = l.turn(ctx)
		expect(t, "counted", l.counted, time.Now())
	})
}

// TestTopicsThatAreForgotten: what is known of a topic is kept while something is on its way to
// it, or others have their turn.
func TestTopicsThatAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		l.topics = map[string]*topic{
			"idle": {others: time.Now().Add(-1)}, "flying": {flying: 1}, "turn": {others: time.Now()},
		}
		l.know(0, 0)
		expect(t, "topics", fmt.Sprint(slices.Sorted(maps.Keys(l.topics))), "[flying turn]")
	})
}

// TestWhatIsSent: a process that was silent for too long sends nothing, and an event that has no
// topic never reaches the producer.
func TestWhatIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		bad := eventOf(1, "a", "t", 1)
		bad.invalid = errors.New("no topic")
		l.reads(bad)
		l.sendFirsts()
		expect(t, "sent", to.take(), "")
		o := <-l.done
		expect(t, "outcome", fmt.Sprint(o.seq, o.err), "1 refused: no topic")
		if _, is := errors.AsType[*RefusedError](o.err); !is {
			t.Errorf("%T", o.err)
		}
		l.conclude(o)
		time.Sleep(l.pace.silence - 1)
		l.reads(eventOf(2, "b", "t", 1))
		l.sendFirsts()
		expect(t, "sent before it was silent for so long", to.take(), "b2")
		time.Sleep(time.Nanosecond)
		l.reads(eventOf(3, "c", "t", 1))
		l.sendFirsts()
		expect(t, "sent after so long", to.take(), "")
		expect(t, "on their way", len(l.sent), 1)
		l.heard = time.Now()
		l.sendFirsts()
		expect(t, "sent by one that leads", to.take(), "c3")
		l.reads(eventOf(4, "c", "t", 1))
		l.answer(3, nil)
		expect(t, "sent at once", to.take(), "c4")
	})
}

// TestWhoGoesAlone: of a topic one refused event is tried at a time. One that failed for another
// reason goes beside others, and one whose answer is late lets another one go.
func TestWhoGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, to := leading()
		held := func(id string, seq int64, err error) {
			l.reads(eventOf(seq, id, "t", 1))
			l.sendFirsts()
			l.answer(seq, err)
		}
		held("a", 1, errRefused)
		held("b", 2, errRefused)
		l.reads(eventOf(3, "c", "t", 1), eventOf(4, "ok", "t", 1))
		l.sendFirsts()
		time.Sleep(time.Millisecond)
		l.answer(4, nil)
		l.answer(3, errors.New("no leader"))
		to.take()
		time.Sleep(time.Second / 2)
		l.reads(eventOf(3, "c", "t", 1))
		l.sendFirsts()
		expect(t, "sent, though it failed", to.take(), "c3")
		l.answer(3, nil)
		l.reads(eventOf(1, "a", "t", 1), eventOf(2, "b", "t", 1))
		l.sendFirsts()
		first := to.take()
		if first != "a1" && first != "b2" {
			t.Fatalf("sent %q", first)
		}
		time.Sleep(l.pace.late)
		l.recognizeLate(time.Now())
		l.sendFirsts()
		expect(t, "beside the late one", first+" "+to.take(), map[string]string{"a1": "a1 b2", "b2": "b2 a1"}[first])
	})
}

// TestTurnOfOthers is at least as long as a look takes, and at most ten seconds.
func TestTurnOfOthers(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 50 * time.Millisecond, time.Second: 9 * time.Second, 2 * time.Second: mostTurn} {
		synctest.Test(t, func(t *testing.T) {
			l, _ := leading()
			for range 2 {
				l.reads(eventOf(1, "a", "t", 1))
				l.sendFirsts()
				time.Sleep(took)
				expect(t, "others before it", l.topics["t"].others.After(time.Now()), false)
				l.answer(1, errRefused)
				time.Sleep(250 * time.Millisecond * time.Duration(l.held[aggregate{kind: "user", id: "a"}].failures%2))
			}
			expect(t, fmt.Sprint("after ", took), time.Until(l.topics["t"].others), want)
		})
	}
}

// TestReasonsChange: what is known of the failures of an event is of its last reason.
func TestReasonsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		a := aggregate{kind: "user", id: "a"}
		fails := func(err error) {
			l.held[a] = cmp.Or(l.held[a], &held{})
			time.Sleep(time.Until(l.held[a].until))
			l.reads(eventOf(1, "a", "t", 5))
			l.sendFirsts()
			l.answer(1, err)
		}
		l.reads(eventOf(1, "a", "t", 5), eventOf(2, "a", "t", 5))
		l.sendFirsts()
		l.answer(1, errRefused)
		l.heard = time.Now()
		fails(errRefused)
		expect(t, "pause", time.Until(l.held[a].until), time.Second/2)
		expect(t, "held back", l.Stats().HeldBack, 1)
		fails(errors.New("no broker"))
		expect(t, "pause of the next reason", time.Until(l.held[a].until), time.Second/4)
		expect(t, "held back by the broker", l.Stats().HeldBack, 0)
		expect(t, "bytes", fmt.Sprint(l.bytes, l.held[a].bytes, l.held[a].seq), "0 5 1")
		fails(errors.New("no broker"))
		fails(errRefused)
		expect(t, "pause of the last reason", time.Until(l.held[a].until), time.Second/4)
		expect(t, "refused", l.Stats().Refused, 3)
		expect(t, "held back in the end", l.Stats().HeldBack, 1)
	})
}
