package handler_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// quitting is a value and a source of rows that calls end in one of its methods.
type quitting struct {
	in  string
	end func()
}

func (e quitting) at(method string) {
	if e.in == method {
		e.end()
	}
}

func (e quitting) Value() (driver.Value, error) { e.at("Value"); return int64(1), nil }
func (e quitting) Scan(any) error               { e.at("Scan"); return nil }

// quittingRows has one row, with a quitting value.
type quittingRows struct {
	quitting
	read bool
}

func (r *quittingRows) Next() bool {
	r.at("Next")
	defer func() { r.read = true }()
	return !r.read
}
func (r *quittingRows) Values() ([]any, error) { r.at("Values"); return []any{1, r.quitting}, nil }
func (r *quittingRows) Err() error             { r.at("Err"); return nil }

type copier interface {
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error)
}

// Code of the handler that the driver calls, for a value or for rows, may panic or end its
// goroutine like the handler itself, even if the handler ignores the error that it gets.
func TestCodeThatTheDriverCallsIsTheHandlers(t *testing.T) {
	t.Parallel()
	const sql = `SELECT v + $1::int FROM t WHERE id = 1`
	copies := func(ctx context.Context, tx copier, e quitting) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, &quittingRows{quitting: e})
		return err
	}
	ways := map[string]struct {
		methods string
		run     func(ctx context.Context, tx idem.Tx, e quitting) error
	}{
		"CopyFrom": {"Next Values Err Value", func(ctx context.Context, tx idem.Tx, e quitting) error { return copies(ctx, tx, e) }},
		"CopyFrom in a savepoint": {"Next Values Err Value", func(ctx context.Context, tx idem.Tx, e quitting) error {
			return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(s pgx.Tx) error { return copies(ctx, s, e) })
		}},
		"Exec": {"Value", func(ctx context.Context, tx idem.Tx, e quitting) error {
			_, err := tx.Exec(ctx, sql, e)
			return err
		}},
		"Query": {"Value Scan", func(ctx context.Context, tx idem.Tx, e quitting) error {
			rows, err := tx.Query(ctx, sql, e)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				if err := rows.Scan(&e); err != nil {
					return err
				}
			}
			return rows.Err()
		}},
		"QueryRow": {"Value Scan", func(ctx context.Context, tx idem.Tx, e quitting) error {
			return tx.QueryRow(ctx, sql, e).Scan(&e)
		}},
		"Queue": {"Value Scan", func(_ context.Context, tx idem.Tx, e quitting) error {
			tx.Queue(sql, e).QueryRow(func(row pgx.Row) error { return row.Scan(&e) })
			return nil
		}},
		"SendBatch": {"Value Scan", func(ctx context.Context, tx idem.Tx, e quitting) error {
			b := &pgx.Batch{}
			b.Queue(sql, e).QueryRow(func(row pgx.Row) error { return row.Scan(&e) })
			return tx.SendBatch(ctx, b).Close()
		}},
	}
	ends := map[string]struct {
		end  func()
		says string
	}{
		"panics": {func() { panic("secret") }, "the handler panicked: a value of type string"},
		"exits":  {runtime.Goexit, "the handler ended its goroutine"},
	}
	db := rig.Database(t)
	var handle func(ctx context.Context, tx idem.Tx) error
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return handle(ctx, tx) }}.Consumer(t, db)
	next, began := int64(1), time.Now()
	if err := rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	for way, w := range ways {
		for method := range strings.FieldsSeq(w.methods) {
			for how, e := range ends {
				for _, ignores := range []bool{false, true} {
					if ignores && !strings.HasPrefix(way, "CopyFrom") {
						continue // it gets no error
					}
					what := fmt.Sprintf("%s that %s in %s, and a handler that ignores it: %t", way, how, method, ignores)
					handle = func(ctx context.Context, tx idem.Tx) error {
						err := w.run(ctx, tx, quitting{method, e.end})
						if err != nil && !strings.Contains(err.Error(), "panicked") && !strings.Contains(err.Error(), "rolled back") {
							return errors.Join(errors.New("another error"), err)
						}
						if ignores {
							return nil
						}
						return err
					}
					if err := rig.NewSource(rig.Records(next, "put 2 2", "call 1", "put 3 3")).Consume(t, c); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					next += 3
					if reason := rig.Query(t, db, `SELECT coalesce((SELECT reason FROM idem_dead_letter WHERE offs = $1), 'none')`, next-2); reason != "handler: Test: "+e.says {
						t.Errorf("%s: dead letter %q", what, reason)
					}
				}
			}
		}
	}
	if took := time.Since(began); took > 4*time.Minute {
		t.Errorf("it took %v: a call was waited for until its time was over", took)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
}

// CopyFrom takes the values that the driver's own CopyFrom takes, and stores the same.
func TestCopyFromStoresWhatTheDriverWould(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	const columns = `n int, d numeric, s text, a int[], b bytea, j jsonb, u uuid, t timestamptz, f bool, i inet, y interval`
	idemtest.Exec(t, db, `CREATE TABLE ours (`+columns+`); CREATE TABLE theirs (`+columns+`)`)
	one, at := 1, time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	rows := [][]any{
		{1, "1.50", "x", []int{1, 2}, []byte{0, 1}, map[string]int{"a": 1}, "123e4567-e89b-12d3-a456-426614174000", at, true, "10.0.0.0/8", time.Hour},
		{"2", 3, nil, "{{1,2},{3,4}}", "\\x0001", `{"b": 2}`, [16]byte{1}, "2020-01-02 03:04:05Z", "f", nil, "1 day 02:00:00"},
		{&one, nil, "", nil, nil, nil, nil, nil, nil, nil, nil},
		{one, nil, strings.Repeat("long ", 40_000), []int{}, []byte{}, []any{}, nil, at, false, nil, nil},
	}
	for range 3000 {
		rows = append(rows, rows[0])
	}
	names := strings.Split("n d s a b j u t f i y", " ")
	var sent int64
	c := rig.Service{Policy: wire.FailurePolicy{}, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		n, err := tx.CopyFrom(ctx, pgx.Identifier{"ours"}, names, pgx.CopyFromRows(rows))
		if err != nil {
			return err
		}
		sent = n
		_, err = idem.PgxTx(tx).Conn().CopyFrom(ctx, pgx.Identifier{"theirs"}, names, pgx.CopyFromRows(rows))
		return err
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "rows", sent, int64(len(rows)))
	rig.Want(t, "rows that differ", rig.Query(t, db, `SELECT count(*)::text FROM (
		(SELECT o::text, count(*) FROM ours o GROUP BY 1 EXCEPT SELECT o::text, count(*) FROM theirs o GROUP BY 1) UNION ALL
		(SELECT o::text, count(*) FROM theirs o GROUP BY 1 EXCEPT SELECT o::text, count(*) FROM ours o GROUP BY 1)) AS d`), "0")
	rig.Want(t, "rows in the table", rig.Query(t, db, `SELECT count(*)::text FROM ours`), fmt.Sprint(len(rows)))
}
