package maintain_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
)

func TestKeysLiveForTheWindowAndAQuarterMore(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	j, _ := job(db, "a")
	for _, step := range []struct {
		pass time.Duration
		want string
	}{
		{0, "1 open"},
		{14 * time.Minute, "1 open"},
		{2 * time.Minute, "1 sealed, 2 open"},
		{16 * time.Minute, "1 sealed, 2 sealed, 3 open"},
		{16 * time.Minute, "1 sealed, 2 sealed, 3 sealed, 4 open"},
		{16 * time.Minute, "1 sealed, 2 sealed, 3 sealed, 4 sealed, 5 open"},
		{11 * time.Minute, "1 sealed, 2 sealed, 3 sealed, 4 sealed, 5 open"},
		{2 * time.Minute, "2 sealed, 3 sealed, 4 sealed, 5 open"},           // 1 was sealed 61 minutes ago, 5 opened 13
		{3 * time.Minute, "2 sealed, 3 sealed, 4 sealed, 5 sealed, 1 open"}, // in the table of 1, whose keys are over
	} {
		pass(t, db, "a", step.pass)
		upkeep(t, db, j)
		want(t, "generations", generations(t, db, "a"), step.want)
		key(t, db, "a")
	}
	want(t, "tables", tables(t, db), "1 2 3 4 5")
	// Nothing was claimed in the open one: it need not be sealed, whatever its age.
	idemtest.Exec(t, db, `DELETE FROM idem_keys WHERE gen = 1`)
	pass(t, db, "a", 300*time.Minute)
	upkeep(t, db, j)
	want(t, "idle", generations(t, db, "a"), "1 open")
}

// A window that the spec made longer holds for what is not dropped yet, and one that it made
// shorter only for keys to come.
func TestChangedWindow(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	j, _ := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	pass(t, db, "a", 2*time.Hour)
	j.Keep = 3 * time.Hour
	upkeep(t, db, j)
	want(t, "longer", generations(t, db, "a"), "1 sealed, 2 open")
	j.Keep = 2*time.Hour + time.Minute
	upkeep(t, db, j)
	want(t, "longer, by a minute", generations(t, db, "a"), "1 sealed, 2 open")
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET keep = '4 hours'`)
	j.Keep = time.Hour
	upkeep(t, db, j)
	want(t, "shorter", generations(t, db, "a"), "1 sealed, 2 open")
	pass(t, db, "a", 2*time.Hour)
	upkeep(t, db, j)
	want(t, "over", generations(t, db, "a"), "2 open")
}

var errCrash = errors.New("crash")

// The run is interrupted after each of its steps, one after another; the next one ends what it
// began.
func TestUpkeepGoesOnAfterACrashAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	for n := 1; ; n++ {
		db := database(t)
		first(t, db, "a")
		j, _ := job(db, "a")
		for range 2 { // 1 sealed long ago, 2 sealed, 3 due
			key(t, db, "a")
			pass(t, db, "a", 31*time.Minute)
			upkeep(t, db, j)
		}
		key(t, db, "a")
		pass(t, db, "a", 40*time.Minute)
		chain(t, db, "a", 2500, 2400)
		left, at := n, ""
		crash := fault.With(t.Context(), func(step string) error {
			if left--; left <= 0 {
				at = step
				return errCrash // and every later step: the process is gone
			}
			return nil
		})
		err := j.Once(crash)
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		upkeep(t, db, j)
		// 1 may be free again before the next one takes a table.
		want(t, "generations after a crash: "+at, strings.Replace(generations(t, db, "a"), "1 open", "4 open", 1), "2 sealed, 3 sealed, 4 open")
		want(t, "tables after a crash: "+at, tables(t, db), "1 2 3 4")
		want(t, "chain after a crash: "+at, text(t, db, `SELECT min(seq) || ' ' || max(seq) || ' ' || count(*) FROM idem_ledger`), "2400 2500 101")
		if err == nil {
			if n < 6 {
				t.Errorf("a run has %d steps only", n-1)
			}
			return
		}
	}
}

// Bug: the table of a generation that is over is used again, and holds nothing of it.
func TestTableOfKeysIsUsedAgainEmpty(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	first(t, db, "b")
	key(t, db, "a")
	j, _ := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	pass(t, db, "a", 2*time.Hour)
	upkeep(t, db, j)
	want(t, "generations", generations(t, db, "a"), "3 open")
	key(t, db, "b")
	pass(t, db, "b", 31*time.Minute)
	j, _ = job(db, "b")
	upkeep(t, db, j)
	want(t, "generations", generations(t, db, "b"), "2 sealed, 1 open")
	want(t, "keys of the former one", text(t, db, `SELECT count(*) FROM idem_keys WHERE gen = 1`), "0")
	key(t, db, "b")
	want(t, "keys", text(t, db, `SELECT count(*) FROM idem_keys WHERE gen = 1`), "1")
}

// While somebody reads a generation that is over, others claim and read, and its keys go when
// the reader is done.
func TestReaderOfAnOldGenerationHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	j, _ := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	pass(t, db, "a", 2*time.Hour)
	held, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback(context.Background())
	if _, err := held.Exec(t.Context(), `SELECT FROM idem_keys`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- j.Once(t.Context()) }()
	until(t, "forgetting is not tried", func() bool {
		return text(t, db, `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database()) AND mode = 'AccessExclusiveLock'`) != "0"
	})
	key(t, db, "a")
	want(t, "keys, behind the lock that is waited for", text(t, db, `SELECT count(*) FROM idem_keys`), "2")
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, "generations", generations(t, db, "a"), "2 open")
	want(t, "keys", text(t, db, `SELECT count(*) FROM idem_keys`), "1")
}

// The functions refuse what is not so, whoever calls them.
func TestFunctionsOfTheKeysJudgeTheirArguments(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	j, _ := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	for _, call := range []string{
		`idem_keys_open('', '1 hour')`, `idem_keys_open('c', '-1 hour')`, `idem_keys_open(NULL, '1 hour')`,
		`idem_keys_seal('a', 1, 2, '1 hour')`, `idem_keys_seal('b', 2, 1, '1 hour')`, `idem_keys_seal('a', 2, 9, '1 hour')`,
		`idem_keys_seal('a', 2, 1, '1 hour')`, `idem_keys_seal('a', 2, 2, NULL)`,
		`idem_keys_count('a', 2)`, `idem_keys_count('b', 1)`, `idem_keys_count('a', 1)`, `idem_keys_forget('a', 2)`, `idem_keys_forget('a', 1)`, `idem_keys_forget('b', 1)`, `idem_keys_forget('a', NULL)`,
	} {
		if _, err := db.Exec(t.Context(), `SELECT `+call); err == nil {
			t.Errorf("%s is taken", call)
		}
	}
	want(t, "generations, and keys as counted", generations(t, db, "a")+text(t, db, `SELECT string_agg(' '||keys, '') FROM idem_key_gen`), "1 sealed, 2 open 1")
	want(t, "who may call them", text(t, db, `SELECT count(*) FROM pg_proc WHERE proname LIKE 'idem\_keys\_%' AND
