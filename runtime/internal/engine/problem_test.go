package engine

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Health has of several reasons the one that an operator must know first: its code, its beginning
// and what to do.
func TestHealthHasTheFirstReason(t *testing.T) {
	now := time.Now()
	changed, overdue, silent, before := now.Add(-time.Minute), now.Add(-2*time.Minute), now.Add(-3*time.Minute), now.Add(-20*time.Second)
	away, pg := errors.New("away"), &pgconn.PgError{Code: "55P03"}
	halted := &idemtype.HaltedError{Code: halt.Handler, Reason: "it ended the transaction", Ways: []halt.Way{{}}}
	for name, test := range map[string]struct {
		state  protocol.State
		status status
		shown  string
		code   string // "" is none
		since  time.Time
		says   string
		do     string
	}{
		"nothing":               {protocol.Ready, status{}, "READY", "", time.Time{}, "", ""},
		"sent":                  {protocol.Sent, status{}, "READY", "", time.Time{}, "", ""},
		"halted":                {protocol.Halted, status{why: halted}, "HALTED", "handler", changed, "it ended the transaction", "idemgen stream"},
		"halted, and it runs":   {protocol.Halted, status{why: halted, handler: "Paid"}, "HALTED", "handler", changed, "; handler Paid is still running", "idemgen stream"},
		"halted without a way":  {protocol.Halted, status{why: away}, "HALTED", "halted", changed, "away", ""},
		"halted of unknown":     {protocol.Halted, status{}, "HALTED", "halted", changed, "HALTED", ""},
		"a handler runs":        {protocol.Ready, status{handler: "Paid"}, "READY", "handler-running", overdue, "READY: handler Paid is still running after its context ended", doHandler},
		"a handler, and away":   {protocol.Backoff, status{handler: "Paid", why: away}, "BACKOFF", "handler-running", overdue, "BACKOFF: handler Paid is still running after its context ended: away", doHandler},
		"away":                  {protocol.Backoff, status{why: away}, "BACKOFF", "backoff", changed, "BACKOFF: away", doMend},
		"a lock":                {protocol.Fencing, status{why: pg}, "FENCING", "fencing", changed, "FENCING: ", outage.LockAdvice},
		"retried":               {protocol.Ready, status{why: &verdict.Later{Err: away}}, "RETRYING", "retrying", changed, "RETRYING: away", doMend},
		"later":                 {protocol.Doubt, status{why: &verdict.Later{Err: away}}, "DOUBT", "doubt", changed, "DOUBT: away", doMend},
		"an effect":             {protocol.Ready, status{effect: away}, "READY", "ready", changed, "READY: away", ""},
		"calls, and an effect":  {protocol.Ready, status{call: away, effect: errors.New("other")}, "READY", "ready", changed, "READY: away", ""},
		"records wait":          {protocol.Ready, status{since: before}, "READY", "waiting", before, "READY: the oldest delivered record has been waiting for 20s, longer", doWaiting},
		"records wait for it":   {protocol.Ready, status{since: before, awaits: &awaited{7, "effect Paid"}}, "READY", "waiting", before, "READY: no progress for 20s: the record at offset 7 is waiting for effect Paid", doWaiting},
		"records wait in time":  {protocol.Ready, status{since: now.Add(-2 * time.Second), awaits: &awaited{}}, "READY", "", time.Time{}, "", ""},
		"silent":                {protocol.Ready, status{silent: silent, silence: "the client delivers none"}, "READY", "silent", silent, "READY: the client delivers none, for 3m0s", doSilent},
		"silent in standby":     {protocol.Standby, status{silent: silent, silence: "none"}, "STANDBY", "silent", silent, "STANDBY: none, for 3m0s", doSilent},
		"in standby":            {protocol.Standby, status{}, "STANDBY", "standby", changed, "STANDBY", "another process owns the partition"},
		"in standby, and known": {protocol.Standby, status{why: away}, "STANDBY", "standby", changed, "STANDBY: away", "another process owns the partition"},
		"taken over":            {protocol.Fencing, status{}, "FENCING", "", time.Time{}, "", ""},
	} {
		test.status.changed, test.status.overdue = changed, overdue
		p := &Partition{
			id: idemtype.Partition{Topic: "t", Number: 3}, state: test.state, status: test.status,
			process: &Process{Service: &wire.Service{Limits: wire.Limits{BatchTimeout: time.Second}}},
		}
		shown, is := p.Report(now)
		if shown != test.shown || (is == nil) != (test.code == "") {
			t.Errorf("%s: shown as %s, with %+v", name, shown, is)
			continue
		}
		if is == nil {
			continue
		}
		if is.Code != test.code || !is.Since.Equal(test.since) || !strings.Contains(is.Err.Error(), test.says) || !strings.Contains(is.Do, test.do) || test.do == "" && is.Do != "" || is.Topic != "t" || is.Partition != 3 {
			t.Errorf("%s: %+v, want code %s since %v", name, is, test.code, test.since)
		}
		if strings.HasPrefix(is.Reason, shown+": ") {
			t.Errorf("%s: the reason repeats the state: %s", name, is.Reason)
		}
	}
}

