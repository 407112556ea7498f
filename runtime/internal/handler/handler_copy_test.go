package handler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// endedRows has no row, and an error.
type endedRows struct{ err error }

func (endedRows) Next() bool             { return false }
func (endedRows) Values() ([]any, error) { return nil, nil }
func (r endedRows) Err() error           { return r.err }

// A CopyFrom that fails returns why, and stores nothing. If its savepoint is rolled back, the call
// goes on as if it had not been.
func TestCopyFromThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	broken := errors.New("the source is broken")
	columns := []string{"id", "v"}
	rows := func(n int) pgx.CopyFromSource {
		return pgx.CopyFromSlice(n, func(i int) ([]any, error) { return []any{i / 2, i}, nil }) // each id twice
	}
	one := func(values ...any) pgx.CopyFromSource { return pgx.CopyFromRows([][]any{values}) }
	var run func(ctx context.Context, tx idem.Tx) error
	var failed error
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		sp, err := idem.PgxTx(tx).Begin(ctx)
		if err != nil {
			return err
		}
		failed = run(ctx, sp.(idem.Tx))
		if err := sp.Rollback(ctx); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, row)
		return err
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	at := int64(0)
	for name, test := range map[string]struct {
		table   string
		columns []string
		source  pgx.CopyFromSource
		is      error  // in the chain
		says    string // in the text
	}{
		"a row is missing":                     {source: pgx.CopyFromSlice(1, func(int) ([]any, error) { return nil, broken }), is: broken},
		"the source ends with an error":        {source: endedRows{broken}, is: broken},
		"a row has a value too few":            {source: one(1), says: "a row of CopyFrom has 1 values for 2 columns"},
		"a row has a value too many":           {source: one(1, 2, 3), says: "a row of CopyFrom has 3 values for 2 columns"},
		"a value has another type":             {source: one(1, "x"), says: "the driver cannot encode a value of a statement"},
		"a value is no text either":            {source: one(1, struct{}{}), says: "the driver cannot encode a value of a statement"},
		"a key is there twice":                 {source: rows(2), says: "SQLSTATE 23505"},
		"a key is there twice, of many":        {source: rows(100_000), says: "SQLSTATE 23505"},
		"there is no table":                    {table: "absent", source: rows(1), says: "SQLSTATE 42P01"},
		"there is no column":                   {columns: []string{"id", "absent"}, source: rows(1), says: "SQLSTATE 42703"},
		"a column is there twice":              {columns: []string{"id", "id"}, source: one(1, 1), says: "SQLSTATE 42701"},
		"a column has a name to be quoted":     {columns: []string{"id", `v", "w`}, source: one(1, 1), says: `column "v", "w" does not exist`},
		"a table has a name to be quoted":      {table: `t" (id) FROM STDIN; --`, source: one(1, 1), says: "SQLSTATE 42P01"},
		"the context had ended":                {source: nil, is: context.Canceled},
		"the source's context ended meanwhile": {is: context.Canceled, source: pgx.CopyFromSlice(1, func(int) ([]any, error) { return nil, context.Canceled })},
	} {
		var n int64
		run = func(ctx context.Context, tx idem.Tx) (err error) {
			if test.source == nil {
				gone, cancel := context.WithCancel(ctx)
				cancel()
				ctx = gone
			}
			names := columns
			if test.columns != nil {
				names = test.columns
			}
			n, err = tx.CopyFrom(ctx, pgx.Identifier{cmp.Or(test.table, "t")}, names, test.source)
			return err
		}
		rig.Apply(t, w, rig.Records(at, "call 9"))
		at++
		if failed == nil || n != 0 || test.is != nil && !errors.Is(failed, test.is) || !strings.Contains(failed.Error(), test.says) {
			t.Errorf("%s: %d rows, %v", name, n, failed)
		}
		rig.Want(t, name+": rows", rig.Table(t, db), fmt.Sprintf("9=%d", at))
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// copyTracer notes what it hears of a CopyFrom.
type copyTracer struct {
	asking
	heard []string
}

type copyKey struct{}

func (c *copyTracer) TraceCopyFromStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	c.heard = append(c.heard, fmt.Sprintf("%v%v %t", data.TableName, data.ColumnNames, conn != nil))
	return context.WithValue(ctx, copyKey{}, "begun")
}

func (c *copyTracer) TraceCopyFromEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceCopyFromEndData) {
	c.heard = append(c.heard, fmt.Sprintf("%v: %v %v %t", ctx.Value(copyKey{}), data.CommandTag, data.Err, conn != nil))
}

// A tracer of the service hears of each CopyFrom, as the driver tells it.
func TestTracerHearsOfCopyFrom(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	cfg, tracer := db.Config(), &copyTracer{}
	cfg.ConnConfig.Tracer = tracer
	traced, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	broken := errors.New("the source is broken")
	w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		n, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromRows([][]any{{row, 1}, {row + 1, 2}}))
		if err != nil || n != 2 {
			return fmt.Errorf("%d rows, %w", n, err)
		}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"public", "t"}, []string{"id"}, endedRows{broken})
		return idem.Permanent(err)
	}}.Consumer(t, traced))
	rig.Apply(t, w, rig.Records(0, "call 1"))
	rig.Want(t, "heard", strings.Join(tracer.heard, ", "), "[t][id v] true, begun: COPY 2 <nil> true, [public t][id] true, begun:  the source is broken true")
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
}

// A right that COPY lacks is named by the INSERT that needs the same.
func TestCopyFromNamesTheRightThatIsMissing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE ROLE copies NOLOGIN; GRANT SELECT ON t TO copies`)
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), `DROP OWNED BY copies; DROP ROLE copies`) })
	var failed error
	w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SET LOCAL ROLE copies`)
		if err == nil {
			_, failed = tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromRows([][]any{{1, 1}}))
		}
		return errors.Join(err, failed)
	}}.Consumer(t, db))
	_, _ = w.Apply(t.Context(), rig.Records(0, "call 1"))
	rig.WantText(t, failed, `GRANT INSERT ON "t"`)
}
