package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Nothing is drained: after so many dead letters in a row the partition is halted before the
// next one, however they were made, and an operator's release lets as many more pass.
func TestDeadLettersInARowHalt(t *testing.T) {
	rig.Lengthy(t)
	for name, bad := range map[string]string{"decode": "nonsense x", "database": "put 2 5000", "handler": "call 1"} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			sink := rig.Drive(t, rig.Service{Policy: wire.FailurePolicy{StopAfter: 2}, Handle: func(context.Context, idem.Tx, int32) error {
				return idem.Permanent(errors.New("never"))
			}}.Consumer(t, db))
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, bad, bad, "put 1 1", bad)) // one between them: not in a row
			rig.Deliver(t, sink, rig.Records(4, "skip 0", "put 1 2"))
			halted := rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(6, bad, bad, bad, "put 3 3")))
			rig.Want(t, "code", halted.Code, halt.DeadLetters)
			rig.Want(t, "halted before", halted.Offset, 8)
			if !strings.Contains(halted.Error(), "2 records in a row became dead letters, the first at offset 6 (") {
				t.Errorf("it does not say where the row began: %v", halted)
			}
			rig.Want(t, "dead letters", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter`), "0 1 3 6 7")
			rig.AppendRow(t, db, "o", "next", "operator me: released")
			rig.AtOnce(t, sink)
			rig.Assign(t, sink, 8)
			rig.Deliver(t, sink, rig.Records(8, bad, "put 3 3"))
			rig.Want(t, "rows", rig.Table(t, db), "1=2 3=3")
		})
	}
}

// A new process counts on from the dead letters that the chain ends with, so that restarts do
// not drain a topic; an operator's release lets as many more pass, whoever is at work then.
func TestRestartDoesNotForgetTheDeadLettersInARow(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	bad := "nonsense x"
	restart := func() idem.Sink {
		return rig.Drive(t, rig.Service{Policy: wire.FailurePolicy{StopAfter: 2}}.Consumer(t, db))
	}
	halts := func(sink idem.Sink, offset, began int64) {
		t.Helper()
		halted := rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(offset, bad, "put 3 3")))
		rig.Want(t, "code", halted.Code, halt.DeadLetters)
		rig.Want(t, "halted before", halted.Offset, offset)
		if !strings.Contains(halted.Error(), fmt.Sprintf("the first at offset %d (", began)) {
			t.Errorf("it does not say where the row began: %v", halted)
		}
	}
	sink := restart()
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, bad, bad, "put 1 1", bad)) // one between them: not in a row
	sink = restart()
	rig.Assign(t, sink, 4)
	rig.Deliver(t, sink, rig.Records(4, bad))
	halts(sink, 5, 3)
	for range 2 { // the fence of the first of them is no operator's
		sink = restart()
		rig.Assign(t, sink, 5)
		halts(sink, 5, 3)
	}
	rig.AppendRow(t, db, "o", "next", "operator me: released")
	sink = restart()
	rig.Assign(t, sink, 5)
	rig.Deliver(t, sink, rig.Records(5, bad))
	sink = restart()
	rig.Assign(t, sink, 6)
	rig.Deliver(t, sink, rig.Records(6, bad))
	halts(sink, 7, 5)
	rig.AppendRow(t, db, "r", "5", "operator me: again")
	sink = restart() // the letters of the first time do not count
	rig.Assign(t, sink, 5)
	rig.Deliver(t, sink, rig.Records(5, bad, bad))
	sink = restart()
	rig.Assign(t, sink, 7)
	halts(sink, 7, 5)
	rig.Want(t, "dead letters", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs, seq) FROM idem_dead_letter`), "0 1 3 4 5 5 6 6")
}

func TestDeadLettersExpire(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Policy: wire.FailurePolicy{Keep: 48 * time.Hour}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "nonsense x", "put 1 5000", "put 1 1"))
	rig.Want(t, "hours kept", rig.Query(t, db, `SELECT string_agg(DISTINCT round(extract(epoch FROM expires_at - created_at) / 3600)::text, ' ') FROM idem_dead_letter`), "48")
}

