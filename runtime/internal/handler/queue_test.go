package handler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Queued statements run in the place of their record: after all that stands before it, and before
// the next statement that waits for an answer, whoever sends that.
func TestQueuedStatementsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE TABLE said (n int GENERATED ALWAYS AS IDENTITY, what text)`)
	const say = `INSERT INTO said (what) SELECT $1::text || coalesce((SELECT v FROM t WHERE id = 1), 0)`
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		switch row {
		case 1:
			tx.Queue(say, "first ")
			tx.Queue(`UPDATE t SET v = v * @by WHERE id = 1`, pgx.NamedArgs{"by": 2})
			tx.Queue(say, "second ")
		case 2: // another record's statements, and its own, come first
			tx.Queue(say, "third ")
			var n int
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM said`).Scan(&n); err != nil || n != 3 {
				return fmt.Errorf("%d, %v", n, err)
			}
			tx.Queue(say, "fourth ")
		case 3: // and so do they with each way to use the connection
			var n int
			rows, err := tx.Query(ctx, `SELECT count(*) FROM said`)
			if err != nil {
				return err
			}
			if n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int]); err != nil || n != 4 {
				return fmt.Errorf("%d, %v", n, err)
			}
			tx.Queue(say, "fifth ")
			err = pgx.BeginFunc(ctx, idem.PgxTx(tx), func(savepoint pgx.Tx) error {
				savepoint.(idem.Tx).Queue(say, "in a savepoint ")
				return errors.New("back")
			})
			tx.Queue(say, "sixth ")
			if err.Error() != "back" {
				return err
			}
			if err := idem.PgxTx(tx).Conn().QueryRow(ctx, `SELECT count(*) FROM said`).Scan(&n); err != nil || n != 6 {
				return fmt.Errorf("%d, %v", n, err)
			}
		}
		return nil
	}}.Consumer(t, db)
	res := rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 10", "call 1", "put 1 30", "call 2", "put 1 40", "call 3"))
	rig.Want(t, "result", res, idem.Result{Applied: 6})
	rig.Want(t, "said", rig.Query(t, db, `SELECT string_agg(what, ', ' ORDER BY n) FROM said`), "first 10, second 20, third 30, fourth 30, fifth 40, sixth 40")
}

// A callback gets the answer to its own statement.
func TestCallbackGetsTheAnswer(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var seen []string
	c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, row int32) error {
		tx.Queue(rig.AddSQL, 1).Exec(func(tag pgconn.CommandTag) error { seen = append(seen, tag.String()); return nil })
		tx.Queue(`SELECT v FROM t WHERE id = $1`, row).QueryRow(func(r pgx.Row) error {
			var v int
			err := r.Scan(&v)
			if errors.Is(err, pgx.ErrNoRows) {
				seen, err = append(seen, "no row"), nil
			} else {
				seen = append(seen, fmt.Sprint(v))
			}
			return err
		})
		tx.Queue(`SELECT generate_series(1, 3), 'x'`).Query(func(rows pgx.Rows) error {
			all, err := pgx.CollectRows(rows, pgx.RowToMap)
			seen = append(seen, fmt.Sprint(all))
			return err
		})
		tx.Queue(`SELECT 1 FROM generate_series(1, 1000)`).Query(func(rows pgx.Rows) error {
			rows.Next() // the others are not read
			return nil
		})
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 5", "call 1", "call 7"))
	const three = "[map[?column?:x generate_series:1] map[?column?:x generate_series:2] map[?column?:x generate_series:3]]"
	rig.Want(t, "seen", strings.Join(seen, "; "), "UPDATE 1; 6; "+three+"; UPDATE 1; no row; "+three)
}

