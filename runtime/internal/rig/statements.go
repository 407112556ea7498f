package rig

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// AddOne adds one to a row, which must be there.
func AddOne(ctx context.Context, tx idem.Tx, row int32) error {
	tag, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
	if err == nil && tag.RowsAffected() == 0 {
		err = idem.Permanent(errors.New("no such row"))
	}
	return err
}

// Impatient is a policy of two retries without a wait.
var Impatient = wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}

// NilError has a method that panics for a nil pointer, as most errors have.
type NilError struct{ text string }

func (e *NilError) Error() string { return e.text }

// Trigger has body run before every row that is inserted into t.
func Trigger(t testing.TB, db *pgxpool.Pool, body string) {
	t.Helper()
	idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN `+body+`; RETURN NEW; END $$;
CREATE TRIGGER judge BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION judge()`)
}

// AddSQL adds one to a row.
const AddSQL = `UPDATE t SET v = v + 1 WHERE id = $1`

// AddOrQueue adds one to a row. It waits for the answer if the row's number is positive, queues
// the statement if it is negative, and below -100 it queues it with a callback.
func AddOrQueue(ctx context.Context, tx idem.Tx, row int32) error {
	switch {
	case row < -100:
		tx.Queue(AddSQL, -row-100).Exec(OneRow)
	case row < 0:
		tx.Queue(AddSQL, -row)
	default:
		return AddOne(ctx, tx, row)
	}
	return nil
}

// OneRow is the callback that wants one row to be affected.
func OneRow(tag pgconn.CommandTag) error {
	if tag.RowsAffected() != 1 {
		return idem.Permanent(errors.New("no such row"))
	}
	return nil
}