// What handlers queued is sent when it is many statements, many bytes, or will take long at the
// pace of the last ones.
func TestQueueIsFullByNumberBytesAndTime(t *testing.T) {
	o := &Owner{p: &Partition{process: &Process{Service: &wire.Service{Limits: wire.Limits{BatchTimeout: 9 * time.Second}}}}}
	for name, test := range map[string]struct {
		queued size
		pace   time.Duration
		full   bool
	}{
		"nothing": {}, "few": {size{999, 1<<20 - 1}, time.Millisecond, false}, "many": {size{1000, 0}, 0, true}, "large": {size{1, 1 << 20}, 0, true},
		"in time": {size{10, 10}, 100 * time.Millisecond, false}, "slow": {size{11, 10}, 100 * time.Millisecond, true},
	} {
		x := &explicit{transaction: &transaction{o: o}, queued: test.queued}
		if o.pace = test.pace; x.full() != test.full {
			t.Errorf("%s: full %t, want %t", name, !test.full, test.full)
		}
	}
	x, q := &explicit{transaction: &transaction{o: o}}, &pgx.QueuedQuery{}
	o.pace = 0
	if x.Queue(&wire.Call{}, pipeline.Statement{Args: [][]byte{make([]byte, 1000), nil, make([]byte, 24)}}, q) || x.queued != (size{1, 1024}) || x.asks() || !x.Pending() {
		t.Errorf("queued: %+v", x.queued)
	}
	if q.Fn = func(pgx.BatchResults) error { return nil }; !x.asks() {
		t.Error("the callback is not known")
	}
	if (&explicit{}).Pending() || !(&explicit{err: errors.New("no")}).Pending() {
		t.Error("what is pending is a statement or an error")
	}
	sent := []pending{{}, {asks: q}, {asks: q}, {asks: q}}
	x.paced(sent, pipeline.Reply{Answered: 2}, time.Second)
	if o.pace != 500*time.Millisecond {
		t.Errorf("two statements in a second are one in %v", o.pace)
	}
	x.paced(sent[:1], pipeline.Reply{Answered: 1}, time.Second)
	x.paced(sent, pipeline.Reply{Answered: 9}, 3*time.Second)
	if o.pace != time.Second {
		t.Errorf("three statements in three seconds are one in %v", o.pace)
	}
	for _, n := range []int{5, 3, 2*most.statements + 1, 2 * most.statements} {
		o.keep(make([]pending, 2, max(n, 2)))
	}
	if len(o.spare) != 0 || cap(o.spare) != 2*most.statements {
		t.Errorf("the memory of %d statements is kept", cap(o.spare))
	}
}

// The tail of an owner that fenced others again and again must be quiet for longer each time, and
// after long progress as long as at first.
func TestRivalsWaitLongerEachTime(t *testing.T) {
	s := &Process{Service: &wire.Service{Limits: wire.Limits{BatchTimeout: time.Minute}}, Log: slog.New(slog.DiscardHandler)}
	for n, want := range map[rivals]time.Duration{0: 2 * time.Minute, 1: 2 * time.Minute, 2: 4 * time.Minute, 3: 8 * time.Minute, 4: mostQuiet, 9: mostQuiet} {
		if got := n.quiet(s); got != want {
			t.Errorf("after %d fences: quiet for %v, want %v", n, got, want)
		}
	}
	n, began := rivals(2), time.Now()
	n.fenced(s, &life{began: began, forward: began.Add(4 * time.Minute)})
	if n != 3 {
		t.Errorf("%d rivals after brief progress, want 3", n)
	}
	n.fenced(s, &life{began: began, forward: began.Add(8*time.Minute + 1)})
	if n != 1 || s.Counters.ForeignFences.Load() != 2 {
		t.Errorf("%d rivals after long progress, want 1; %d fences are counted", n, s.Counters.ForeignFences.Load())
	}
}

// The error about a log that ends below the position says so if an operator has set the position.
func TestALogThatEndsBelowThePosition(t *testing.T) {
	const text = "the log ends at 5, below the ledger's position 9"
	for tail, want := range map[ledger.Tail]string{
		{Next: 9, Writer: ledger.Person, Kind: ledger.Skip}:  text + ", which an operator's row has set",
		{Next: 9, Writer: ledger.Person, Kind: ledger.Pause}: text,
		{Next: 9, Writer: ledger.Person, Kind: ledger.Fence}: text,
		{Next: 9, Kind: ledger.Skip}:                         text,
		{Next: 9}:                                            text,
	} {
		if got := (&aheadError{5, tail}).Error(); got != want {
			t.Errorf("%+v: %s", tail, got)
		}
	}
}
