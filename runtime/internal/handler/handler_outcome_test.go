package handler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// However a handler ends, before or after a callback of it has succeeded or failed, its record is
// a dead letter, the records around it are applied, and the ledger covers all of them.
func TestEndOfAHandlerIsNotThatOfItsCallback(t *testing.T) {
	t.Parallel()
	callbacks := map[string]func() error{
		"succeeds": func() error { return nil },
		"fails":    func() error { return errors.New("no row") },
		"panics":   func() error { panic("secret") },
		"exits":    func() error { runtime.Goexit(); return nil },
	}
	const panicked, exited = "the handler panicked: a value of type string", "the handler ended its goroutine"
	failed := map[string]string{"fails": "no row", "panics": panicked, "exits": exited} // of the callback
	reasons := map[string]string{"fails": "no", "panics": panicked, "exits": exited}
	ends := map[string]func() error{
		"fails":  func() error { return errors.New("no") },
		"panics": func() error { panic("secret") },
		"exits":  func() error { runtime.Goexit(); return nil },
	}
	runs := map[string]func(ctx context.Context, tx idem.Tx){ // until then the callback waits
		"Exec":      func(ctx context.Context, tx idem.Tx) { _, _ = tx.Exec(ctx, `SELECT 1`) },
		"SendBatch": func(ctx context.Context, tx idem.Tx) { _ = tx.SendBatch(ctx, &pgx.Batch{}).Close() },
		"savepoint": func(ctx context.Context, tx idem.Tx) { _, _ = idem.PgxTx(tx).Begin(ctx) },
		"nothing":   func(context.Context, idem.Tx) {},
	}
	db := rig.Database(t)
	var back func() error
	var run func(context.Context, idem.Tx)
	var end func() error
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row > 0 {
			_, err := tx.Exec(ctx, rig.AddSQL, 1)
			return err
		}
		tx.Queue(rig.AddSQL, 1).Exec(func(pgconn.CommandTag) error { return back() })
		run(ctx, tx)
		return end()
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "put 1 0"))
	next, n := int64(1), 0
	for called, f := range callbacks {
		for ended, g := range ends {
			for ran, h := range runs {
				back, run, end = f, h, g
				before := rig.Query(t, db, `SELECT v::text FROM t`)
				if _, err := w.Apply(t.Context(), rig.Records(next, "call 1", "call 0", "call 1")); err != nil {
					t.Fatalf("a callback %s in %s, the handler %s: %v", called, ran, ended, err)
				}
				next, n = next+3, n+2
				if v := rig.Query(t, db, `SELECT (v - $1::int)::text FROM t`, before); v != "2" {
					t.Errorf("a callback %s in %s, the handler %s: %s effects of the other records", called, ran, ended, v)
				}
				want := reasons[ended]
				if failed[called] != "" && ran != "nothing" && ended != "exits" { // then its goroutine has ended
					want = failed[called]
				}
				if reason := rig.Query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = $1`, next-2); reason != "handler: Test: "+want {
					t.Errorf("a callback %s in %s, the handler %s: reason %q, want %q", called, ran, ended, reason, want)
				}
			}
		}
	}
	rig.Want(t, "effects", rig.Table(t, db), fmt.Sprintf("1=%d", n))
	rig.Want(t, "dead letters", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter`), fmt.Sprint(n/2))
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), fmt.Sprint(next))
}

