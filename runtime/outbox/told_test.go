package outbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

// logging has a relay log into what it returns, without times.
func logging(r *Relay) *bytes.Buffer {
	to := &bytes.Buffer{}
	r.Logger = slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return to
}

// said checks what was logged since it was called last.
func said(t *testing.T, what string, from *bytes.Buffer, lines ...string) {
	t.Helper()
	want := strings.Join(append(lines, ""), "\n")
	if got := from.String(); got != want {
		t.Errorf("%s: logged\n%swant\n%s", what, got, want)
	}
	from.Reset()
}

// TestHeldBackIsLogged: the log has an event once it was refused alone, and the end of it, each
// once; of a broker that is away, its beginning and its end.
func TestHeldBackIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		log := logging(l.Relay)
		try := func(id string, seq int64, err error) {
			l.heard = time.Now()
			if h := l.held[aggregate{kind: "user", id: id}]; h != nil {
				time.Sleep(time.Until(h.until))
			}
			l.reads(eventOf(seq, id, "t", 7))
			l.sendFirsts()
			l.answer(seq, err)
			time.Sleep(time.Second)
		}
		try("a", 1, errRefused)
		try("b", 2, nil)
		said(t, "refused once", log)
		try("a", 1, errRefused)
		const name = `event e1 of type \"\", aggregate \"user\" \"a\", to topic \"t\": refused: too large`
		said(t, "refused alone", log, `level=ERROR msg="outbox: an event cannot be sent, and holds back its aggregate" err="`+name+`" do="raise max.message.bytes of topic t, and the limit in the settings of the relay's producer: the payload of this event has 7 bytes"`)
		try("a", 1, errRefused)
		said(t, "refused again", log)
		try("a", 1, nil)
		said(t, "taken", log, `level=INFO msg="outbox: aggregates are no longer held back"`)
		try("b", 3, errRefused)
		try("b", 3, nil)
		said(t, "refused once, and taken", log)

		for range 3 {
			try("c", 4, errors.New("no broker"))
		}
		said(t, "away", log, `level=ERROR msg="outbox: the broker accepts no events" err="the broker has accepted no events since 2000-01-01T00:00:07Z: no broker" do="`+refusal.Advice(refusal.Unavailable)+`"`)
		try("c", 4, nil)
		said(t, "back", log, `level=INFO msg="outbox: the broker accepts events again" after=3s`)
		try("c", 5, nil)
		said(t, "afterwards", log)

		panics := &RefusedError{Err: &panicError{"the producer panicked: x", "here"}}
		try("d", 6, panics)
		try("d", 6, panics)
		if text := log.String(); !strings.Contains(text, ` do="remove the cause that the error names: the relay retries the event" stack=here`) {
			t.Errorf("a panic: logged %s", text)
		}
	})
}

// TestABrokerThatReturns lets what waited for it go at once, and nothing else.
func TestABrokerThatReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		until := time.Now().Add(time.Minute)
		for _, why := range []reason{refused, alone, away} {
			l.held[aggregate{id: fmt.Sprint(why)}] = &held{why: why, until: until, seq: int64(9 - why), err: fmt.Errorf("why %d", why)}
		}
		l.tellHeld()
		expect(t, "Health", fmt.Sprint(l.Health()), "outbox: 2 aggregates are held back, the first one by why 1")
		l.failed(errors.New("x"))
		l.returned()
		for _, why := range []reason{refused, alone, away} {
			expect(t, fmt.Sprint("reason ", why), l.held[aggregate{id: fmt.Sprint(why)}].until.Equal(time.Now()), why == away)
		}
	})
}

