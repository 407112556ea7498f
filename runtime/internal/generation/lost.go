package generation

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Nothing is added to a sealed generation or taken from it, so the upkeep counts its keys once. A
// generation that has fewer has lost them, such as in a restore. The number is compared where that
// costs least: whether there is any key when a partition is taken over, and how many when a filter
// is built, which reads all of them anyway.

// LostError means that a sealed generation has fewer keys than it should have: duplicates of their
// events would take effect again.
type LostError struct {
	Number     int32
	Have, Want int64 // keys
}

func (e *LostError) Error() string {
	return fmt.Sprintf("generation %d of keys has %d of its %d keys: a restore lost the others; restore the rows of idem_keys_%[1]d from the backup, "+
		"or accept that duplicates of their events take effect again: UPDATE idem_key_gen SET keys = NULL WHERE gen = %[1]d", e.Number, e.Have, e.Want)
}

// Uncounted returns the consumer's sealed generations whose keys are not counted yet.
func Uncounted(ctx context.Context, conn *pgx.Conn, consumer string) ([]int32, error) {
	rows, err := conn.Query(ctx, `SELECT gen FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NOT NULL AND keys IS NULL ORDER BY gen`, consumer)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// Count counts the keys of a sealed generation, and stores the number.
func Count(ctx context.Context, conn *pgx.Conn, consumer string, number int32) error {
	_, err := conn.Exec(ctx, `SELECT idem_keys_count($1::text, $2::int)`, consumer, number)
	return err
}

// emptySQL finds a sealed generation that had keys and has none. The inner query is not an EXISTS:
// the planner could make a join of that, which reads all keys.
const emptySQL = `
SELECT gen, keys FROM idem_key_gen g
WHERE consumer = $1 AND sealed_at IS NOT NULL AND keys > 0 AND (SELECT k.gen FROM idem_keys k WHERE k.gen = g.gen LIMIT 1) IS NULL
ORDER BY gen LIMIT 1`

// Empty returns a [LostError] if one of the consumer's sealed generations has lost all its keys.
func Empty(ctx context.Context, conn *pgx.Conn, consumer string) error {
	var lost LostError
	err := conn.QueryRow(ctx, emptySQL, consumer).Scan(&lost.Number, &lost.Want)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &lost
}

// whole counts the keys of a sealed generation. The error is a [LostError] if there are fewer than
// were counted after its seal.
func whole(ctx context.Context, conn *pgx.Conn, number int32, seal wire.UUID) (have int64, err error) {
	var want *int64 // nil if they were not counted yet
	err = conn.QueryRow(ctx, `
SELECT count(*), (SELECT keys FROM idem_key_gen WHERE gen = $1 AND seal = $2::text::uuid) FROM idem_keys WHERE gen = $1`, number, hex.EncodeToString(seal[:])).Scan(&have, &want)
	if err == nil && want != nil && have < *want {
		return have, &LostError{Number: number, Have: have, Want: *want}
	}
	return have, err
}