// What the driver or the server rejects before a statement runs is the handler's error: its record
// becomes a dead letter at once or after its retries, and the partition continues.
func TestStatementThatCannotBeSentIsTheHandlersError(t *testing.T) {
	t.Parallel()
	const copies = `COPY t (id, v) FROM STDIN`
	many := make([]any, 1<<16)
	for i := range many {
		many[i] = i
	}
	ways := map[string]func(ctx context.Context, tx idem.Tx, sql string, args ...any) error{
		"Exec": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			_, err := tx.Exec(ctx, sql, args...)
			return err
		},
		"Query": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			rows, err := tx.Query(ctx, sql, args...)
			if err == nil {
				rows.Close()
				err = rows.Err()
			}
			return err
		},
		"QueryRow": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			return tx.QueryRow(ctx, sql, args...).Scan(new(int))
		},
		"Queue": func(_ context.Context, tx idem.Tx, sql string, args ...any) error {
			tx.Queue(sql, args...)
			return nil
		},
		"SendBatch": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			b := &pgx.Batch{}
			b.Queue(sql, args...)
			return tx.SendBatch(ctx, b).Close()
		},
		"savepoint": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(s pgx.Tx) error {
				_, err := s.Exec(ctx, sql, args...)
				return err
			})
		},
		"Prepare": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			p := idem.PgxTx(tx)
			if _, err := p.Prepare(ctx, "x"+sql[:1], sql); err != nil {
				return err
			}
			_, err := p.Exec(ctx, "x"+sql[:1], args...)
			return err
		},
		"name": func(ctx context.Context, tx idem.Tx, sql string, _ ...any) error {
			_, err := idem.PgxTx(tx).Prepare(ctx, sql, `SELECT 1`)
			return errors.Join(err, errors.New("or it is a name"))
		},
		"Conn": func(ctx context.Context, tx idem.Tx, sql string, args ...any) error {
			_, err := idem.PgxTx(tx).Conn().Exec(ctx, sql, args...)
			return err
		},
	}
	statements := map[string]struct {
		sql  string
		args []any
	}{
		"NUL":                    {"SELECT 1 -- \x00", nil},
		"NUL of a rewriter":      {"SELECT 1", []any{rewriting("SELECT 1 -- \x00")}},
		"no UTF-8":               {"SELECT '\xff'", nil},
		"COPY":                   {copies, nil},
		"COPY of a rewriter":     {"SELECT 1", []any{rewriting(copies)}},
		"COPY TO of a rewriter":  {"SELECT 1", []any{rewriting(`COPY t TO STDOUT`)}},
		"too many parameters":    {"SELECT $1::int", many},
		"too few parameters":     {"SELECT $1::int + $2::int", []any{1}},
		"a parameter of no type": {"SELECT $1::int", []any{func() {}}},
		"an error of a rewriter": {"SELECT 1", []any{rewriting("")}},
	}
	db := rig.Database(t)
	var handle func(ctx context.Context, tx idem.Tx) error
	calls := 0
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		calls++
		return handle(ctx, tx)
	}}.Consumer(t, db)
	next := int64(0)
	for statement, s := range statements {
		for way, run := range ways {
			if strings.HasPrefix(statement, "COPY") && way == "Conn" || statement == "COPY TO of a rewriter" && way != "Queue" && way != "SendBatch" || way == "name" && statement != "NUL" {
				continue // statements on the connection itself are not examined, and the output of COPY is ignored
			}
			calls, handle = 0, func(ctx context.Context, tx idem.Tx) error { return run(ctx, tx, s.sql, s.args...) }
			src := rig.NewSource(rig.Records(next, "put 1 1", "call 1", "put 2 2"))
			if err := src.Consume(t, c); err != nil {
				t.Fatalf("%s by %s: %v", statement, way, err)
			}
			next += 3
			reason := rig.Query(t, db, `SELECT coalesce((SELECT reason FROM idem_dead_letter WHERE offs = $1), 'none')`, next-2)
			if calls > 3 || !strings.HasPrefix(reason, "handler: Test: ") {
				t.Errorf("%s by %s: %d calls, dead letter %q", statement, way, calls, reason)
			}
		}
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// rewriting is a rewriter of any statement to a text; "" is an error.
type rewriting string

func (r rewriting) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	if r == "" {
		return "", nil, errors.New("it cannot be rewritten")
	}
	return string(r), nil, nil
}