(has_function_privilege('public', oid, 'EXECUTE') OR NOT prosecdef AND prorettype <> 'trigger'::regtype OR proconfig IS DISTINCT FROM '{"search_path=pg_catalog, public, pg_temp"}')`), "0")
}

// While a claim in flight keeps the seal waiting, others claim and read.
func TestSealThatCannotBeHadLetsOthersPass(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	pass(t, db, "a", 31*time.Minute)
	held, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback(context.Background())
	if _, err := held.Exec(t.Context(), `INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 1, 1, 1, 1)`); err != nil {
		t.Fatal(err)
	}
	j, _ := job(db, "a")
	done := make(chan error, 1)
	go func() { done <- j.Once(t.Context()) }()
	until(t, "the seal is not tried", func() bool {
		return text(t, db, `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database()) AND mode = 'ShareRowExclusiveLock'`) != "0"
	})
	key(t, db, "a") // after the seal, which gives up
	want(t, "while a claim is in flight", generations(t, db, "a"), "1 open")
	if err := held.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, "then", generations(t, db, "a"), "1 sealed, 2 open")
	want(t, "keys in the sealed one", text(t, db, `SELECT count(*) FROM idem_keys WHERE gen = 1`), "3")
}

// Batches with Go handlers hold their claims for long, and one is always under way: the seal
// waits until it gets its lock, else the open generation would grow for ever.
func TestRotationBesideHandlers(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	pass(t, db, "a", 31*time.Minute)
	var stop atomic.Bool
	var claims atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for !stop.Load() {
				err := claimUntilTheNext(t.Context(), db, &claims)
				if pg, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || pg.Code != "23514") { // sealed meanwhile
					t.Error(err)
					return
				}
			}
		})
	}
	until(t, "claims are in flight", func() bool { return claims.Load() > 2 })
	j, _ := job(db, "a")
	j.Transaction = time.Minute
	err := j.Once(t.Context())
	stop.Store(true)
	workers.Wait()
	if err != nil {
		t.Error(err)
	}
	want(t, "generations", generations(t, db, "a"), "1 sealed, 2 open")
}

// claimUntilTheNext claims a key in a transaction that ends when another one has claimed; if
// none can, after a handler that takes much longer than the seal waits at first.
func claimUntilTheNext(ctx context.Context, db *pgxpool.Pool, claims *atomic.Int64) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT gen, gen_random_uuid(), 1, 1, 1, 1 FROM idem_key_gen WHERE consumer = 'a' AND sealed_at IS NULL`)
		if err != nil {
			return err
		}
		mine := claims.Add(1)
		for end := time.Now().Add(700 * time.Millisecond); claims.Load() == mine && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