// TestUnansweredIsTold: Health names the event that has waited longest, for five seconds and more,
// and the log has it once.
func TestUnansweredIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		log := logging(l.Relay)
		for n, id := range []string{"a", "b", "c"} {
			l.reads(eventOf(int64(9-n), id, "t", 1))
			l.sendFirsts()
			time.Sleep(time.Second)
		}
		l.recognizeLate(time.Now())
		expect(t, "late", len(l.late), 3)
		const text = `an answer of the broker, the first one since 2000-01-01T00:00:00Z: event e9 of type "", aggregate "user" "a", to topic "t"`
		for _, c := range []struct {
			after time.Duration
			want  string
		}{
			{5*time.Second - 1, "<nil>"}, {5 * time.Second, "outbox: 1 aggregate waits for " + text}, {6 * time.Second, "outbox: 2 aggregates wait for " + text},
			{7 * time.Second, "outbox: 3 aggregates wait for " + text},
		} {
			l.tellUnanswered(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(c.after))
			expect(t, fmt.Sprint("after ", c.after), fmt.Sprint(l.Health()), c.want)
		}
		said(t, "once", log, `level=WARN msg=`+fmt.Sprintf("%q", "outbox: 1 aggregate waits for "+text))
		for seq := range int64(3) {
			l.answer(7+seq, nil)
		}
		if !l.read.IsZero() {
			t.Error("their later events are not read at once")
		}
		l.tellUnanswered(time.Now())
		expect(t, "in the end", fmt.Sprint(l.Health()), "<nil>")
		said(t, "in the end", log)
	})
}

// TestLateAndHeldBackCountsOnce: an aggregate that is held back and also waits for a late answer
// counts once among the stopped ones. It is not read, and others are retried in its place.
func TestLateAndHeldBackCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		e := eventOf(1, "a", "t", 1)
		l.held[e.aggregate], l.late[e.aggregate], l.lines[e.aggregate] = &held{bytes: mostBytes}, e, []*event{e}
		l.held[aggregate{id: "b"}] = &held{bytes: mostBytes}
		expect(t, "stopped", l.stopped(false), 2)
		_, ids := l.aggregates(map[aggregate]bool{{id: "b"}: true}, false)
		expect(t, "not read", fmt.Sprint(ids), "[a]")
		_, ids = l.aggregates(map[aggregate]bool{{id: "b"}: true}, true)
		expect(t, "read", fmt.Sprint(ids), "[b]")
		l.lateBytes = mostLate / 4
		expect(t, "due", len(l.due(time.Now())), 1)
	})
}

// TestUndeletableIsTold: events that cannot be deleted stay known, and after five seconds Health
// and the log say so, once.
func TestUndeletableIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		log := logging(l.Relay)
		l.acked.seqs = []int64{1, 2, 3, 4}
		l.gone(3, []int64{2, 3})()
		expect(t, "left", fmt.Sprint(l.acked.seqs, l.acked.locked), "[2 3 4] 2")
		time.Sleep(undeletable - 1)
		l.gone(2, []int64{2, 3})()
		expect(t, "soon", fmt.Sprint(l.Health()), "<nil>")
		time.Sleep(time.Nanosecond)
		for _, n := range []int{3, 2} {
			l.gone(n, []int64{2, 3})()
		}
		const text = "2 events that the broker has are not deleted from idem_outbox since 2000-01-01T00:00:00Z: another transaction locks their rows, " +
			"or a trigger or a rule of the table prevents the delete; the next relay that leads sends them again"
		expect(t, "after five seconds", fmt.Sprint(l.Health()), "outbox: "+text)
		said(t, "once", log, `level=ERROR msg="outbox: `+text+`"`)
		l.gone(2, nil)()
		expect(t, "in the end", fmt.Sprint(l.Health(), l.acked.seqs, l.acked.locked, l.acked.stuck.IsZero()), "<nil> [] 0 true")
		l.acked.seqs = []int64{5}
		l.gone(1, []int64{5})()
		expect(t, "again, soon", fmt.Sprint(l.Health()), "<nil>")
	})
}

// TestManyThatWaitAreTold: Health and the log say that more wait than may, once.
func TestManyThatWaitAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for most, bound := range map[int]int{0: 100_000, 3: 3} {
			l, _ := leading()
			l.MaxWaiting = most
			log := logging(l.Relay)
			l.know(bound, time.Second)
			said(t, "as many as may", log)
			for range 2 {
				l.know(bound+1, time.Second)
				expect(t, "Health", fmt.Sprint(l.Health()), fmt.Sprintf("outbox: more than %d events wait in idem_outbox", bound))
			}
			said(t, "too many", log, fmt.Sprintf(`level=ERROR msg="outbox: more than %d events wait in idem_outbox"`, bound))
			l.know(bound, time.Second)
			expect(t, "in the end", fmt.Sprint(l.Health()), "<nil>")
			said(t, "in the end", log)
		}
	})
}