// An error of a queued statement, or of its callback, is that of the record that queued it: the
// others are applied, and it is called again as on_failure says.
func TestErrorOfAQueuedStatementIsItsRecords(t *testing.T) {
	rig.Lengthy(t)
	none := func(pgconn.CommandTag) error { return nil }
	for name, test := range map[string]struct {
		queue  func(ctx context.Context, tx idem.Tx) error
		calls  int
		reason string
	}{
		"a constraint": {func(_ context.Context, tx idem.Tx) error { tx.Queue(`INSERT INTO t VALUES (1, 1)`); return nil }, 1,
			"the key exists already: SQLSTATE 23505, table t, constraint t_pkey"},
		"a constraint at the commit of a statement": {func(_ context.Context, tx idem.Tx) error { tx.Queue(`SELECT 1 / 0`); return nil }, 1, "SQLSTATE 22012"},
		"arguments": {func(_ context.Context, tx idem.Tx) error { tx.Queue(rig.AddSQL); return nil }, 3, "mismatched param and argument count"},
		"arguments, and the handler goes on": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL)
			_, _ = tx.Exec(ctx, `SELECT 1`)
			return nil
		}, 3, "mismatched param and argument count"},
		"the callback's": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error { return errors.New("no row 7") })
			return nil
		}, 3, "no row 7"},
		"the callback's, for good": {func(_ context.Context, tx idem.Tx) error { tx.Queue(rig.AddSQL, 7).Exec(rig.OneRow); return nil }, 1, "no such row"},
		"a panic": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error { panic("secret") })
			return nil
		}, 1, "the handler panicked: a value of type string"},
		"Goexit": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error { runtime.Goexit(); return nil })
			return nil
		}, 3, "the handler ended its goroutine"},
		"before a statement that waits": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(`SELECT 1 / 0`)
			_, _ = tx.Exec(ctx, `SELECT 1`)
			return nil
		}, 1, "SQLSTATE 22012"},
		"a use of the transaction in the callback": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error {
				_, err := tx.Exec(ctx, `SELECT 1`)
				return err
			})
			return nil
		}, 3, "a callback of Queue must not use the Tx"},
		"a use of the transaction in the callback, while the handler runs": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error {
				_, err := tx.Exec(ctx, `SELECT 1`)
				return err
			})
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		}, 3, "use tx.Exec or tx.Query in place of tx.Queue"},
		"in the middle of the rows, and the callback hides it": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(`SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n`).Query(func(rows pgx.Rows) error {
				for rows.Next() {
				}
				return fmt.Errorf("rows: %v", rows.Err())
			})
			return nil
		}, 1, "SQLSTATE 22012"},
		"rows that stay open": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 1)
			_, err := tx.Query(ctx, `SELECT generate_series(1, 100000)`)
			tx.Queue(`SELECT 'a text that is not prepared'`)
			return err
		}, 1, "the handler did not close the rows of a query"},
		"statement_timeout": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(`SELECT pg_sleep(30)`)
			return nil
		}, 3, "statement_timeout (1s) was exceeded"},
		"read-only": {func(_ context.Context, tx idem.Tx) error { tx.Queue(`SET TRANSACTION READ ONLY`); return nil }, 1, "the handler made its transaction read-only"},
		"its own": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 1).Exec(none)
			return errors.New("returned")
		}, 3, "returned"},
		"an encoding": {func(_ context.Context, tx idem.Tx) error { tx.Queue(rig.AddSQL, "4111111111111111x"); return nil }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			calls := map[int32]int{}
			c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.StatementTimeout = time.Second }, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls[row]++
				if row == 5 {
					return test.queue(ctx, tx)
				}
				return rig.AddOrQueue(ctx, tx, row)
			}}.Consumer(t, db)
			src := rig.NewSource(rig.Records(0, "put 1 10", "call -1", "call -101", "call 5", "call -1", "put 2 2", "call 1", "call -102"))
			if err := src.Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=14 2=3")
			rig.Want(t, "dead letters", rig.Letters(t, db), "3 handler")
			rig.Want(t, "calls", calls[5], test.calls)
			if reason := rig.Query(t, db, `SELECT reason FROM idem_dead_letter`); !strings.Contains(reason, test.reason) || strings.Contains(reason, "4111") || strings.Contains(reason, "secret") {
				t.Errorf("reason %q, want %q", reason, test.reason)
			}
		})
	}
}

// A statement that no record can be at fault for halts the partition before its record.
func TestQueuedStatementThatCannotBePreparedHalts(t *testing.T) {
	t.Parallel()
	for sql, reason := range map[string]string{`UPDATE`: "syntax error", `SELECT 1; SELECT 2`: "an SQL text must be one statement"} {
		db := rig.Database(t)
		c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, row int32) error {
			tx.Queue(rig.AddSQL, 1)
			if row == 2 {
				tx.Queue(sql)
			}
			return nil
		}}.Consumer(t, db)
		w := rig.Own(t, c)
		rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1"))
		_, err := w.Apply(t.Context(), rig.Records(2, "call 2"))
		halted := rig.WantError[*idem.HaltedError](t, err)
		rig.Want(t, "offset", halted.Offset, 2)
		rig.Want(t, "rows", rig.Table(t, db), "1=2")
		if !strings.Contains(err.Error(), reason) {
			t.Errorf("got %v, want %q", err, reason)
		}
	}
}

