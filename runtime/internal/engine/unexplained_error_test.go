package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An error that is no record's fault may still be about one record. What stands before
// it is applied, the partition is halted before it, and says how to pass it.
func TestErrorOfOneRowHaltsBeforeItsRecord(t *testing.T) {
	rig.Lengthy(t)
	for name, test := range map[string]struct {
		setup func(t *testing.T, db *pgxpool.Pool) *pgxpool.Pool
		bad   string
	}{
		"row-level security": {rowSecurity, "put 9 13"},
		"a trigger": {func(t *testing.T, db *pgxpool.Pool) *pgxpool.Pool {
			rig.Trigger(t, db, `IF NEW.id = 9 THEN RAISE EXCEPTION 'x' USING ERRCODE = '42501'; END IF`)
			return db
		}, "put 9 13"},
		"a statement of a handler": {func(_ *testing.T, db *pgxpool.Pool) *pgxpool.Pool { return db }, "call 9"},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			c := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Window = 0 }, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
				_, err := tx.Exec(ctx, `SELECT 1 FROM no_such_table`)
				return err
			}}.Consumer(t, test.setup(t, db))
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			batch := rig.Records(0, "put 1 1", "put 2 2", "put 3 3", "put 4 4", test.bad, "put 5 5", "put 6 6")
			halted := rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, batch))
			rig.Want(t, "code", halted.Code, halt.Database)
			rig.Want(t, "halted before", halted.Offset, 4)
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4")
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			if text := halted.Error(); !strings.Contains(text, "idemgen stream set --consumer test --topic test.v1 --partition 0 --to 5 --reason database") {
				t.Errorf("it does not say how to pass the record: %s", text)
			}
			rig.AppendRow(t, db, "s", "5", "operator me: passed")
			rig.AtOnce(t, sink)
			rig.Assign(t, sink, 5)
			rig.Deliver(t, sink, batch[5:])
			rig.Want(t, "rows behind it", rig.Table(t, db), "1=1 2=2 3=3 4=4 5=5 6=6")
		})
	}
}

// rowSecurity has table t refuse rows with v = 13, and returns a pool of a role for which
// that counts.
func rowSecurity(t *testing.T, db *pgxpool.Pool) *pgxpool.Pool {
	role := fmt.Sprintf("secured_%d", time.Now().UnixNano())
	idemtest.Exec(t, db, `CREATE ROLE `+role+`;
GRANT ALL ON ALL TABLES IN SCHEMA public TO `+role+`;
GRANT USAGE ON SEQUENCE idem_fence TO `+role+`;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY lucky ON t USING (true) WITH CHECK (v <> 13)`)
	t.Cleanup(func() {
		_, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
	})
	cfg := db.Config()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SET ROLE `+role)
		return err
	}
	secured, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(secured.Close)
	return secured
}

// A reason names the role that runs the statements, not the one that logged in.
func TestRoleOfTheStatementsIsNamed(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	secured := rowSecurity(t, db)
	role := rig.Query(t, secured, `SELECT current_user::text`)
	_, err := rig.Service{}.Consumer(t, secured).Own(t.Context(), rig.Topic, 0, 0)
	rig.WantText(t, err, "role "+role+` lacks a right on function idem_keys_open: GRANT EXECUTE ON FUNCTION "idem_keys_open" TO`)
	idemtest.Exec(t, db, `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO `+role)
	w := rig.Own(t, rig.Service{}.Consumer(t, secured))
	idemtest.Exec(t, db, `REVOKE INSERT ON t FROM `+role)
	_, err = w.Apply(t.Context(), rig.Records(0, "put 1 1"))
	rig.WantText(t, err, "role "+role+" lacks a right on table t: GRANT")
}

// A fault of all records is found to be one of the first: nothing is applied, and the search
// takes a few tries.
func TestErrorOfAllRowsHaltsBeforeTheFirst(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	idemtest.Exec(t, db, `ALTER TABLE t DROP COLUMN v`)
	var texts []string
	for i := range 64 {
		texts = append(texts, fmt.Sprintf("put %d 1", i))
	}
	_, err := w.Apply(t.Context(), rig.Records(0, texts...))
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.Database)
	rig.Want(t, "halted before", halted.Offset, 0)
	rig.Want(t, "searches", c.Stats().Searches, 1)
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "0")
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// What is about a statement of the protocol is about no record: nothing is searched.
func TestErrorOfTheProtocolsStatementsIsNotSearched(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	idemtest.Exec(t, db, `CREATE FUNCTION deny() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$;
CREATE TRIGGER deny BEFORE INSERT ON idem_ledger FOR EACH ROW EXECUTE FUNCTION deny()`)
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "put 2 2"))
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.Database)
	rig.Want(t, "searches", c.Stats().Searches, 0)
	rig.Want(t, "ways, of which none passes a record", len(halted.Ways), 1)
}

// A SQLSTATE of a class that no server uses was chosen by a trigger or a function of the
// user's: the record is refused.
func TestErrorUnderAClassOfTheUsersIsTheRecordsFault(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"U0001", "ZZ999", "T1000"} {
		t.Run(code, func(t *testing.T) {
			db := rig.Database(t)
			rig.Trigger(t, db, `IF NEW.id = 9 THEN RAISE EXCEPTION 'x' USING ERRCODE = '`+code+`'; END IF`)
			w := rig.Own(t, rig.Service{}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 1 1", "put 9 9", "put 2 2"))
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 database")
			w = rig.Own(t, rig.Service{Policy: wire.FailurePolicy{Stop: true}}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(3, "put 3 3", "put 9 9", "put 4 4"))
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, halt.RecordRefused)
			rig.Want(t, "halted before", halted.Offset, 4)
			rig.Want(t, "rows before it", rig.Table(t, db), "1=1 2=2 3=3")
		})
	}
}

// A partition that halts for one event's handler has applied what stands before the event.
func TestWhatStandsBeforeAHandlersHaltIsApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		code halt.Code
	}{
		"not implemented": {idem.ErrNotImplemented, halt.Handler},
		"stop":            {idem.Permanent(errors.New("never")), halt.RecordRefused},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: func(context.Context, idem.Tx, int32) error { return test.err }, Policy: wire.FailurePolicy{Stop: true}}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 2", "put 3 3"))
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, test.code)
			rig.Want(t, "halted before", halted.Offset, 1)
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}

// A call that went well ends the count of those that failed before it, although its
// transaction was rolled back: a handler that fails every other time does not run out of
// retries.
func TestCallThatWentWellEndsTheCountOfFailures(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE SEQUENCE tries; -- it counts on when a transaction is rolled back
CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') <= 2 THEN RAISE serialization_failure; END IF; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION judge()`)
	calls, attempts := 0, ""
	c := rig.Service{Policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond},
		Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			d, _ := idem.DeliveryFrom(ctx)
			attempts += fmt.Sprint(d.Attempt)
			if calls++; calls%2 == 1 {
				return errors.New("every other time")
			}
			_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
			return err
		}}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "call 1"))
	rig.Want(t, "attempts", attempts, "121212")
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}
