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

// claim inserts an id, and reports whether it was new.
func claim(ctx context.Context, db session, id string) (bool, error) {
	tag, err := db.Exec(ctx, `INSERT INTO processed (id) VALUES ($1) ON CONFLICT DO NOTHING`, id)
	return tag.RowsAffected() == 1, err
}

// claimWithEffect is the recipe that is right: id and effect are one transaction, and the primary
// key decides who was first.
func claimWithEffect(ctx context.Context, db *pgxpool.Pool, m idem.Message, between gap) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		fresh, err := claim(ctx, tx, key(m))
		if err != nil || !fresh {
			return err
		}
		if err := between.pass(); err != nil {
			return err
		}
		return book(ctx, tx, m)
	})
}

// claimThenEffect and effectThenClaim have a row per message, too, in a transaction of its own.
func claimThenEffect(ctx context.Context, db *pgxpool.Pool, m idem.Message, between gap) error {
	fresh, err := claim(ctx, db, key(m))
	if err != nil || !fresh {
		return err
	}
	if err := between.pass(); err != nil {
		return err
	}
	return book(ctx, db, m)
}

func effectThenClaim(ctx context.Context, db *pgxpool.Pool, m idem.Message, between gap) error {
	if found, err := known(ctx, db, key(m)); err != nil || found {
		return err
	}
	if err := book(ctx, db, m); err != nil {
		return err
	}
	if err := between.pass(); err != nil {
		return err
	}
	_, err := claim(ctx, db, key(m))
	return err
}

// A crash between a row per message and its effect loses the event or doubles it, unless both are
// one transaction.
func TestRowPerMessageApartFromItsEffect(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 100)
	for _, recipe := range []struct {
		name string
		play func(context.Context, *pgxpool.Pool, idem.Message, gap) error
		want int
	}{
		{"id first: lost", claimThenEffect, 0},
		{"effect first: doubled", effectThenClaim, 200},
		{"one transaction: right", claimWithEffect, 100},
	} {
		db := processed(t)
		crashed(t, recipe.play(t.Context(), db, m, crash))
		must(t, recipe.play(t.Context(), db, m, nil)) // the record is delivered again
		balance(t, db, recipe.name, recipe.want)
	}
	crashesOfGeneratedCode(t)
}

// crashesOfGeneratedCode applies a payment for each step at which a transaction can be cut off.
// The generated tests do so with each event, and in batches.
func crashesOfGeneratedCode(t *testing.T) {
	t.Helper()
	db, crashes := idemtest.Migrated(t, "migrations"), 0
	w := own(t, db, payments, 0)
	for i, step := range idemtest.Steps {
		m := received(int64(i), step, 100)
		if crashAt(t, w, step, m) {
			crashes++
			w = own(t, db, payments, 0)
		}
		if _, err := w.Apply(t.Context(), []idem.Message{m}); err != nil {
			t.Fatal(err)
		}
		balance(t, db, "generated, "+step, 100*(i+1))
	}
	if crashes < 2 {
		t.Errorf("%d crashes only", crashes)
	}
}

// selectThenInsert looks first and writes later, and sends a mail in between.
func selectThenInsert(ctx context.Context, db *pgxpool.Pool, m idem.Message, mail func(), between gap) error {
	if found, err := known(ctx, db, key(m)); err != nil || found {
		return err
	}
	if err := between.pass(); err != nil {
		return err
	}
	mail()
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := book(ctx, tx, m); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO processed (id) VALUES ($1)`, key(m))
		return err
	})
}

// Two workers have copies of one event, and both look before either has written. Without a unique
// key it counts twice. With one the database holds the second worker back, but not its mail.
func TestSelectThenInsertRaces(t *testing.T) {
	t.Parallel()
	first, second := received(0, "a", 100), moved(received(0, "a", 100), 1, 0)
	for unique, want := range map[bool]int{false: 200, true: 100} {
		db, mails := processed(t), 0
		if !unique {
			idemtest.Exec(t, db, `ALTER TABLE processed DROP CONSTRAINT processed_pkey`)
		}
		mail := func() { mails++ }
		err := selectThenInsert(t.Context(), db, first, mail, func() error {
			return selectThenInsert(t.Context(), db, second, mail, nil)
		})
		if refused, ok := errors.AsType[*pgconn.PgError](err); unique != (ok && refused.ConstraintName == "processed_pkey") {
			t.Errorf("unique %t: the slower worker got %v", unique, err)
		}
		must(t, selectThenInsert(t.Context(), db, first, mail, nil)) // tried again: known now
		balance(t, db, "select, then insert", want)
		if mails != 2 {
			t.Errorf("%d mails, want 2", mails)
		}
	}
	db := idemtest.Migrated(t, "migrations")
	slow, fast := own(t, db, payments, 0), own(t, db, payments, 1)
	between := idemtest.AtSteps(t.Context(), func(step string) error {
		if step == idemtest.Steps[0] {
			apply(t, fast, idem.Result{Applied: 1}, second)
		}
		return nil
	})
	if got, err := slow.Apply(between, []idem.Message{first}); err != nil || got != (idem.Result{Duplicates: 1}) {
		t.Errorf("generated: %+v, %v", got, err)
	}
	balance(t, db, "generated", 100)
}
