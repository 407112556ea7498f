package idem_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

type handle = func(ctx context.Context, tx idem.Tx, row int32) error

// What a handler does with tx after it has returned must have no effect: its transaction is
// over, or goes on with other records.
func TestTxIsOfNoUseAfterTheHandler(t *testing.T) {
	t.Parallel()
	for name, unwrap := range map[string]func(idem.Tx) idem.Tx{
		"Tx":    func(tx idem.Tx) idem.Tx { return tx },
		"PgxTx": func(tx idem.Tx) idem.Tx { return idem.PgxTx(tx) },
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			var kept idem.Tx
			w := own(t, service{handle: func(_ context.Context, tx idem.Tx, _ int32) error {
				kept = unwrap(tx)
				return idem.Permanent(errors.New("refused"))
			}}.consumer(t, db))
			apply(t, w, records(0, "call 1"))
			want(t, "dead letters", letters(t, db), "0 handler")
			_, err := kept.Exec(t.Context(), `INSERT INTO t VALUES (1, 1)`)
			want(t, "rows of a record that is a dead letter", table(t, db), "")
			if err == nil {
				t.Error("the statement succeeded, outside of any transaction of the runtime")
			}
		})
	}
}

// Nobody knows what else the goroutine would have done with the transaction, however the handler
// ended before it.
func TestStatementThatIsLeftRunningIsTheHandlersFault(t *testing.T) {
	lengthy(t)
	for name, end := range map[string]func(){
		"return": func() {}, "panic": func() { panic("left") }, "Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			var calls atomic.Int32
			w := own(t, service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
				calls.Add(1)
				go func() { _, _ = tx.Exec(ctx, `SELECT pg_sleep(2)`) }()
				eventually(t, db, "1", `SELECT count(*)::text FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(2)' AND state = 'active' AND datname = current_database()`)
				end()
				return nil
			}}.consumer(t, db))
			apply(t, w, records(0, "call 1"))
			want(t, "calls", calls.Load(), 1)
			want(t, "reason", query(t, db, `SELECT reason FROM idem_dead_letter`), "handler: Test: the handler returned while a statement of its transaction was running")
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
			db := database(t)
			idemtest.Exec(t, db, `CREATE SEQUENCE n; CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('n') = 1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF; RETURN 1; END $$`)
			calls := 0
			c := service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if calls++; calls > 1 {
					return nil
				}
				return run(ctx, tx, row)
			}}.consumer(t, db)
			if err := newSource(records(0, "call 1")).run(t, c); err != nil {
				t.Fatal(err)
			}
			want(t, "dead letters", letters(t, db), "")
		})
	}
}