// Nothing that was queued outlives a failed attempt.
func TestQueueIsNotKeptOverARetry(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	attempts := map[int32]int{}
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		d, _ := idem.DeliveryFrom(ctx)
		attempts[row] = d.Attempt
		tx.Queue(rig.AddSQL, 1)
		if row == 2 && d.Attempt < 3 {
			return errors.New("not now")
		}
		return nil
	}}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 10", "call 1", "call 2", "call 3"))
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=13")
	rig.Want(t, "attempts", fmt.Sprint(attempts), "map[1:1 2:3 3:1]")
}

// Time in which statements of earlier records run is not the handler's, and its own limit is not
// theirs.
func TestQueuedStatementsDoNotTakeTheHandlersTime(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: func(s *wire.Service) { s.Limits.EventTimeout = 500 * time.Millisecond }, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row < 0 {
			tx.Queue(`SELECT pg_sleep(0.4)`)
			return nil
		}
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		if _, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row); err != nil {
			return err
		}
		return errors.Join(ctx.Err(), derived.Err())
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call -1", "call -1", "call 5"))
	rig.Want(t, "rows", rig.Table(t, db), "5=1")
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// A callback that does not return is reported under its own event's name, and halts the partition
// as a handler does that does not return.
func TestCallbackThatTakesTooLongIsTheRecords(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	release := make(chan struct{})
	c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.EventTimeout = 100 * time.Millisecond }, Handle: func(_ context.Context, tx idem.Tx, row int32) error {
		if row == 2 {
			tx.Queue(rig.AddSQL, 1).Exec(func(pgconn.CommandTag) error { <-release; return nil })
		}
		return nil
	}}.Consumer(t, db)
	_, err := rig.Own(t, c).Apply(t.Context(), rig.Records(0, "put 1 1", "call 1", "call 2", "call 3"))
	close(release)
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "offset", halted.Offset, 2)
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// What is queued is sent when it is many statements or many bytes, also within one call.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	for name, queue := range map[string]func(tx idem.Tx, note func()){
		"statements": func(tx idem.Tx, note func()) {
			for range 2500 {
				tx.Queue(rig.AddSQL, 1)
				note()
			}
		},
		"bytes": func(tx idem.Tx, note func()) {
			for range 250 {
				tx.Queue(`UPDATE t SET v = v + length($1::text) / 3000 WHERE id = 1`, strings.Repeat("x", 30_000))
				note()
			}
		},
		"a few large ones": func(tx idem.Tx, note func()) {
			for range 10 { // in each of two calls
				tx.Queue(`UPDATE t SET v = v + 250 * (length($1::text) >> 20) WHERE id = 1`, strings.Repeat("x", 1<<20))
				note()
			}
		},
		"texts": func(tx idem.Tx, note func()) { // more than stay prepared
			for i := range 2500 / 4 {
				tx.Queue(fmt.Sprintf(`UPDATE t SET v = v + 4 WHERE id = 1 AND %d = %[1]d`, i))
				note()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
			var g rig.Gate
			inside := int64(0)
			c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
				began := g.Trips.Load()
				queue(tx, func() { inside = g.Trips.Load() - began })
				return nil
			}, Edit: func(s *wire.Service) { // thousands of statements, on a machine that is busy
				s.Limits.BatchTimeout, s.Limits.EventTimeout, s.Limits.StatementTimeout = 4*time.Minute, 2*time.Minute, time.Minute
			}}.Consumer(t, rig.Through(t, db, &g))
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "put 1 0", "call 1"))
			rig.Apply(t, w, rig.Records(2, "call 1"))
			rig.Want(t, "rows", rig.Table(t, db), "1=5000")
			if inside < 2 {
				t.Errorf("%d round trips while the handler queued", inside)
			}
		})
	}
}

// A statement that was left to a goroutine is refused, not lost without a word.
func TestStatementQueuedTooLateIsReported(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	var kept idem.Tx
	c := rig.Service{Options: []idem.Option{option}, Handle: func(_ context.Context, tx idem.Tx, _ int32) error { kept = tx; return nil }}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 1", "call 1"))
	kept.Queue(rig.AddSQL, 1)
	rig.Want(t, "lines", strings.Count(log.String(), "a statement that was queued too late is not run"), 1)
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// asIs is a rewriter that changes nothing.
type asIs struct{}

func (asIs) RewriteQuery(_ context.Context, _ *pgx.Conn, sql string, _ []any) (string, []any, error) {
	return sql, nil, nil
}
