package handler_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The end of a context that a handler made is the handler's error, and named so, whatever was done
// with it.
func TestContextOfAHandlerIsTheHandlers(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const slow = `SELECT 1 FROM pg_sleep(60)`
	get := func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+silent.Addr().String(), nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	ways := map[string]func(ctx context.Context, tx idem.Tx) error{
		"Exec": func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.Exec(ctx, slow)
			return err
		},
		"Exec with arguments": func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.Exec(ctx, `SELECT pg_sleep($1)`, 60)
			return err
		},
		"Query": func(ctx context.Context, tx idem.Tx) error {
			rows, _ := tx.Query(ctx, `SELECT i, pg_sleep(i) FROM generate_series(0, 60, 60) AS i`)
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
		"QueryRow": func(ctx context.Context, tx idem.Tx) error { return tx.QueryRow(ctx, slow).Scan(new(int)) },
		"SendBatch": func(ctx context.Context, tx idem.Tx) error {
			b := &pgx.Batch{}
			b.Queue(`SELECT 1`)
			b.Queue(slow)
			return tx.SendBatch(ctx, b).Close()
		},
		"savepoint": func(ctx context.Context, tx idem.Tx) error {
			return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(s pgx.Tx) error {
				_, err := s.Exec(ctx, slow)
				return err
			})
		},
		"Conn": func(ctx context.Context, tx idem.Tx) error {
			_, err := idem.PgxTx(tx).Conn().Exec(ctx, slow)
			return err
		},
		"CopyFrom": func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromSlice(2, func(i int) ([]any, error) {
				<-ctx.Done()
				time.Sleep(100 * time.Millisecond)
				return []any{100 + i, 1}, nil
			}))
			return err
		},
		"a statement after it": func(ctx context.Context, tx idem.Tx) error {
			<-ctx.Done()
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"a request":      func(ctx context.Context, _ idem.Tx) error { return get(ctx) },
		"nothing":        func(ctx context.Context, _ idem.Tx) error { <-ctx.Done(); return ctx.Err() },
		"an ignored end": func(ctx context.Context, tx idem.Tx) error { _, _ = tx.Exec(ctx, slow); return nil },
	}
	db := rig.Database(t)
	var handle func(ctx context.Context, tx idem.Tx) error
	c := rig.Service{
		Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return handle(ctx, tx) },
		Edit: func(s *wire.Service) { // which end nothing here
			s.Limits.EventTimeout, s.Limits.StatementTimeout, s.Limits.BatchTimeout = time.Minute, 2*time.Minute, 3*time.Minute
		},
	}.Consumer(t, db)
	next := int64(0)
	for way, run := range ways {
		for says, begin := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"a context of the handler's own passed its deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 50*time.Millisecond)
			},
			"the handler canceled a context of its own": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(50*time.Millisecond, cancel)
				return ctx, cancel
			},
		} {
			calls := 0
			handle = func(ctx context.Context, tx idem.Tx) error {
				calls++
				ctx, cancel := begin(ctx)
				defer cancel()
				return run(ctx, tx)
			}
			if err := rig.NewSource(rig.Records(next, "put 1 1", "call 1", "put 2 2")).Consume(t, c); err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			next += 3
			reason := rig.Query(t, db, `SELECT coalesce((SELECT reason FROM idem_dead_letter WHERE offs = $1), 'none')`, next-2)
			if !strings.HasPrefix(reason, "handler: Test: "+says+": ") || calls < 1+rig.Impatient.Retries { // a slow machine may end a transaction and call once more
				t.Errorf("%s: %d calls, dead letter %q", way, calls, reason)
			}
		}
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}