// TestCountsAge: what waits grows older, is known for a minute, and a clock of the database that
// is ahead makes nothing negative.
func TestCountsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		expect(t, "before a count", l.Stats(), Stats{})
		l.know(2, time.Second)
		time.Sleep(mostCount - 1)
		expect(t, "within a minute", l.Stats(), Stats{Counted: true, Waiting: 2, Oldest: time.Minute + time.Second - 1})
		time.Sleep(time.Nanosecond)
		expect(t, "after a minute", l.Stats(), Stats{})
		l.know(0, 0)
		time.Sleep(time.Second)
		expect(t, "an empty table", l.Stats(), Stats{Counted: true})
		l.know(1, -time.Hour)
		expect(t, "a clock that is ahead", l.Stats(), Stats{Counted: true, Waiting: 1})
		l.count(func(n *numbers) { n.Leading, n.HeldBack, n.Sent = true, 3, 4; n.retire() })
		expect(t, "after the lead", l.Stats(), Stats{Sent: 4})
	})
}

// TestReport: each thing that Health names has its code, its time and what to do about it, and
// Health has them in their order.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := new(Relay)
		expect(t, "at first", fmt.Sprint(r.Health(), r.snapshot().Problems), "<nil> []")
		began := time.Now().Add(-time.Hour)
		for _, about := range []string{aboutLeader, aboutWaiting, aboutDelete, aboutUnanswered, aboutDatabase} {
			r.tell(about, errors.New("gone"))
		}
		time.Sleep(time.Second)
		r.tell(aboutBroker, &lasting{"it is away", began, &refusal.Denied{Code: refusal.TLS, Cause: "bad certificate"}})
		r.tell(aboutRefused, fmt.Errorf("held back: %w", &heldError{name: "event", err: errors.New("no leader")}))
		r.count(func(n *numbers) { n.Leading, n.Sent = true, 7 })
		is := r.snapshot()
		expect(t, "relay", *is.Relay, struct {
			Leads bool  `json:"leads"`
			Sent  int64 `json:"sent"`
		}{true, 7})
		var got []string
		for _, p := range is.Problems {
			got = append(got, fmt.Sprintf("%s %s %s %t %s", p.Code, p.Since.UTC().Format("15:04:05"), p.Reason, p.Event == nil, p.Do))
		}
		want := []string{
			"broker 23:00:00 it is away: bad certificate true " + refusal.Advice(refusal.TLS),
			"database 00:00:00 gone true " + advice[aboutDatabase],
			"delete 00:00:00 gone true " + advice[aboutDelete],
			"leader 00:00:00 gone true " + advice[aboutLeader],
			"refused 00:00:01 held back: event: no leader true see whether the topic's partitions have a leader",
			"unanswered 00:00:00 gone true " + advice[aboutUnanswered],
			"waiting 00:00:00 gone true " + advice[aboutWaiting],
		}
		expect(t, "problems", strings.Join(got, "\n"), strings.Join(want, "\n"))
		expect(t, "Health", fmt.Sprint(r.Health()), "outbox: gone\nit is away since 1999-12-31T23:00:00Z: bad certificate\nheld back: event: no leader\ngone\ngone\ngone\ngone")

		for grant, do := range map[string]string{"": advice[aboutDatabase], "GRANT it": "GRANT it"} {
			r.tell(aboutDatabase, fmt.Errorf("events: %w", &outage.MissingRight{Grant: grant, Err: errors.New("denied")}))
			expect(t, "what to do about a right", r.snapshot().Problems[1].Do, do)
		}
		for cause, do := range map[Cause]string{
			NoTopic: "topic-missing create topic t: the relay then sends its events by itself", "": "refused remove the cause that the error names: the relay retries the event",
		} {
			h := &heldError{name: "event", err: &RefusedError{Err: errors.New("no"), Cause: cause}}
			h.event.Topic, h.event.ID = "t", "e1"
			r.tell(aboutRefused, h)
			p := r.snapshot().Problems[4]
			expect(t, "what to do about a refused event", p.Code+" "+p.Do, do)
			expect(t, "event", p.Event.ID, "e1")
		}
	})
}