// What waits while rows are open is bounded by what it occupies, however the arguments refer to
// it.
func TestWhatIsQueuedWhileRowsAreOpenIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 100_000)
	long := []string{text, text}
	for name, arg := range map[string]any{
		"a string": text, "a pointer": &text, "a slice": long, "a map": map[string]string{"a": text}, "a struct": struct{ A *string }{&text},
		"bytes": []byte(text), "an interface": []any{text}, "many": 1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			queued := 0
			c := rig.Service{Edit: func(s *wire.Service) {
				// A busy machine with the race detector needs many seconds for 16 MiB of small statements.
				s.Limits.EventTimeout, s.Limits.StatementTimeout, s.Limits.BatchTimeout = time.Minute, 2*time.Minute, 3*time.Minute
			}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				rows, err := tx.Query(ctx, `SELECT generate_series(1, $1::int)`, row)
				if err != nil {
					return err
				}
				defer rows.Close()
				for queued = 0; rows.Next(); queued++ {
					if arg == any(1) {
						tx.Queue(`INSERT INTO t (id, v) VALUES ($1, 0)`, queued+2)
					} else {
						tx.Queue(`SELECT $1::jsonb`, arg)
					}
				}
				return nil
			}}.Consumer(t, db)
			w := rig.Own(t, c)
			few, much := 20_000, 200
			if name == "many" {
				much = 200_000
			}
			res := rig.Apply(t, w, rig.Records(0, "put 1 0", fmt.Sprintf("call %d", much)))
			rig.Want(t, "dead", res.Dead, 1)
			reason := rig.Query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = 1`)
			if !strings.Contains(reason, "16 MiB were queued while the rows") {
				t.Errorf("reason: %s", reason)
			}
			if name == "many" {
				res = rig.Apply(t, w, rig.Records(2, fmt.Sprintf("call %d", few)))
				rig.Want(t, "applied", res.Applied, 1)
				rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM t WHERE id > 1`), fmt.Sprint(few))
			}
		})
	}
}

// Several goroutines of a handler may queue statements at once: each runs once, and none is taken
// for a callback.
func TestGoroutinesMayQueueAtOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
	c := rig.Service{Policy: wire.FailurePolicy{}, Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 300 {
					var args []any
					if j%10 == 0 {
						args = append(args, asIs{})
					}
					tx.Queue(fmt.Sprintf(`UPDATE t SET v = v + 1 WHERE id = 1 AND %d = %[1]d`, (i+j)%20), args...)
				}
			})
		}
		wg.Wait()
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 0", "call 1"))
	rig.Want(t, "dead letters", rig.Query(t, db, `SELECT coalesce(string_agg(reason, ' '), '') FROM idem_dead_letter`), "")
	rig.Want(t, "rows", rig.Table(t, db), "1=2400")
}

// What idemgen does not do with a transaction is an error of the call, even if the handler ignores
// it.
func TestRefusedUseThatIsIgnoredFailsTheCall(t *testing.T) {
	t.Parallel()
	fail := func(tag pgconn.CommandTag) error { return idem.Permanent(errors.New("no row")) }
	for name, handle := range map[string]func(ctx context.Context, tx idem.Tx) error{
		"a callback that is set after its statement was sent": func(ctx context.Context, tx idem.Tx) error {
			q := tx.Queue(rig.AddSQL, 77)
			_, err := tx.Exec(ctx, rig.AddSQL, 1)
			q.Exec(fail)
			return err
		},
		"a callback that is set after another text was prepared": func(_ context.Context, tx idem.Tx) error {
			q := tx.Queue(rig.AddSQL, 77)
			tx.Queue(`UPDATE t SET v = v + 2 WHERE id = $1`, 1)
			q.Exec(fail)
			return nil
		},
		"a NUL": func(ctx context.Context, tx idem.Tx) error {
			_, _ = tx.Exec(ctx, "SELECT '\x00'")
			_, err := tx.Exec(ctx, rig.AddSQL, 1)
			return err
		},
		"a batch with COPY": func(ctx context.Context, tx idem.Tx) error {
			b := &pgx.Batch{}
			b.Queue(`COPY t FROM STDIN`)
			_ = tx.SendBatch(ctx, b).Close()
			_, err := tx.Exec(ctx, rig.AddSQL, 1)
			return err
		},
		"a source of CopyFrom that uses the transaction": func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromSlice(10_000, func(i int) ([]any, error) {
				if i == 9_999 { // the first rows are sent
					_, _ = tx.Exec(ctx, rig.AddSQL, 1)
				}
				return []any{100 + i, 77}, nil
			}))
			return err
		},
		"a source of CopyFrom that fails": func(ctx context.Context, tx idem.Tx) error {
			_, _ = tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromSlice(1, func(int) ([]any, error) { return nil, errors.New("no row") }))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return handle(ctx, tx) }}.Consumer(t, db)
			src := rig.NewSource(rig.Records(0, "put 1 0", "call 1", "put 2 2"))
			if err := src.Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=0 2=2")
			reason := rig.Query(t, db, `SELECT coalesce(max(reason), '') FROM idem_dead_letter WHERE offs = 1`)
			if !strings.HasPrefix(reason, "handler: Test: ") || strings.Contains(reason, "SQLSTATE") {
				t.Errorf("reason %q", reason)
			}
		})
	}
}
