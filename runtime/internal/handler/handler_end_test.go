package handler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

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
	"by Queue": func(_ context.Context, tx idem.Tx) error {
		tx.Queue(`COMMIT`)
		tx.Queue(`BEGIN`)
		return nil
	},
	"by Queue, in a procedure": func(_ context.Context, tx idem.Tx) error {
		tx.Queue(`DO $$ BEGIN COMMIT; END $$`)
		return nil
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
				db := rig.Database(t)
				mended := false
				s := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.EventTimeout = time.Second }, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
					if _, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, row+10); err != nil || mended || row != 1 {
						return err
					}
					return result(ctx, tx, end(ctx, tx))
				}}
				w := rig.Own(t, s.Consumer(t, db))
				var err error
				for range 6 {
					_, err = w.Apply(t.Context(), rig.Records(0, texts...))
					if _, halted := errors.AsType[*idem.HaltedError](err); err == nil || halted {
						break
					}
				}
				committed := rig.Query(t, db, `SELECT count(*)::text FROM t`) + " rows, " + rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`) + " is the position"
				h := rig.WantError[*idem.HaltedError](t, err)
				if !strings.HasPrefix(h.Reason, "handler Test ended the transaction") || len(h.Ways) != 1 {
					t.Errorf("got %v", h)
				}
				rig.Want(t, "what committed", committed, "0 rows, 0 is the position")
				rig.Want(t, "dead letters", rig.Letters(t, db), "")

				mended = true
				w = rig.Own(t, s.Consumer(t, db))
				rig.Apply(t, w, rig.Records(0, texts...))
				rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 11=1 12=1")
			})
		}
	}
}

// several are texts of several statements, which a reader of texts can take for one.
var several = map[string]string{
	"a number":                 `SELECT 1e3; ROLLBACK; INSERT INTO t VALUES (50, 1)`,
	"an operator":              `SELECT a@>a FROM (SELECT '{}'::jsonb AS a) x; ROLLBACK; INSERT INTO t VALUES (50, 1)`,
	"a name":                   `SELECT 1 AS a$b; ROLLBACK; INSERT INTO t VALUES (50, 1)`,
	"a keyword":                `SELECT 1 AS atomic; ROLLBACK; INSERT INTO t VALUES (50, 1)`,
	"a function":               `CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE SQL AS 'SELECT 1'; ROLLBACK; INSERT INTO t VALUES (50, 1)`,
	"a string":                 "SELECT E'a'\n'\\''; ROLLBACK; INSERT INTO t VALUES (50, 1)",
	"a transaction of its own": `SELECT 1e3; ROLLBACK; BEGIN; INSERT INTO t VALUES (50, 1); COMMIT; BEGIN; SELECT 1 / 0`,
	"a COMMIT":                 `SELECT set_config('idem.'||'commit', 'yes', true); COMMIT; BEGIN`,
}

// asText sends a text as it is.
type asText struct{ text string }

func (a asText) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	return a.text, nil, nil
}

// A text holds one statement, however it is sent: so nothing ends the transaction behind another.
func TestTextOfSeveralStatementsIsNotSent(t *testing.T) {
	t.Parallel()
	sends := map[string]func(ctx context.Context, tx idem.Tx, sql string) error{
		"Exec":  func(ctx context.Context, tx idem.Tx, sql string) error { return ending(sql)(ctx, tx) },
		"batch": ways["by SendBatch"],
		"by the simple protocol": func(ctx context.Context, tx idem.Tx, sql string) error {
			_, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return err
		},
		"rows by the simple protocol": func(ctx context.Context, tx idem.Tx, sql string) error {
			rows, err := tx.Query(ctx, sql, pgx.QueryResultFormats{0}, pgx.QueryExecModeSimpleProtocol)
			if err == nil {
				rows.Close()
				err = rows.Err()
			}
			return err
		},
		"by a rewriter": func(ctx context.Context, tx idem.Tx, sql string) error {
			_, err := tx.Exec(ctx, `SELECT 1 + 1`, asText{sql})
			return err
		},
		"Prepare": func(ctx context.Context, tx idem.Tx, sql string) error {
			_, err := idem.PgxTx(tx).Prepare(ctx, "several", sql)
			return err
		},
	}
	for how, send := range sends {
		for what, text := range several {
			t.Run(how+"/"+what, func(t *testing.T) {
				t.Parallel()
				db := rig.Database(t)
				if what == "a name" { // a pool that uses the simple protocol for all
					cfg := db.Config()
					cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
						c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
						return nil
					}
					simple, err := pgxpool.NewWithConfig(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(simple.Close)
					db = simple
				}
				w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
					err := send(ctx, tx, text)
					if err == nil || !strings.Contains(err.Error(), "an SQL text must be one statement") {
						t.Errorf("the text was sent: %v", err)
					}
					return err
				}}.Consumer(t, db))
				_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 1", "put 2 2"))
				if h := rig.WantError[*idem.HaltedError](t, err); h.Offset != 1 || !strings.Contains(h.Error(), "an SQL text must be one statement") {
					t.Errorf("got %v", h)
				}
				rig.Want(t, "what committed", rig.Table(t, db)+rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter`), "1=1"+"0")
			})
		}
	}
}

