package idem_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
)

// truncated has offsets from one on count again, since the broker's log was cut off there.
func truncated(t testing.TB, db *pgxpool.Pool, to int64) {
	t.Helper()
	name := operate.Name{Consumer: "test", Topic: topic}
	if _, err := operate.Set(t.Context(), db, name, operate.Target{From: halt.Anywhere, To: to, ApplyAgain: true}, operate.By{Operator: "ann", Reason: "log-truncated"}); err != nil {
		t.Fatal(err)
	}
}

// An event that is known by its offset is another one if another record is there, and the same one
// if the record is read again: what was called for it is not called again.
func TestAnotherRecordAtAnOffsetHasAnotherCall(t *testing.T) {
	t.Parallel()
	inEachStore(t, terms, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, _ func() string) {
		apply(t, own(t, s.consumer(t, db)), records(0, "put 9 9", "effect 1"))
		truncated(t, db, 1)
		apply(t, own(t, s.consumer(t, db)), records(1, "effect 2"))
		truncated(t, db, 1)
		apply(t, own(t, s.consumer(t, db)), records(1, "effect 2"))
		want(t, "calls for what is gone", p.count(1), 1)
		want(t, "calls for what is there", p.count(2), 1)
	})
}

// Dead letters of one offset, from before and after the log was cut off, have a call each.
func TestLettersOfOneOffsetHaveACallEach(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(terms)
	p.call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	apply(t, own(t, s.consumer(t, db)), keyed(0, "k1/a: effect 1"))
	truncated(t, db, 0)
	w := own(t, s.consumer(t, db))
	apply(t, w, keyed(0, "k2/b: effect 2"))
	want(t, "letters", lettersNow(t, db), "0 d, 0 d")
	p.call = func(context.Context, int32, int) error { time.Sleep(100 * time.Millisecond); return nil }
	all, _, err := operate.Meant(t.Context(), db, operate.Selection{Consumer: "test", Topic: topic}, "discard")
	if err == nil {
		_, err = operate.Ask(t.Context(), db, all, "replay", nil, operate.By{Operator: "ann", Reason: "mended"})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.LookAgain()
	for end := time.Now().Add(20 * time.Second); lettersNow(t, db) != "0 r replayed, 0 r replayed" && time.Now().Before(end); {
		apply(t, w, nil)
	}
	want(t, "letters", lettersNow(t, db), "0 r replayed, 0 r replayed")
	want(t, "calls of the first record", p.count(1), 2)
	want(t, "calls of the second record", p.count(2), 2)
	want(t, "rows", query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM t`), "1 2")
}
