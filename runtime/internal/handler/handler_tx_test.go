package handler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

type handle = func(ctx context.Context, tx idem.Tx, row int32) error

// What a handler does with tx after it has returned must have no effect: its transaction is
// over, or goes on with other records.
func TestTxIsOfNoUseAfterTheHandler(t *testing.T) {
	t.Parallel()
	for name, unwrap := range map[string]func(idem.Tx) idem.Tx{
		"Tx":    func(tx idem.Tx) idem.Tx { return tx },
		"PgxTx": func(tx idem.Tx) idem.Tx { return idem.PgxTx(tx).(idem.Tx) },
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			var kept idem.Tx
			w := rig.Own(t, rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
				kept = unwrap(tx)
				return idem.Permanent(errors.New("refused"))
			}}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "call 1"))
			rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
			_, err := kept.Exec(t.Context(), `INSERT INTO t VALUES (1, 1)`)
			rig.Want(t, "rows of a record that is a dead letter", rig.Table(t, db), "")
			if err == nil {
				t.Error("the statement succeeded, outside of any transaction of the runtime")
			}
		})
	}
}

// Nobody knows what else the goroutine would have done with the transaction, however the handler
// ended before it.
func TestStatementThatIsLeftRunningIsTheHandlersFault(t *testing.T) {
	rig.Lengthy(t)
	for name, end := range map[string]func(){
		"return": func() {}, "panic": func() { panic("left") }, "Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var calls atomic.Int32
			w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
				calls.Add(1)
				go func() { _, _ = tx.Exec(ctx, `SELECT pg_sleep(2)`) }()
				rig.Eventually(t, db, "1", `SELECT count(*)::text FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(2)' AND state = 'active' AND datname = current_database()`)
				end()
				return nil
			}}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "call 1"))
			rig.Want(t, "calls", calls.Load(), 1)
			rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter`), "handler: Test: the handler returned while a statement of its transaction was running")
		})
	}
}

// A deadlock, a wait for a lock that was given up, a full disk: no fault of the event, whichever
// way the handler ran the statement, and whether or not it wraps the error.
func TestTransientErrorInHandlerIsNoDeadLetter(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]handle{
		"Exec": func(ctx context.Context, tx idem.Tx, _ int32) error {
			_, err := tx.Exec(ctx, `SELECT fails()`)
			return fmt.Errorf("lock account: %v", err)
		},
		"Query": func(ctx context.Context, tx idem.Tx, _ int32) error {
			rows, err := tx.Query(ctx, `SELECT fails()`)
			if err != nil {
				return err
			}
			if _, err = pgx.CollectRows(rows, pgx.RowTo[int32]); err != nil {
				return fmt.Errorf("lock account: %v", err)
			}
			return nil
		},
		"Queue": func(_ context.Context, tx idem.Tx, _ int32) error {
			tx.Queue(`SELECT fails()`)
			return nil
		},
		"Queue, with a callback": func(_ context.Context, tx idem.Tx, _ int32) error {
			tx.Queue(`SELECT fails()`).QueryRow(func(row pgx.Row) error {
				if err := row.Scan(new(int32)); err != nil {
					return fmt.Errorf("lock account: %v", err)
				}
				return nil
			})
			return nil
		},
		"SendBatch": func(ctx context.Context, tx idem.Tx, _ int32) error {
			b := &pgx.Batch{}
			b.Queue(`SELECT fails()`)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return fmt.Errorf("lock account: %v", err)
			}
			return nil
		},
		"PgxTx": func(ctx context.Context, tx idem.Tx, _ int32) error {
			if _, err := idem.PgxTx(tx).Exec(ctx, `SELECT fails()`); err != nil {
				return fmt.Errorf("lock account: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			failsOnce(t, db)
			calls := 0
			c := rig.Service{Policy: wire.FailurePolicy{}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if calls++; calls > 1 {
					return nil
				}
				return run(ctx, tx, row)
			}}.Consumer(t, db)
			if err := rig.NewSource(rig.Records(0, "call 1")).Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}

// failsOnce creates a function that fails at its first call, because of another session's lock.
func failsOnce(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Exec(t, db, `CREATE SEQUENCE n; CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('n') = 1 THEN LOCK TABLE busy NOWAIT; END IF; RETURN 1; END $$`)
	lockBusy(t, db)
}

// lockBusy creates a table that another session has locked until the test ends.
func lockBusy(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Exec(t, db, `CREATE TABLE busy ()`)
	other, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Rollback(context.Background()) })
	if _, err := other.Exec(t.Context(), `LOCK TABLE busy`); err != nil {
		t.Fatal(err)
	}
}

// An error that a savepoint took back is not the one that failed the transaction later.
func TestEarlierErrorOfASavepointIsNotBlamed(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	failsOnce(t, db)
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if _, err := tx.Exec(ctx, `SAVEPOINT s`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT 1/0`); err != nil { // a try that may fail
			if _, err := tx.Exec(ctx, `ROLLBACK TO s`); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `SELECT fails()`); err != nil {
			return errors.New("later")
		}
		return nil
	}}.Consumer(t, db)
	if err := rig.NewSource(rig.Records(0, "call 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// A handler that returns while a goroutine of it still runs a statement is refused: nobody
// knows how much of it would take effect.
func TestStatementLeftRunningIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		begun := make(chan struct{})
		go func() {
			_, _ = tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromFunc(func() ([]any, error) {
				close(begun)
				<-ctx.Done() // the handler has returned
				return nil, nil
			}))
		}()
		<-begun
		return nil
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1"))
	rig.Want(t, "rows", rig.Table(t, db), "")
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
}

// A handler that reads only, and says so, must not hold up its partition for ever, nor end
// the connections of all others.
func TestReadOnlyHandlerIsADeadLetter(t *testing.T) {
	t.Parallel()
	for name, insert := range map[string]bool{"and only reads": false, "and writes": true} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				_, err := tx.Exec(ctx, `SET TRANSACTION READ ONLY`)
				if insert {
					err = rig.AddOne(ctx, tx, row)
				}
				return err
			}}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1", "put 2 2"))
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
		})
	}
}

// What a handler keeps of its transaction's large objects ends with it.
func TestLargeObjectsEndWithTheHandler(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var kept pgx.LargeObjects
	var object *pgx.LargeObject
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		kept = idem.PgxTx(tx).LargeObjects()
		oid, err := kept.Create(ctx, 0)
		if err != nil {
			return err
		}
		if object, err = kept.Open(t.Context(), oid, pgx.LargeObjectModeWrite|pgx.LargeObjectModeRead); err != nil {
			return err
		}
		_, err = object.Write([]byte("a"))
		return err
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1"))
	_, created := kept.Create(t.Context(), 0)
	_, wrote := object.Write([]byte("b"))
	for _, err := range []error{created, wrote} {
		if !errors.Is(err, pgx.ErrTxClosed) {
			t.Errorf("got %v, want pgx.ErrTxClosed", err)
		}
	}
	rig.Want(t, "objects", rig.Query(t, db, `SELECT string_agg(convert_from(data, 'UTF8'), ' ') FROM pg_largeobject`), "a")
}
