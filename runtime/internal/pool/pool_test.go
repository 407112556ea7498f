package pool_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A database that lacks the runtime's tables, or has older ones, is an error that names the
// file to apply, at once and not after retries.
func TestOldSchemaNamesTheMissingMigration(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE idem_schema (part text, version int); INSERT INTO idem_schema VALUES `
	for name, test := range map[string]struct {
		sql   string
		need  map[string]int
		lacks string
	}{
		"no tables":    {"SELECT", map[string]int{"core": 1, "keys": 1}, "_idem_core_1.sql, _idem_keys_1.sql"},
		"older tables": {tables + "('core', 1)", map[string]int{"core": 2}, "_idem_core_2.sql"},
		"no part":      {tables + "('core', 1), ('keys', 1)", map[string]int{"core": 1, "keys": 1, "effects": 1}, "end with _idem_effects_1.sql"},
	} {
		t.Run(name, func(t *testing.T) {
			db := idemtest.DB(t)
			idemtest.Exec(t, db, test.sql)
			c := rig.Service{Edit: func(s *wire.Service) { s.Schema = test.need }}.Consumer(t, db)
			err := c.Run(t.Context(), rig.NewSource(nil))
			if err == nil || !strings.Contains(err.Error(), test.lacks) {
				t.Errorf("got %v, want %s", err, test.lacks)
			}
		})
	}
}

// So is a database in which a migration of the service is missing: not a partition that
// stands silently.
func TestMissingTableIsAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `DROP TABLE t`)
	err := rig.Service{}.Consumer(t, db).Run(t.Context(), rig.NewSource(nil))
	if err == nil || !strings.Contains(err.Error(), "are all migrations applied?") {
		t.Errorf("got %v", err)
	}
}

// The service's pool is used for its address only: its own sessions keep their settings.
func TestSessionSettings(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	name := `"` + db.Config().ConnConfig.Database + `"`
	for _, other := range []string{"default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on", "synchronous_commit = off"} {
		idemtest.Exec(t, db, `ALTER DATABASE `+name+` SET `+other)
	}
	seen := map[string]string{}
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		for _, name := range []string{"lock_timeout", "statement_timeout", "default_transaction_isolation", "application_name", "synchronous_commit",
			"default_transaction_deferrable", "idle_in_transaction_session_timeout"} {
			var v string
			if err := tx.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&v); err != nil {
				return err
			}
			seen[name] = v
		}
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	for name, v := range map[string]string{
		"lock_timeout": "2500ms", "statement_timeout": "8s", "default_transaction_isolation": "read committed",
		"application_name": "idemgen", "synchronous_commit": "on",
		"default_transaction_deferrable": "off", "idle_in_transaction_session_timeout": "10s",
	} {
		rig.Want(t, name, seen[name], v)
	}
	rig.Want(t, "lock_timeout of the service's own pool", rig.Query(t, db, `SHOW lock_timeout`), "0")
}

func TestRoundTripsOfABatch(t *testing.T) {
	rig.Lengthy(t)
	for name, test := range map[string]struct {
		texts []string
		trips int64
	}{
		"identified by offset":   {[]string{"put 1 1", "put 2 2", "put 1 3", "put 1 4"}, 1},
		"with keys anywhere":     {[]string{"a: put 1 1", "b: put 2 2"}, 1},
		"with keys of the chain": {[]string{"@a: put 1 1", "@b: put 2 2", "@a: put 1 1"}, 1},
		"with a dead letter":     {[]string{"put 1 1", "nonsense x"}, 1},
		"only duplicates below":  {[]string{"put 1 1"}, 1},
		// The append, COMMIT, and one for each statement of a handler that waits for its answer.
		"with calls of handlers": {[]string{"call 9", "call 8", "call 9", "call 9", "call 9"}, 2 + 5},
		"with writes between":    {[]string{"call 9", "put 1 1", "call 1", "put 2 2"}, 2 + 2 + 1},
		"with queued statements": {[]string{"call -9", "put 1 1", "call -8", "call -9", "a: call -9"}, 1},
		"with a callback":        {[]string{"call -9", "call -109", "call -9"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var g rig.Gate
			db := rig.Database(t)
			both := rig.Service{Handle: rig.AddOrQueue, Edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }}
			w := rig.Own(t, both.Consumer(t, rig.Through(t, db, &g)))
			rig.Apply(t, w, rig.Records(0, "put 9 9", "w: put 8 8", "call 9", "call -9"))
			before := g.Trips.Load()
			rig.Apply(t, w, rig.Records(4, test.texts...))
			rig.Want(t, "round trips", g.Trips.Load()-before, test.trips)
		})
	}
}

// A database that is away at the start is waited for, and said clearly, without the
// password.
func TestDatabaseAwayAtStartIsWaitedFor(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	var g rig.Gate
	g.Shut.Store(true)
	log := &transcript.Buffer{}
	c := rig.Service{Options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))}}.Consumer(t, rig.Through(t, db, &g))
	time.AfterFunc(700*time.Millisecond, func() { g.Shut.Store(false) })
	if err := rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
	if !strings.Contains(log.String(), "the database has not been reached since the start") {
		t.Errorf("the log does not say so: %s", log)
	}
}

// An error of the start does not show what was mistyped into the address.
func TestStartNeverTellsAMistypedPassword(t *testing.T) {
	t.Parallel()
	cfg := rig.Database(t).Config()
	cfg.ConnConfig.Database += ":hunter2"
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, rig.Service{}.Consumer(t, db))
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "the database does not exist: SQLSTATE 3D000") {
		t.Error(err)
	}
}

// One refusal tells that the server of a connection takes no writes any more. No other
// connection to it is tried: the next ones are opened again, and find the primary.
func TestReadOnlyServerIsLeftByAllConnections(t *testing.T) {
	t.Parallel()
	const partitions = 3
	db := rig.Database(t)
	var inside sync.WaitGroup
	inside.Add(partitions)
	c := rig.Service{
		Edit: func(s *wire.Service) { s.Limits.BatchTimeout, s.Limits.EventTimeout = time.Minute, time.Minute },
		Handle: func(context.Context, idem.Tx, int32) error {
			inside.Done()
			inside.Wait() // so that there are as many connections
			return nil
		},
	}.Consumer(t, db)
	writers, done := make([]*rig.Writer, partitions), make(chan error, partitions)
	for p := range writers {
		writers[p] = rig.OwnPartition(t, c, int32(p))
	}
	for p, w := range writers {
		msgs := rig.Records(0, "call 1")
		msgs[0].Partition = int32(p)
		go func() {
			_, err := w.Apply(t.Context(), msgs)
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	// The server fails over: whoever is connected stays with the old primary.
	idemtest.Exec(t, db, `CREATE TABLE failover AS SELECT clock_timestamp() AS at;
CREATE FUNCTION old_primary() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF (SELECT backend_start < at FROM pg_stat_activity, failover WHERE pid = pg_backend_pid()) THEN RAISE read_only_sql_transaction; END IF;
RETURN NEW; END $$;
CREATE TRIGGER old_primary BEFORE INSERT ON idem_ledger FOR EACH ROW EXECUTE FUNCTION old_primary()`)
	if _, err := writers[0].Apply(t.Context(), rig.Records(1, "put 1 1")); err == nil {
		t.Fatal("the old primary took it")
	}
	rig.Apply(t, writers[0], rig.Records(1, "put 1 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// Neither a log line nor a dead letter's reason may hold a payload or a key.
func TestNothingOfARecordIsLogged(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `ALTER TABLE t ADD CONSTRAINT small CHECK (id < 100000)`)
	log := &transcript.Buffer{}
	c := rig.Service{Options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "key-777777: put 1 1", "key-777777: put 1 2", "put 777777 1", "key-777777: put 1 1", "777777 x"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 conflict, 2 database, 4 decode")
	if strings.Contains(log.String(), "777777") {
		t.Errorf("the log holds a value of a record:\n%s", log)
	}
	rig.Want(t, "reasons with a value", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE reason LIKE '%777777%'`), "0")
	for _, line := range []string{"dead letter", "conflict", "duplicate"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log has no line for %q:\n%s", line, log)
		}
	}
}