// unreachable is a pool whose server answers nothing. It notes the times at which it was dialed,
// and how long each lasted.
func unreachable(t *testing.T, lasts func(n int) time.Duration) (db *pgxpool.Pool, dialed *[]time.Duration) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig("postgres://u@127.0.0.1:1/d?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	dialed = &[]time.Duration{}
	cfg.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		*dialed = append(*dialed, time.Since(began))
		select {
		case <-ctx.Done():
		case <-time.After(lasts(len(*dialed))):
		}
		return nil, errors.New("nobody is there")
	}
	db, err = pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, dialed
}

// TestPausesWithoutADatabase: a relay that cannot lead tries again after two seconds, then after
// pauses that double up to half a minute, however long a try takes. It says so each time, with the
// pause.
func TestPausesWithoutADatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, dialed := unreachable(t, func(n int) time.Duration {
			return map[int]time.Duration{7: longPause}[n]
		})
		r := newRunner(&Relay{DB: db, Producer: &sends{}})
		r.pace.silence = time.Hour
		log := logging(r.Relay)
		ctx, cancel := context.WithTimeout(t.Context(), 182*time.Second)
		defer cancel()
		began := time.Now()
		expect(t, "serve", r.serve(ctx), nil)
		expect(t, "it ended", time.Since(began), 182*time.Second)
		expect(t, "dialed", fmt.Sprint(*dialed), "[0s 2s 6s 14s 30s 1m0s 1m30s 2m30s 3m0s]")
		var pauses []string
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, `level=ERROR msg="outbox: the relay does not lead" err="events: no connection of the pool: `) {
				t.Errorf("logged %s", line)
			}
			_, next, _ := strings.Cut(line, " next=")
			pauses = append(pauses, strings.TrimSpace(next))
		}
		expect(t, "pauses", strings.Join(pauses, " "), "2s 4s 8s 16s 30s 30s 30s 30s 30s")
		if err := r.Health(); err == nil || !strings.HasPrefix(err.Error(), "outbox: events: no connection of the pool: ") {
			t.Errorf("Health: %v", err)
		}
	})
}

// TestReportsAreLookedForAgain: a relay looks every minute whether reports can be written, and its
// end waits for nothing.
func TestReportsAreLookedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, dialed := unreachable(t, func(int) time.Duration { return 0 })
		r := newRunner(&Relay{DB: db, Producer: &sends{}})
		logging(r.Relay)
		stop := r.report(t.Context())
		time.Sleep(3*time.Minute - 1)
		began := time.Now()
		stop()
		expect(t, "its end took", time.Since(began), 0)
		expect(t, "dialed", fmt.Sprint(*dialed), "[0s 1m0s 2m0s]")
	})
}

// TestARelayThatPanicsSaysWhere: the log of a relay has the stack.
func TestARelayThatPanicsSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(&Relay{Producer: &sends{}}) // without a pool
		log := logging(r.Relay)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		expect(t, "serve", r.serve(ctx), nil)
		if text := log.String(); !strings.Contains(text, "the relay panicked: ") || !strings.Contains(text, "stack=") || !strings.Contains(text, "runner.go") && !strings.Contains(text, "tenure.go") {
			t.Errorf("logged %s", text)
		}
	})
}

// TestErrorsOfTheDatabaseAreExplained: by what to do about them.
func TestErrorsOfTheDatabaseAreExplained(t *testing.T) {
	for code, want := range map[string]string{
		"42P01": "; idemgen outbox migration prints the SQL that creates the table", "42703": "; each header needs a column: ALTER TABLE idem_outbox ADD COLUMN ... text", "42501": "",
	} {
		of := &pgconn.PgError{Code: code, Message: "x"}
		err := explained(fmt.Errorf("y: %w", of))
		expect(t, code, err.Error(), fmt.Sprintf("y: %v%s", of, want))
		expect(t, code, errors.Is(err, of), true)
	}
	other := errors.New("other")
	expect(t, "another error", explained(other), other)
	expect(t, "no error", cmp.Or(explained(nil), explainedDelete(nil)), nil)
	if err := explainedDelete(other); !errors.Is(err, other) || err.Error() != "delete from idem_outbox: other" {
		t.Errorf("a delete: %v", err)
	}
}