// Bugs: what is no record's fault pauses or halts, and nothing becomes a
// dead letter.
func TestWhatIsNobodysFaultMakesNoDeadLetter(t *testing.T) {
	rig.Lengthy(t)
	raise := func(code string) string {
		return `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '` + code + `'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fail()`
	}
	for name, test := range map[string]struct {
		setup string
		code  halt.Code // "" pauses
	}{
		"disk full":       {setup: raise("53100")},
		"no partition":    {setup: `DROP TABLE t; CREATE TABLE t (id integer PRIMARY KEY, v integer) PARTITION BY RANGE (id)`},
		"table is gone":   {setup: raise("42P01"), code: halt.Database},
		"corruption":      {setup: raise("XX001"), code: halt.Database},
		"unknown":         {setup: raise("42ZZZ"), code: halt.Database},
		"pooler":          {setup: raise("26000"), code: halt.Pooler},
		"lost connection": {setup: raise("08006")},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			idemtest.Exec(t, db, test.setup)
			c := rig.Service{Policy: wire.FailurePolicy{}}.Consumer(t, db)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() { // a pause lasts
				for test.code == "" && c.Health().Err() == nil && ctx.Err() == nil {
					time.Sleep(5 * time.Millisecond)
				}
				if test.code == "" {
					cancel()
				}
			}()
			err := sink.Deliver(ctx, rig.First, rig.Records(0, "put 1 1", "put 2 2"))
			if test.code != "" {
				rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, test.code)
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want a pause", err)
			}
			if c.Health().Err() == nil {
				t.Error("Health says nothing")
			}
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "0")
		})
	}
}

// An outage costs time, not memory.
func TestTriesOfAnOutageAreNotKept(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Trigger(t, db, `RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'`)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	for range 10 {
		if _, err := w.Apply(t.Context(), rig.Records(0, "k: put 1 1")); err == nil {
			t.Fatal("no error")
		}
	}
	rig.Want(t, "attempts kept", w.Attempts(), 0)
	idemtest.Exec(t, db, `DROP TRIGGER judge ON t`)
	rig.Apply(t, w, rig.Records(0, "k: put 1 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// A statement that takes too long may do so because of the whole batch: half of it is tried.
// A record that takes too long alone is tried as often as on_failure says.
func TestTimeOutOfAStatement(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(CASE WHEN NEW.id = 9 THEN 60 ELSE 0.15 END); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()`)
	c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.StatementTimeout = 400 * time.Millisecond }}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1", "put 2 2", "put 3 3", "put 4 4"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4")
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Deliver(t, sink, rig.Records(4, "put 9 9", "put 5 5"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4 5=5")
	rig.Want(t, "dead letters", rig.Letters(t, db), "4 database")
}

// A schema change under prepared statements is cured by preparing them again.
func TestStatementsArePreparedAgainAfterASchemaChange(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	idemtest.Exec(t, db, `ALTER TABLE idem_ledger ALTER COLUMN written_at TYPE timestamp USING written_at`)
	rig.Deliver(t, sink, rig.Records(1, "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// People hear of a handler that runs although its time is over while it still does.
func TestHandlerThatGoesOnIsReportedWhileItDoes(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	release := make(chan struct{})
	c := rig.Service{
		Edit: func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		Handle: func(context.Context, idem.Tx, int32) error {
			<-release
			return nil
		},
	}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	done := make(chan error, 1)
	go func() { done <- sink.Deliver(context.Background(), rig.First, rig.Records(0, "call 1")) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if err := c.Health().Err(); err != nil && strings.Contains(err.Error(), "handler Test is still running") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("Health says nothing")
		}
	}
	rig.WantError[*idem.HaltedError](t, <-done)
	for _, text := range []string{"test.v1/0: HALTED before offset 0: handler Test did not return when its context ended", "; handler Test is still running", "[handler; then: idemgen stream release --consumer test --topic test.v1 --partition 0 --reason handler]"} {
		if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("while it hangs, Health says %v, not %q", err, text)
		}
	}
	close(release)
	for deadline := time.Now().Add(time.Minute); strings.Contains(c.Health().Err().Error(), "still running"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after it ended: %v", c.Health().Err())
		}
	}
}

// A batch that fails again and again for no record's fault is sent in halves: perhaps it is
// its size that does not fit.
func TestBatchThatKeepsFailingIsHalved(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE FUNCTION too_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF (SELECT count(*) FROM added) > 2 THEN RAISE serialization_failure; END IF;
RETURN NULL; END $$;
CREATE TRIGGER too_many AFTER INSERT ON t REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION too_many()`)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := sink.Deliver(ctx, rig.First, rig.Records(0, "add 1 1", "add 2 2", "add 3 3", "add 4 4")); err != nil {
		t.Error(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4")
}