// An error that a savepoint took back is not the one that failed the transaction later.
func TestEarlierErrorOfASavepointIsNotBlamed(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE SEQUENCE n; CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('n') = 1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF; RETURN 1; END $$`)
	c := service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.consumer(t, db)
	if err := newSource(records(0, "call 1")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "")
}

// A handler that returns while a goroutine of it still runs a statement is refused: nobody
// knows how much of it would take effect.
func TestStatementLeftRunningIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		begun := make(chan struct{})
		go func() {
			_, _ = tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromFunc(func() ([]any, error) {
				close(begun)
				for idem.PgxTx(tx).Conn() != nil { // until the handler has returned
					runtime.Gosched()
				}
				return nil, nil
			}))
		}()
		<-begun
		return nil
	}}.consumer(t, db))
	apply(t, w, records(0, "call 1"))
	want(t, "rows", table(t, db), "")
	want(t, "dead letters", letters(t, db), "0 handler")
}

// enders are handlers that end the transaction of their batch, which is not theirs.
var enders = map[string]func(ctx context.Context, tx idem.Tx) error{
	"COMMIT":                     ending(`COMMIT`),
	"END":                        ending(`END`),
	"COMMIT AND CHAIN":           ending(`COMMIT AND CHAIN`),
	"COMMIT and BEGIN":           ending(`COMMIT`, `BEGIN`),
	"COMMIT and BEGIN, one text": ending(`COMMIT; BEGIN`),
	"COMMIT twice":               ending(`COMMIT; BEGIN; SELECT 1`, `BEGIN`, `COMMIT`, `BEGIN`),
	"PREPARE TRANSACTION":        ending(`PREPARE TRANSACTION 'handler'`),
	"ROLLBACK AND CHAIN":         ending(`ROLLBACK AND CHAIN`),
	"ROLLBACK and BEGIN":         ending(`ROLLBACK`, `BEGIN`),
	"RESET ALL and COMMIT":       ending(`RESET ALL`, `COMMIT`, `BEGIN`),
	"after SET CONSTRAINTS":      ending(`SET CONSTRAINTS ALL IMMEDIATE`, `COMMIT`, `BEGIN`),
	"with the runtime's setting": ending(`SET LOCAL idem.commit = 'yes'`, `COMMIT`),
	"ROLLBACK and INSERT":        ending(`ROLLBACK; INSERT INTO t VALUES (50, 1)`),
	"a transaction of its own":   ending(`ROLLBACK; BEGIN; INSERT INTO t VALUES (50, 1); COMMIT; BEGIN`),
	"chained transactions":       ending(`ROLLBACK AND CHAIN`, `INSERT INTO t VALUES (50, 1)`, `COMMIT AND CHAIN`),
	"read-only":                  ending(`ROLLBACK; START TRANSACTION READ ONLY`),
	"in a DO block":              ending(`DO $$ BEGIN COMMIT; END $$`),
	"in a procedure":             ending(`DO $$ BEGIN CREATE PROCEDURE p() LANGUAGE plpgsql AS 'BEGIN ROLLBACK; END'; END $$`, `CALL p()`),
	"in a procedure, and goes on": func(ctx context.Context, tx idem.Tx) error {
		return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `DO $$ BEGIN COMMIT; END $$`)
			return err
		})
	},
	"by Conn, and goes on": func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Conn().Exec(ctx, `ROLLBACK`)
		return errors.Join(err, ending(`INSERT INTO t VALUES (50, 1)`)(ctx, tx))
	},
	"by Conn, chained": func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Conn().PgConn().Exec(ctx, `ROLLBACK AND CHAIN`).ReadAll()
		return errors.Join(err, errors.New("afterwards"))
	},
	"by Conn, read-only": func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Conn().PgConn().Exec(ctx, `ROLLBACK; START TRANSACTION READ ONLY`).ReadAll()
		return err
	},
	"by Conn": func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Conn().PgConn().Exec(ctx, `UPDATE t SET v = 0; COMMIT; BEGIN`).ReadAll()
		return err
	},
	"by SendBatch": func(ctx context.Context, tx idem.Tx) error {
		var b pgx.Batch
		b.Queue(`COMMIT`)
		b.Queue(`BEGIN`)
		return tx.SendBatch(ctx, &b).Close()
	},
}

// ending sends statements one after the other, also after one that fails.
func ending(statements ...string) func(ctx context.Context, tx idem.Tx) error {
	return func(ctx context.Context, tx idem.Tx) error {
		var errs []error
		for _, sql := range statements {
			_, err := tx.Exec(ctx, sql)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// However a handler ends the transaction, and whatever it returns, nothing of the batch commits,
// the partition halts, and the code that is deployed next applies each event once.
// Planted bug: the trigger that refuses a handler's COMMIT.
func TestHandlerThatEndsTheTransactionCommitsNothing(t *testing.T) {
	t.Parallel()
	returns := map[string]func(ctx context.Context, tx idem.Tx, err error) error{
		"nil":           func(context.Context, idem.Tx, error) error { return nil },
		"its error":     func(_ context.Context, _ idem.Tx, err error) error { return err },
		"another error": func(context.Context, idem.Tx, error) error { return errors.New("afterwards") },
		"for good":      func(context.Context, idem.Tx, error) error { return idem.Permanent(errors.New("afterwards")) },
		"after another statement fails": func(ctx context.Context, tx idem.Tx, _ error) error {
			_, err := tx.Exec(ctx, `SELECT 1 / 0`)
			return err
		},
		"when its time is over": func(ctx context.Context, _ idem.Tx, _ error) error { <-ctx.Done(); return ctx.Err() },
	}
	texts := []string{"a: put 1 1", "b: call 1", "c: put 2 2", "call 2", "put 3 3"}
	for name, end := range enders {
		for returned, result := range returns {
			if returned != "nil" && returned != "its error" && name != "COMMIT" && name != "COMMIT and BEGIN" {
				continue
			}
			if returned == "nil" && name == "in a procedure, and goes on" { // nothing is lost
				continue
			}
			t.Run(name+"/"+returned, func(t *testing.T) {
				t.Parallel()
				db := database(t)
				mended := false
				s := service{policy: impatient, edit: func(s *wire.Service) { s.Limits.EventTimeout = time.Second }, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
					if _, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, row+10); err != nil || mended || row != 1 {
						return err
					}
					return result(ctx, tx, end(ctx, tx))
				}}
				w := own(t, s.consumer(t, db))
				var err error
				for range 6 {
					_, err = w.Apply(t.Context(), records(0, texts...))
					if _, halted := errors.AsType[*idem.HaltedError](err); err == nil || halted {
						break
					}
				}
				committed := query(t, db, `SELECT count(*)::text FROM t`) + " rows, " + query(t, db, `SELECT max(next)::text FROM idem_ledger`) + " is the position"
				h := wantError[*idem.HaltedError](t, err)
				if !strings.HasPrefix(h.Reason, "handler Test ended the transaction") || h.Pass != "" {
					t.Errorf("got %v", h)
				}
				want(t, "what committed", committed, "0 rows, 0 is the position")
				want(t, "dead letters", letters(t, db), "")

				mended = true
				w = own(t, s.consumer(t, db))
				apply(t, w, records(0, texts...))
				want(t, "rows", table(t, db), "1=1 2=2 3=3 11=1 12=1")
			})
		}
	}
}

// The end of a transaction is found however its text is sent.
func TestEndOfATransactionIsFoundHoweverItIsSent(t *testing.T) {
	t.Parallel()
	for name, send := range ways {
		if name == "under a name" || name == "by Query" || name == "by QueryRow" { // of which two take one statement
			continue
		}
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if row == 1 {
					if err := send(ctx, tx, `COMMIT AND CHAIN`); err != nil && name != "in a savepoint" { // which is gone then
						return err
					}
				}
				return addOne(ctx, tx, 2)
			}}.consumer(t, db))
			apply(t, w, records(0, "put 2 2"))
			_, err := w.Apply(t.Context(), records(1, "call 1", "call 3", "call 4"))
			if err == nil {
				_, err = w.Apply(t.Context(), records(1, "call 1", "call 3", "call 4"))
			}
			wantError[*idem.HaltedError](t, err)
			want(t, "calls that took effect", query(t, db, `SELECT v::text FROM t WHERE id = 2`), "2")
		})
	}
}

// A handler that reads only, and says so, must not hold up its partition for ever, nor end
// the connections of all others.
func TestReadOnlyHandlerIsADeadLetter(t *testing.T) {
	t.Parallel()
	for name, insert := range map[string]bool{"and only reads": false, "and writes": true} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				_, err := tx.Exec(ctx, `SET TRANSACTION READ ONLY`)
				if insert {
					err = addOne(ctx, tx, row)
				}
				return err
			}}.consumer(t, db))
			apply(t, w, records(0, "put 1 1", "call 1", "put 2 2"))
			want(t, "rows", table(t, db), "1=1 2=2")
			want(t, "dead letters", letters(t, db), "1 handler")
		})
	}
}

// nesters are what a call does that leaves a savepoint for the calls after it, under a name.
var nesters = map[string]struct {
	name string
	set  func(ctx context.Context, tx idem.Tx) error
}{
	"a savepoint of pgx": {"sp_1", func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Begin(ctx)
		return err
	}},
	"a savepoint of pgx that was rolled back to": {"sp_1", func(ctx context.Context, tx idem.Tx) error {
		sp, err := idem.PgxTx(tx).Begin(ctx)
		if err != nil {
			return err
		}
		return sp.Rollback(ctx)
	}},
}

// A call cannot take back what the records between an earlier call and itself did, however the
// savepoint was set, and however it is used. A savepoint that a call sets itself is its own.
func TestSavepointOfAnotherCallLosesNoRecord(t *testing.T) {
	t.Parallel()
	sets := maps.Clone(nesters)
	for way, send := range ways {
		if way != "in a savepoint" && way != "under a name" { // which end it; are no such statements
			sets[way] = struct {
				name string
				set  func(ctx context.Context, tx idem.Tx) error
			}{"s", func(ctx context.Context, tx idem.Tx) error { return send(ctx, tx, `SAVEPOINT s`) }}
		}
	}
	for by, s := range sets {
		for _, use := range []string{`ROLLBACK TO `, `RELEASE `} {
			t.Run(by+"/"+use, func(t *testing.T) {
				t.Parallel()
				db := database(t)
				w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
					switch row {
					case 1:
						return s.set(ctx, tx)
					case 2:
						_, err := tx.Exec(ctx, use+s.name)
						return err
					case 3:
						return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(tx pgx.Tx) error { return addOne(ctx, tx, 30) })
					}
					return addOne(ctx, tx, row)
				}}.consumer(t, db))
				_, err := w.Apply(t.Context(), records(0, "put 1 1", "call 1", "put 2 2", "call 3", "call 4", "call 2", "put 3 3"))
				h := wantError[*idem.HaltedError](t, err)
				if !strings.HasPrefix(h.Reason, "handler Test rolled back to a savepoint that an earlier call had left") || h.Offset != 5 {
					t.Errorf("got %v", h)
				}
				want(t, "rows", table(t, db), "")
			})
		}
	}
}

func TestSavepointsOfACallAreItsOwn(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		for _, sql := range []string{`SAVEPOINT s`, `INSERT INTO t VALUES (9, 9)`, `ROLLBACK TO s`} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return addOne(ctx, tx, row)
	}}.consumer(t, db))
	apply(t, w, records(0, "put 2 0", "call 2", "put 3 3", "call 2", "call 2", "put 4 4"))
	want(t, "rows", table(t, db), "2=3 3=3 4=4")
	want(t, "position", w.Next(), 6)
}

// What a handler keeps of its transaction's large objects ends with it.
func TestLargeObjectsEndWithTheHandler(t *testing.T) {
	t.Parallel()
	db := database(t)
	var kept pgx.LargeObjects
	var object *pgx.LargeObject
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.consumer(t, db))
	apply(t, w, records(0, "call 1"))
	_, created := kept.Create(t.Context(), 0)
	_, wrote := object.Write([]byte("b"))
	for _, err := range []error{created, wrote} {
		if !errors.Is(err, pgx.ErrTxClosed) {
			t.Errorf("got %v, want pgx.ErrTxClosed", err)
		}
	}
	want(t, "objects", query(t, db, `SELECT string_agg(convert_from(data, 'UTF8'), ' ') FROM pg_largeobject`), "a")
}

// A handler that removes the prepared statements of its connection is named, and no pooler.
func TestHandlerThatDeallocatesIsNamed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, tx idem.Tx) error{
		"by SQL": ending(`DEALLOCATE ALL`),
		"by Conn": func(ctx context.Context, tx idem.Tx) error {
			return idem.PgxTx(tx).Conn().DeallocateAll(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			bad := true
			s := service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if bad {
					return end(ctx, tx)
				}
				return addOne(ctx, tx, row)
			}}
			c := s.consumer(t, db)
			_, err := own(t, c).Apply(t.Context(), records(0, "put 2 1", "call 2", "put 3 3"))
			h := wantError[*idem.HaltedError](t, err)
			if h.Code != halt.Handler || !strings.HasPrefix(h.Reason, "handler Test removed the prepared statements") {
				t.Errorf("got %v", h)
			}
			bad = false
			apply(t, own(t, c), records(0, "put 2 1", "call 2", "put 3 3"))
			want(t, "rows", table(t, db), "2=2 3=3")
		})
	}
}

// A halt in a replay names the letter, and the position before which the partition is halted.
func TestHaltOfAReplaySaysWhere(t *testing.T) {
	t.Parallel()
	db := database(t)
	ends := false
	w := own(t, service{edit: keysAndBriefLocks, handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		if ends {
			return ending(`COMMIT`)(ctx, tx)
		}
		return idem.Permanent(errors.New("refused"))
	}}.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "call 1", "put 2 2"))
	ends = true
	ask(t, db, "replay", 1)
	_, err := w.Apply(t.Context(), nil)
	h := wantError[*idem.HaltedError](t, err)
	if h.Offset != 3 || !strings.HasPrefix(h.Reason, "replay of the dead letter at offset 1: handler Test ended") {
		t.Errorf("got %v", h)
	}
}
