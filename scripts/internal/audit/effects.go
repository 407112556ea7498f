package audit

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// effects are those of the journal that were read, order by order.
type effects struct {
	happened map[string][]string
	wrong    map[string][]Finding // of the orders that were not as they must be
	again    map[int64]bool       // rows that the next look may find again
	since    string               // all transactions before this one had ended
}

func newEffects() effects {
	return effects{happened: map[string][]string{}, wrong: map[string][]Finding{}, since: "0"}
}

// Effects audits the effects on orders and the dead letters. It takes as long as what happened
// since the last call did, not as the whole log: a program may call it each second.
func (a *Auditor) Effects(ctx context.Context, db *pgx.Conn, log []*wire.Message) (all []Finding, err error) {
	err = pgx.BeginTxFunc(ctx, db, snapshot, func(tx pgx.Tx) error {
		if err := a.advance(ctx, tx, log); err != nil {
			return err
		}
		if all, err = a.replay.compareLetters(ctx, tx); err != nil {
			return err
		}
		touched, err := a.read(ctx, tx)
		if err != nil {
			return err
		}
		maps.Copy(touched, a.replay.touched)
		clear(a.replay.touched)
		for id := range touched {
			var want []string
			if h := a.replay.orders[id]; h != nil {
				want = h.effects
			}
			delete(a.wrong, id)
			if found := compareEffects(id, want, a.happened[id]); len(found) > 0 {
				a.wrong[id] = found
			}
		}
		for _, id := range slices.Sorted(maps.Keys(a.wrong)) {
			all = append(all, a.wrong[id]...)
		}
		return nil
	})
	return all, err
}

// read adds what has been committed to the journal since the last time, and tells whose it is.
// Rows of one order are committed in the order of their numbers, those of others are not.
func (e *effects) read(ctx context.Context, db Querier) (touched map[string]bool, err error) {
	var since string
	if err := db.QueryRow(ctx, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text`).Scan(&since); err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `SELECT n, order_id::text, effect FROM audit_journal WHERE tx >= $1::text::xid8 ORDER BY n`, e.since)
	if err != nil {
		return nil, err
	}
	type effect struct {
		n         int64
		order, is string
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (f effect, err error) {
		return f, r.Scan(&f.n, &f.order, &f.is)
	})
	if err != nil {
		return nil, err
	}
	touched, again := map[string]bool{}, map[int64]bool{}
	for _, f := range found {
		again[f.n] = true
		if !e.again[f.n] {
			e.happened[f.order] = append(e.happened[f.order], f.is)
			touched[f.order] = true
		}
	}
	e.again, e.since = again, since
	return touched, nil
}
