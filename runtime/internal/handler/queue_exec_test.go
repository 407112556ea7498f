package handler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// drawn is a statement of a drawn handler, with the row count that the handler demands; -1 is any.
type drawn struct {
	sql  string
	args []any
	rows int64
}

// drawHandler draws what the handler of a record does, and how it ends.
func drawHandler(seed uint64, row int32) (statements []drawn, end func() error) {
	r := rand.New(rand.NewPCG(seed, uint64(row)))
	for range r.IntN(4) {
		id := r.Int32N(20)
		switch r.IntN(16) {
		case 0:
			statements = append(statements, drawn{`SELECT 1 / $1::int`, []any{r.Int32N(2)}, -1})
		case 1:
			statements = append(statements, drawn{`UPDATE t SET v = v + 300 WHERE id = $1`, []any{id}, -1})
		case 2:
			statements = append(statements, drawn{`INSERT INTO t VALUES ($1, 0)`, []any{id}, 1})
		case 3:
			statements = append(statements, drawn{`UPDATE t SET v = v + 1 WHERE id = $1`, []any{id}, 1})
		case 4:
			statements = append(statements, drawn{`DELETE FROM t WHERE id = $1`, []any{id}, -1})
		case 5:
			statements = append(statements, drawn{`SELECT set_config('search_path', current_schema() || ', pg_temp', $1)`, []any{r.IntN(2) == 0}, -1})
		case 6:
			statements = append(statements, drawn{`DO $$ BEGIN RAISE 'no' USING ERRCODE = 'ZZ001'; EXCEPTION WHEN SQLSTATE 'ZZ001' THEN END $$`, nil, -1})
		default:
			statements = append(statements, drawn{`INSERT INTO t VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, []any{id}, 1})
		}
	}
	ends := r.IntN(24)
	return statements, func() error {
		switch ends {
		case 0:
			return errors.New("no")
		case 1:
			return idem.Permanent(errors.New("never"))
		case 2:
			panic("never")
		case 3:
			runtime.Goexit()
		}
		return nil
	}
}

func demanded(of drawn) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		if of.rows >= 0 && tag.RowsAffected() != of.rows {
			return fmt.Errorf("%d rows", tag.RowsAffected())
		}
		return nil
	}
}

// A handler that waits for each answer, one that queues its statements, and one that does both
// have the same effects, and make dead letters of the same records, however their connections end.
// Which of several errors is the reason may differ.
func TestExecAndQueueDoTheSame(t *testing.T) {
	t.Parallel()
	ways := []func(ctx context.Context, tx idem.Tx, s drawn) error{
		func(ctx context.Context, tx idem.Tx, s drawn) error {
			tag, err := tx.Exec(ctx, s.sql, s.args...)
			if err != nil {
				return err
			}
			return demanded(s)(tag)
		},
		func(_ context.Context, tx idem.Tx, s drawn) error {
			q := tx.Queue(s.sql, s.args...)
			if s.rows >= 0 {
				q.Exec(demanded(s))
			}
			return nil
		},
	}
	both := func(ctx context.Context, tx idem.Tx, s drawn) error {
		return ways[int(s.rows+1)%2](ctx, tx, s)
	}
	seeds := 1
	if longtest.Wanted() {
		seeds = 40
	}
	for seed := range uint64(seeds) {
		var first, kills string
		for way, do := range append(ways, both) {
			db := rig.Database(t)
			c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				statements, end := drawHandler(seed, row)
				for _, s := range statements {
					if err := do(ctx, tx, s); err != nil {
						return err
					}
				}
				return end()
			}}.Consumer(t, db)
			var texts []string
			for i := range 300 {
				texts = append(texts, fmt.Sprintf("call %d", i))
			}
			src := rig.NewSource(rig.Records(0, texts...))
			stop := killing(t, db, seed)
			err := src.Consume(t, c)
			kills += fmt.Sprintf(" %d", stop())
			if err != nil {
				t.Fatalf("seed %d, way %d: %v", seed, way, err)
			}
			got := rig.Table(t, db) + "; " + rig.Letters(t, db)
			if way == 0 {
				first = got
			}
			rig.Want(t, fmt.Sprintf("seed %d, way %d", seed, way), got, first)
		}
		t.Logf("seed %d: killed%s; %s", seed, kills, first)
	}
}

// killing terminates connections of the service from time to time, until stop, which returns how
// many.
func killing(t *testing.T, db *pgxpool.Pool, seed uint64) (stop func() int) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		r, n := rand.New(rand.NewPCG(seed, 0)), 0
		for n < 4 && ctx.Err() == nil {
			time.Sleep(time.Duration(r.IntN(int(20 * time.Millisecond))))
			tag, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend' LIMIT 1`)
			if err == nil {
				n += int(tag.RowsAffected())
			}
		}
		conn.Close(context.WithoutCancel(ctx))
		done <- n
	}()
	return func() int { cancel(); return <-done }
}