// Consumers share the numbering; several processes of each run their upkeep at once.
func TestManyMaintainersAtOnce(t *testing.T) {
	t.Parallel()
	db := database(t)
	consumers := []string{"a", "b", "c"}
	var wg sync.WaitGroup
	for _, name := range consumers {
		for range 2 {
			wg.Go(func() { first(t, db, name) })
		}
	}
	wg.Wait()
	for range 6 {
		for _, name := range consumers {
			key(t, db, name)
			pass(t, db, name, 31*time.Minute)
			for range 2 {
				j, _ := job(db, name)
				wg.Go(func() { _ = j.Once(t.Context()) }) // one may lose a number to another, and drop later
			}
		}
		wg.Wait()
	}
	for _, name := range consumers {
		j, _ := job(db, name)
		upkeep(t, db, j)
		got := generations(t, db, name)
		if strings.Count(got, "open") != 1 || !strings.HasSuffix(got, "open") || strings.Count(got, "sealed") > 3 || !strings.Contains(got, "sealed") {
			t.Errorf("generations of %s: %s", name, got)
		}
	}
	want(t, "at most five tables per consumer", text(t, db, `SELECT count(*) <= 15 FROM pg_class WHERE relname ~ '^idem_keys_[0-9]+$'`), "true")
}

// The lock does not hold everywhere (a pooler in between): each step is safe without it.
func TestRotationTwiceAtOnceOpensOne(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 4 {
		wg.Go(func() {
			conn, err := db.Acquire(t.Context())
			if err != nil {
				errs <- err
				return
			}
			defer conn.Release()
			next, err := generation.Prepare(t.Context(), conn.Conn())
			if err == nil {
				err = generation.Rotate(t.Context(), conn.Conn(), "a", 1, next, time.Hour, 0)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	done := 0
	for err := range errs {
		if err == nil {
			done++
		}
	}
	if done != 1 {
		t.Errorf("%d of 4 rotations succeeded", done)
	}
	if got := generations(t, db, "a"); !strings.HasPrefix(got, "1 sealed, ") || strings.Count(got, "open") != 1 {
		t.Error(got)
	}
}

// A role that may not make tables goes on consuming; the log says what to grant.
func TestMissingRightsAreSaid(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	pass(t, db, "a", 31*time.Minute)
	idemtest.Exec(t, db, `CREATE ROLE idem_poor NOLOGIN; GRANT USAGE ON SCHEMA public TO idem_poor;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO idem_poor`)
	t.Cleanup(func() {
		_, _ = db.Exec(context.Background(), `DROP OWNED BY idem_poor; DROP ROLE idem_poor`)
	})
	chain(t, db, "a", 200, 100)
	j, log := job(db, "a")
	connect := j.Connect
	j.Connect = func(ctx context.Context) (*pgx.Conn, error) {
		conn, err := connect(ctx)
		if err == nil {
			_, err = conn.Exec(ctx, `SET ROLE idem_poor`)
		}
		return conn, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run(ctx, time.Millisecond)
	}()
	until(t, "nothing is said", func() bool { return strings.Contains(log.String(), "GRANT") })
	until(t, "the rest is not done", func() bool { return text(t, db, `SELECT min(seq) FROM idem_ledger`) == "100" })
	cancel()
	<-done
	want(t, "lines", strings.Repeat("x", strings.Count(log.String(), "level=ERROR"))+strings.Repeat("y", strings.Count(log.String(), "consumption continues")), "xy")
	want(t, "generations", generations(t, db, "a"), "1 open")
}
