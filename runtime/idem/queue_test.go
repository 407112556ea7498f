package idem_test

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
	"github.com/idemgen/idemgen/runtime/wire"
)

const addSQL = `UPDATE t SET v = v + 1 WHERE id = $1`

// addOrQueue adds one to a row. It waits for the answer if the row's number is positive, queues
// the statement if it is negative, and below -100 it queues it with a callback.
func addOrQueue(ctx context.Context, tx idem.Tx, row int32) error {
	switch {
	case row < -100:
		tx.Queue(addSQL, -row-100).Exec(oneRow)
	case row < 0:
		tx.Queue(addSQL, -row)
	default:
		return addOne(ctx, tx, row)
	}
	return nil
}

func oneRow(tag pgconn.CommandTag) error {
	if tag.RowsAffected() != 1 {
		return idem.Permanent(errors.New("no such row"))
	}
	return nil
}

// Queued statements run in the place of their record: after all that stands before it, and before
// the next statement that waits for an answer, whoever sends that.
func TestQueuedStatementsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE TABLE said (n int GENERATED ALWAYS AS IDENTITY, what text)`)
	const say = `INSERT INTO said (what) SELECT $1::text || coalesce((SELECT v FROM t WHERE id = 1), 0)`
	c := service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.consumer(t, db)
	res := apply(t, own(t, c), records(0, "put 1 10", "call 1", "put 1 30", "call 2", "put 1 40", "call 3"))
	want(t, "result", res, idem.Result{Applied: 6})
	want(t, "said", query(t, db, `SELECT string_agg(what, ', ' ORDER BY n) FROM said`), "first 10, second 20, third 30, fourth 30, fifth 40, sixth 40")
}

// A callback gets the answer to its own statement.
func TestCallbackGetsTheAnswer(t *testing.T) {
	t.Parallel()
	db := database(t)
	var seen []string
	c := service{handle: func(_ context.Context, tx idem.Tx, row int32) error {
		tx.Queue(addSQL, 1).Exec(func(tag pgconn.CommandTag) error { seen = append(seen, tag.String()); return nil })
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
	}}.consumer(t, db)
	apply(t, own(t, c), records(0, "put 1 5", "call 1", "call 7"))
	const three = "[map[?column?:x generate_series:1] map[?column?:x generate_series:2] map[?column?:x generate_series:3]]"
	want(t, "seen", strings.Join(seen, "; "), "UPDATE 1; 6; "+three+"; UPDATE 1; no row; "+three)
}

// An error of a queued statement, or of its callback, is that of the record that queued it: the
// others are applied, and it is called again as on_failure says.
func TestErrorOfAQueuedStatementIsItsRecords(t *testing.T) {
	lengthy(t)
	none := func(pgconn.CommandTag) error { return nil }
	for name, test := range map[string]struct {
		queue  func(ctx context.Context, tx idem.Tx) error
		calls  int
		reason string
	}{
		"a constraint": {func(_ context.Context, tx idem.Tx) error { tx.Queue(`INSERT INTO t VALUES (1, 1)`); return nil }, 1,
			"the key exists already: SQLSTATE 23505, table t, constraint t_pkey"},
		"a constraint at the commit of a statement": {func(_ context.Context, tx idem.Tx) error { tx.Queue(`SELECT 1 / 0`); return nil }, 1, "SQLSTATE 22012"},
		"arguments": {func(_ context.Context, tx idem.Tx) error { tx.Queue(addSQL); return nil }, 3, "mismatched param and argument count"},
		"arguments, and the handler goes on": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(addSQL)
			_, _ = tx.Exec(ctx, `SELECT 1`)
			return nil
		}, 3, "mismatched param and argument count"},
		"the callback's": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(func(pgconn.CommandTag) error { return errors.New("no row 7") })
			return nil
		}, 3, "no row 7"},
		"the callback's, for good": {func(_ context.Context, tx idem.Tx) error { tx.Queue(addSQL, 7).Exec(oneRow); return nil }, 1, "no such row"},
		"a panic": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(func(pgconn.CommandTag) error { panic("secret") })
			return nil
		}, 1, "the handler panicked: a value of type string"},
		"Goexit": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(func(pgconn.CommandTag) error { runtime.Goexit(); return nil })
			return nil
		}, 3, "the handler ended its goroutine"},
		"before a statement that waits": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(`SELECT 1 / 0`)
			_, _ = tx.Exec(ctx, `SELECT 1`)
			return nil
		}, 1, "SQLSTATE 22012"},
		"a use of the transaction in the callback": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(func(pgconn.CommandTag) error {
				_, err := tx.Exec(ctx, `SELECT 1`)
				return err
			})
			return nil
		}, 3, "tx is closed"},
		"a use of the transaction in the callback, while the handler runs": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(func(pgconn.CommandTag) error {
				_, err := tx.Exec(ctx, `SELECT 1`)
				return err
			})
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		}, 3, "used while a callback of a queued statement ran"},
		"in the middle of the rows, and the callback hides it": {func(_ context.Context, tx idem.Tx) error {
			tx.Queue(`SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n`).Query(func(rows pgx.Rows) error {
				for rows.Next() {
				}
				return fmt.Errorf("rows: %v", rows.Err())
			})
			return nil
		}, 1, "SQLSTATE 22012"},
		"rows that stay open": {func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 1)
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
			tx.Queue(addSQL, 1).Exec(none)
			return errors.New("returned")
		}, 3, "returned"},
		"an encoding": {func(_ context.Context, tx idem.Tx) error { tx.Queue(addSQL, "4111111111111111x"); return nil }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			calls := map[int32]int{}
			c := service{policy: impatient, edit: func(s *wire.Service) { s.Limits.StatementTimeout = time.Second }, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls[row]++
				if row == 5 {
					return test.queue(ctx, tx)
				}
				return addOrQueue(ctx, tx, row)
			}}.consumer(t, db)
			src := newSource(records(0, "put 1 10", "call -1", "call -101", "call 5", "call -1", "put 2 2", "call 1", "call -102"))
			if err := src.run(t, c); err != nil {
				t.Fatal(err)
			}
			want(t, "rows", table(t, db), "1=14 2=3")
			want(t, "dead letters", letters(t, db), "3 handler")
			want(t, "calls", calls[5], test.calls)
			if reason := query(t, db, `SELECT reason FROM idem_dead_letter`); !strings.Contains(reason, test.reason) || strings.Contains(reason, "4111") || strings.Contains(reason, "secret") {
				t.Errorf("reason %q, want %q", reason, test.reason)
			}
		})
	}
}

// A statement that no record can be at fault for halts the partition before its record.
func TestQueuedStatementThatCannotBePreparedHalts(t *testing.T) {
	t.Parallel()
	for sql, reason := range map[string]string{`UPDATE`: "syntax error", `SELECT 1; SELECT 2`: "an SQL text must be one statement"} {
		db := database(t)
		c := service{handle: func(_ context.Context, tx idem.Tx, row int32) error {
			tx.Queue(addSQL, 1)
			if row == 2 {
				tx.Queue(sql)
			}
			return nil
		}}.consumer(t, db)
		w := own(t, c)
		apply(t, w, records(0, "put 1 1", "call 1"))
		_, err := w.Apply(t.Context(), records(2, "call 2"))
		halted := wantError[*idem.HaltedError](t, err)
		want(t, "offset", halted.Offset, 2)
		want(t, "rows", table(t, db), "1=2")
		if !strings.Contains(err.Error(), reason) {
			t.Errorf("got %v, want %q", err, reason)
		}
	}
}

// Nothing that was queued outlives a failed attempt.
func TestQueueIsNotKeptOverARetry(t *testing.T) {
	t.Parallel()
	db := database(t)
	attempts := map[int32]int{}
	c := service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		d, _ := idem.DeliveryFrom(ctx)
		attempts[row] = d.Attempt
		tx.Queue(addSQL, 1)
		if row == 2 && d.Attempt < 3 {
			return errors.New("not now")
		}
		return nil
	}}.consumer(t, db)
	src := newSource(records(0, "put 1 10", "call 1", "call 2", "call 3"))
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "rows", table(t, db), "1=13")
	want(t, "attempts", fmt.Sprint(attempts), "map[1:1 2:3 3:1]")
}

// Time in which statements of earlier records run is not the handler's, and its own limit is not
// theirs.
func TestQueuedStatementsDoNotTakeTheHandlersTime(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: func(s *wire.Service) { s.Limits.EventTimeout = 500 * time.Millisecond }, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.consumer(t, db)
	apply(t, own(t, c), records(0, "call -1", "call -1", "call 5"))
	want(t, "rows", table(t, db), "5=1")
	want(t, "dead letters", letters(t, db), "")
}

// A callback that does not return is reported under its own event's name, and halts the partition
// as a handler does that does not return.
func TestCallbackThatTakesTooLongIsTheRecords(t *testing.T) {
	lengthy(t)
	db := database(t)
	release := make(chan struct{})
	c := service{policy: impatient, edit: func(s *wire.Service) { s.Limits.EventTimeout = 100 * time.Millisecond }, handle: func(_ context.Context, tx idem.Tx, row int32) error {
		if row == 2 {
			tx.Queue(addSQL, 1).Exec(func(pgconn.CommandTag) error { <-release; return nil })
		}
		return nil
	}}.consumer(t, db)
	_, err := own(t, c).Apply(t.Context(), records(0, "put 1 1", "call 1", "call 2", "call 3"))
	close(release)
	halted := wantError[*idem.HaltedError](t, err)
	want(t, "offset", halted.Offset, 2)
	want(t, "rows", table(t, db), "")
}

// What is queued is sent when it is many statements or many bytes, also within one call.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	for name, queue := range map[string]func(tx idem.Tx, note func()){
		"statements": func(tx idem.Tx, note func()) {
			for range 2500 {
				tx.Queue(addSQL, 1)
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
			db := database(t)
			idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
			var g gate
			inside := int64(0)
			c := service{handle: func(_ context.Context, tx idem.Tx, _ int32) error {
				began := g.trips.Load()
				queue(tx, func() { inside = g.trips.Load() - began })
				return nil
			}}.consumer(t, through(t, db, &g))
			w := own(t, c)
			apply(t, w, records(0, "put 1 0", "call 1"))
			apply(t, w, records(2, "call 1"))
			want(t, "rows", table(t, db), "1=5000")
			if inside < 2 {
				t.Errorf("%d round trips while the handler queued", inside)
			}
		})
	}
}

// A statement that was left to a goroutine is refused, not lost without a word.
func TestStatementQueuedTooLateIsReported(t *testing.T) {
	t.Parallel()
	db := database(t)
	log, option := logged()
	var kept idem.Tx
	c := service{options: []idem.Option{option}, handle: func(_ context.Context, tx idem.Tx, _ int32) error { kept = tx; return nil }}.consumer(t, db)
	apply(t, own(t, c), records(0, "put 1 1", "call 1"))
	kept.Queue(addSQL, 1)
	want(t, "lines", strings.Count(log.String(), "a statement that was queued too late is not run"), 1)
	want(t, "rows", table(t, db), "1=1")
}
