package textbook

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

func keys(log []idem.Message) (all []string) {
	for _, m := range log {
		all = append(all, key(m))
	}
	return all
}

// lookThenWrite asks once which ids of a batch are known, applies the others, and writes their ids
// by one statement: all of it in one transaction.
func lookThenWrite(ctx context.Context, db *pgxpool.Pool, log []idem.Message, write string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var seen []string
		err := tx.QueryRow(ctx, `SELECT coalesce(array_agg(id), '{}') FROM processed WHERE id = ANY ($1)`, keys(log)).Scan(&seen)
		if err != nil {
			return err
		}
		before := map[string]bool{}
		for _, id := range seen {
			before[id] = true
		}
		var fresh []idem.Message
		for _, m := range log {
			if !before[key(m)] {
				fresh = append(fresh, m)
				if err := book(ctx, tx, m); err != nil {
					return err
				}
			}
		}
		_, err = tx.Exec(ctx, write, keys(fresh))
		return err
	})
}

// One id is twice in a batch: the producer sent it again at once. What asked before the batch was
// written does not see the first copy.
func TestSameIDTwiceInABatch(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 100)
	log := []idem.Message{m, moved(m, 0, 1), received(2, "b", 1000)}
	for _, recipe := range []struct {
		name, write, code string
		want              int
	}{
		{"ids by INSERT", `INSERT INTO processed (id) SELECT unnest($1::text[])`, "23505", 0},
		{"ids by upsert", `INSERT INTO processed (id) SELECT unnest($1::text[]) ON CONFLICT (id) DO UPDATE SET created_at = now()`, "21000", 0},
		{"ids by INSERT that does nothing", `INSERT INTO processed (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, "", 1200},
	} {
		db := processed(t)
		for range 2 { // no try gets further than the one before
			code := ""
			err := lookThenWrite(t.Context(), db, log, recipe.write)
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
				code = refused.Code
			}
			if code != recipe.code {
				t.Errorf("%s: %v, want code %q", recipe.name, err, recipe.code)
			}
		}
		balance(t, db, recipe.name, recipe.want)
	}
	db := idemtest.Migrated(t, "migrations")
	w := own(t, db, payments, 0)
	apply(t, w, idem.Result{Applied: 2, Duplicates: 1}, log...)
	balance(t, db, "generated", 1100)
}
