package handler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A statement that is not sent because its context had ended fails the call, as one that the
// context ends does, even if the handler ignores it. It does not count if its savepoint is rolled
// back, and Rollback is sent whatever its context.
func TestStatementThatIsNotSentFailsTheCall(t *testing.T) {
	t.Parallel()
	gone := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	unsent := func(err error) error { // the call fails although the handler ignores it
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("got %v, want an error of the context", err)
		}
		return nil
	}
	passed := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		<-ctx.Done()
		return ctx, cancel
	}
	for name, tc := range map[string]struct {
		handle func(ctx context.Context, tx idem.Tx) error
		says   string // "" if the event takes effect
	}{
		"Exec": {func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.Exec(gone(ctx), rig.AddSQL, 1)
			return unsent(err)
		}, "the handler canceled a context of its own"},
		"Query": {func(ctx context.Context, tx idem.Tx) error {
			rows, err := tx.Query(gone(ctx), rig.AddSQL, 1)
			return cmp.Or(unsent(err), unsent(rows.Err()))
		}, "the handler canceled a context of its own"},
		"QueryRow": {func(ctx context.Context, tx idem.Tx) error {
			return unsent(tx.QueryRow(gone(ctx), rig.AddSQL, 1).Scan())
		}, "the handler canceled a context of its own"},
		"SendBatch": {func(ctx context.Context, tx idem.Tx) error {
			b := &pgx.Batch{}
			b.Queue(rig.AddSQL, 1)
			return unsent(tx.SendBatch(gone(ctx), b).Close())
		}, "the handler canceled a context of its own"},
		"CopyFrom": {func(ctx context.Context, tx idem.Tx) error {
			_, err := tx.CopyFrom(gone(ctx), pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromRows([][]any{{7, 7}}))
			return unsent(err)
		}, "the handler canceled a context of its own"},
		"a deadline that has passed": {func(ctx context.Context, tx idem.Tx) error {
			c, cancel := passed(ctx)
			defer cancel()
			_, err := tx.Exec(c, rig.AddSQL, 1)
			return unsent(err)
		}, "a context of the handler's own passed its deadline"},
		"the first Begin": {func(ctx context.Context, tx idem.Tx) error {
			c, cancel := passed(ctx)
			defer cancel()
			return pgx.BeginFunc(c, idem.PgxTx(tx), func(pgx.Tx) error { return nil })
		}, "a context of the handler's own passed its deadline"},
		"the first Begin, ignored": {func(ctx context.Context, tx idem.Tx) error {
			_, err := idem.PgxTx(tx).Begin(gone(ctx))
			return unsent(err)
		}, "the handler canceled a context of its own"},
		"Commit of a savepoint that stays": {func(ctx context.Context, tx idem.Tx) error {
			sp, err := idem.PgxTx(tx).Begin(ctx)
			if err == nil {
				_, err = sp.Exec(ctx, rig.AddSQL, 1)
			}
			return cmp.Or(err, unsent(sp.Commit(gone(ctx))))
		}, "the handler canceled a context of its own"},
		"in a savepoint that is rolled back": {func(ctx context.Context, tx idem.Tx) error {
			c, cancel := context.WithCancel(ctx)
			err := pgx.BeginFunc(c, idem.PgxTx(tx), func(sp pgx.Tx) error { // its rollback has the same context
				if _, err := sp.Exec(c, rig.AddSQL, 1); err != nil {
					return err
				}
				cancel()
				_, err := sp.Exec(c, rig.AddSQL, 1)
				return err
			})
			if err == nil {
				return errors.New("no error")
			}
			return nil
		}, ""},
		"the end of a savepoint that is rolled back": {func(ctx context.Context, tx idem.Tx) error {
			sp, err := idem.PgxTx(tx).Begin(ctx)
			if err == nil {
				_, err = sp.Exec(ctx, rig.AddSQL, 1)
			}
			return cmp.Or(err, unsent(sp.Commit(gone(ctx))), sp.Rollback(gone(ctx)))
		}, ""},
		"a second Rollback": {func(ctx context.Context, tx idem.Tx) error {
			c, cancel := context.WithCancel(ctx)
			sp, err := idem.PgxTx(tx).Begin(c)
			if err == nil {
				err = sp.Rollback(c)
			}
			cancel()
			_ = sp.Rollback(c)
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return tc.handle(ctx, tx) }}.Consumer(t, db)
			if err := rig.NewSource(rig.Records(0, "put 1 0", "call 1", "put 2 2")).Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=0 2=2")
			reason := rig.Query(t, db, `SELECT coalesce(max(reason), '') FROM idem_dead_letter WHERE offs = 1`)
			if (reason == "") != (tc.says == "") || !strings.Contains(reason, tc.says) {
				t.Errorf("reason %q, want %q", reason, tc.says)
			}
		})
	}
}
