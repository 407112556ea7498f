package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// lookCounter counts questions about dead letters, and makes each query take a while.
type lookCounter struct {
	slow  time.Duration
	asked atomic.Int32
}

func (a *lookCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, "idem_dead_letter") && strings.HasPrefix(strings.TrimSpace(q.SQL), "WITH asked AS") {
		a.asked.Add(1)
		time.Sleep(a.slow)
	}
	return ctx
}

func (a *lookCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// traced is a pool whose queries are traced.
func traced(t testing.TB, db *pgxpool.Pool, by pgx.QueryTracer) *pgxpool.Pool {
	t.Helper()
	config := db.Config()
	config.ConnConfig.Tracer = by
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Record keys that are free at the same moment are asked about together; and however long that
// takes, each batch lets some of their records go on.
func TestManyRecordKeysAreFreedTogether(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var slow lookCounter
	s := rig.Service{Policy: wire.FailurePolicy{Park: true}}
	w := rig.Own(t, s.Consumer(t, traced(t, db, &slow)))
	const keys = 250
	var texts []string
	for n := range keys {
		texts = append(texts, fmt.Sprintf("k%d/need 7000 1", n), fmt.Sprintf("k%d/put %d 1", n, n))
	}
	rig.Apply(t, w, rig.Keyed(0, texts...))
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'x', asked_at = now(), asked_by = 'ann' WHERE state = 'd'`)
	slow.asked.Store(0)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters that are open", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE state IN ('d', 'w')`), "0")
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM t`), fmt.Sprint(keys))
	if n := slow.asked.Load(); n == 0 || n > 10 {
		t.Errorf("%d questions about %d keys", n, keys)
	}

	slow.slow = 1100 * time.Millisecond // longer than a batch waits
	rig.Apply(t, w, rig.Keyed(2*keys, "k/need 7000 1", "k/put 8000 1", "k/put 8001 1"))
	rig.Ask(t, db, "discard", 2*keys)
	for n := range 3 {
		w.LookAgain()
		began := time.Now()
		rig.Apply(t, w, rig.Keyed(int64(2*keys+3+n), "put 1 1"))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a batch waited %v", took)
		}
	}
	rig.Want(t, "letters that are open", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE state IN ('d', 'w')`), "0")
}

// Requests that cannot be done yet keep no others from being done, however many they are, but for
// those of their record key. One that is taken back is not done.
func TestRequestsThatWaitDoNotCount(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var busy atomic.Bool
	s := rig.Service{Handle: func(_ context.Context, _ idem.Tx, row int32) error {
		switch {
		case busy.Load() && row < 500:
			return idem.RetryAfter(time.Hour, errors.New("not yet"))
		case busy.Load():
			return nil
		}
		return idem.Permanent(errors.New("refused"))
	}}
	w := rig.Own(t, s.Consumer(t, db))
	var texts []string
	for row := range 120 {
		texts = append(texts, fmt.Sprintf("k%d/call %d", row, row))
	}
	rig.Apply(t, w, rig.Keyed(0, append(texts, "k0/call 501", "other/call 502")...))
	busy.Store(true)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = now(), asked_by = 'ann', asked_number = nextval('idem_fence')`)
	rig.Apply(t, w, nil)
	rig.Want(t, "what was done", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE state = 'r'`), "121")

	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: rig.Topic, Offset: 0}})
	if err != nil {
		t.Fatal(err)
	}
	by := operate.By{Operator: "bob", Reason: "not now"}
	now, err := operate.TakeBack(t.Context(), db, found, by)
	if err != nil || now[0].Asked() != "" || now[0].Request.Answer != "withdrawn by bob: not now" {
		t.Fatalf("%v: %+v", err, now)
	}
	_, err = operate.TakeBack(t.Context(), db, now, by)
	rig.WantText(t, err, "there is no pending request")
	rig.Apply(t, w, nil)
	rig.Want(t, "behind what was taken back", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE state = 'r'`), "120 121")
	rig.Want(t, "what was taken back", rig.Query(t, db, `SELECT state::text FROM idem_dead_letter WHERE offs = 0`), "d")
}

// A request that is taken back while it is done has no effect.
func TestARequestThatIsTakenBackMeanwhile(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: effect 1"))
	p.Call = func(context.Context, int32, int) error {
		idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = NULL, asked_number = NULL, answer = 'taken back', answered_at = now()`)
		return nil
	}
	rig.Ask(t, db, "replay", 0)
	rig.Apply(t, w, nil)
	rig.Apply(t, w, rig.Records(1, "put 5 5"))
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d taken back")
	rig.Want(t, "rows", rig.Table(t, db), "5=5")
}

// A request that is replaced by another one while it is done has no effect: the other one has.
func TestARequestThatIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: effect 1"))
	p.Call = func(context.Context, int32, int) error {
		idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'x', asked_at = clock_timestamp(), asked_number = nextval('idem_fence')`)
		return nil
	}
	rig.Ask(t, db, "replay", 0)
	rig.Apply(t, w, nil)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 x discarded")
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// The calls of letters run beside one another, in as many slots as there are, and records wait for
// them no longer than a second in all, also if each look takes a while.
func TestCallsOfManyLettersUseTheSlots(t *testing.T) {
	t.Parallel()
	slow := lookCounter{slow: 50 * time.Millisecond}
	db := traced(t, rig.Database(t), &slow)
	var p rig.Provider
	unlimited := rig.Terms
	unlimited.Timeout = 2 * time.Minute // no call ends by itself
	s := p.Service(unlimited)
	s.Edit = func(of *wire.Service) { of.Limits.Effects = 8 }
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	w := rig.Own(t, s.Consumer(t, db))
	const letters = 24
	var texts []string
	for n := range letters {
		texts = append(texts, fmt.Sprintf("k%d: effect %d", n, n))
	}
	rig.Apply(t, w, rig.Records(0, texts...))
	var running, most atomic.Int32
	goOn := make(chan struct{})
	p.Call = func(context.Context, int32, int) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-goOn
		running.Add(-1)
		return nil
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = now(), asked_by = 'ann', asked_number = nextval('idem_fence')`)
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := range int64(90) { // a second for each would be more than a minute
		w.LookAgain()
		_, err := w.Apply(limited, rig.Records(letters+n, "put 5000 5"))
		if err = errors.Join(err, limited.Err()); err != nil {
			close(goOn)
			t.Fatalf("records wait for calls: batch %d: %v", n+1, err)
		}
	}
	rig.Want(t, "calls at the same time", most.Load(), 8)
	close(goOn)
	for end := time.Now().Add(time.Minute); strings.Contains(rig.LettersNow(t, db), "?") && time.Now().Before(end); {
		rig.Apply(t, w, nil)
	}
	rig.Want(t, "replayed", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE state = 'r'`), fmt.Sprint(letters))
}

// Of one record key letters are replayed in the order of the log, one after the other: the second
// one may need the row of the first.
func TestLettersOfARecordKeyAreReplayedInOrder(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Keyed(0, "a/effect 7", "a/need 7 9"))
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d, 1 d")
	goOn := make(chan struct{})
	p.Call = func(context.Context, int32, int) error { <-goOn; return nil }
	rig.Ask(t, db, "replay", 1)
	rig.Ask(t, db, "replay", 0)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d r?, 1 d r?")
	close(goOn)
	for end := time.Now().Add(time.Minute); strings.Contains(rig.LettersNow(t, db), "?") && time.Now().Before(end); {
		rig.Apply(t, w, nil)
	}
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed, 1 r replayed")
	rig.Want(t, "rows", rig.Table(t, db), "7=9")
}