// A rewriter cannot make an end of the transaction of a text.
func TestTextOfARewriterIsRead(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		var errs []error
		for _, sql := range []string{`ROLLBACK AND CHAIN`, `INSERT INTO t VALUES (50, 1)`, `COMMIT AND CHAIN`} {
			_, err := tx.Exec(ctx, `SELECT 1 + 1`, asText{sql})
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}}.Consumer(t, db))
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 1"))
	if h := rig.WantError[*idem.HaltedError](t, err); !strings.HasPrefix(h.Reason, "handler Test ended the transaction") {
		t.Errorf("got %v", h)
	}
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// The end of a transaction is found however its text is sent.
func TestEndOfATransactionIsFoundHoweverItIsSent(t *testing.T) {
	t.Parallel()
	for name, send := range ways {
		if name == "under a name" || name == "by Query" || name == "by QueryRow" { // of which two take one statement
			continue
		}
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if row == 1 {
					if err := send(ctx, tx, `COMMIT AND CHAIN`); err != nil && name != "in a savepoint" { // which is gone then
						return err
					}
				}
				return rig.AddOne(ctx, tx, 2)
			}}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 2 2"))
			_, err := w.Apply(t.Context(), rig.Records(1, "call 1", "call 3", "call 4"))
			if err == nil {
				_, err = w.Apply(t.Context(), rig.Records(1, "call 1", "call 3", "call 4"))
			}
			rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "calls that took effect", rig.Query(t, db, `SELECT v::text FROM t WHERE id = 2`), "2")
		})
	}
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
			db := rig.Database(t)
			bad := true
			s := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if bad {
					return end(ctx, tx)
				}
				return rig.AddOne(ctx, tx, row)
			}}
			c := s.Consumer(t, db)
			_, err := rig.Own(t, c).Apply(t.Context(), rig.Records(0, "put 2 1", "call 2", "put 3 3"))
			h := rig.WantError[*idem.HaltedError](t, err)
			if h.Code != halt.Handler || !strings.HasPrefix(h.Reason, "handler Test removed the prepared statements") {
				t.Errorf("got %v", h)
			}
			bad = false
			rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 2 1", "call 2", "put 3 3"))
			rig.Want(t, "rows", rig.Table(t, db), "2=2 3=3")
		})
	}
}

// A halt in a replay names the letter, and the position before which the partition is halted.
func TestHaltOfAReplaySaysWhere(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	ends := false
	w := rig.Own(t, rig.Service{Edit: rig.KeysAndBriefLocks, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		if ends {
			return ending(`COMMIT`)(ctx, tx)
		}
		return idem.Permanent(errors.New("refused"))
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1", "put 2 2"))
	ends = true
	rig.Ask(t, db, "replay", 1)
	_, err := w.Apply(t.Context(), nil)
	h := rig.WantError[*idem.HaltedError](t, err)
	if h.Offset != 3 || !strings.HasPrefix(h.Reason, "replay of the dead letter at offset 1: handler Test ended") {
		t.Errorf("got %v", h)
	}
}
