package audit

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// JournalSQL makes a trigger on orders that writes down every effect in the transaction and
// in the order in which it happens: final rows alone cannot tell a doubled effect from one
// that was lost, nor two effects that came in the wrong order.
//
//go:embed journal.sql
var JournalSQL string

// orderHistory is what must happen to one order.
type orderHistory struct {
	effects []string
	exists  bool
}

// addOrder adds what an event that takes effect does to its order.
func (r *Replay) addOrder(event string, m *wire.Message) {
	id := string(m.Key)
	h := r.orders[id]
	if h == nil {
		h = &orderHistory{}
		r.orders[id] = h
	}
	r.touched[id] = true
	var e struct{ Carrier, Amount string }
	if event != "OrderErased" {
		_ = json.Unmarshal(m.Value, &e) // it decoded for the oracle; other members have other types
	}
	switch event {
	case "OrderPlaced":
		h.exists = true
		h.effects = append(h.effects, "placed")
	case "OrderShipped":
		h.effects = append(h.effects, "shipped "+e.Carrier)
	case "OrderPaid":
		h.effects = append(h.effects, "paid "+e.Amount)
	case "OrderErased":
		if h.exists { // a tombstone that Kafka holds twice finds nothing
			h.effects = append(h.effects, "erased")
		}
		h.exists = false
	}
}

// journal reads what happened to each order.
func journal(ctx context.Context, db Querier) (map[string][]string, error) {
	rows, err := db.Query(ctx, `SELECT order_id::text, effect FROM audit_journal ORDER BY n`)
	if err != nil {
		return nil, err
	}
	got := map[string][]string{}
	var id, effect string
	_, err = pgx.ForEachRow(rows, []any{&id, &effect}, func() error {
		got[id] = append(got[id], effect)
		return nil
	})
	return got, err
}

// compareJournal finds lost, doubled and reordered effects, order by order.
func (r *Replay) compareJournal(got map[string][]string) []Finding {
	var all []Finding
	for id, h := range r.orders {
		all = append(all, compareEffects(id, h.effects, got[id])...)
	}
	for id, effects := range got {
		if r.orders[id] == nil {
			all = append(all, compareEffects(id, nil, effects)...)
		}
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What)) })
	return all
}

func compareEffects(id string, want, got []string) []Finding {
	var all []Finding
	missing, extra := difference(want, got)
	for _, effect := range missing {
		all = append(all, Finding{Lost, fmt.Sprintf("order %s: %s", id, effect)})
	}
	for _, effect := range extra {
		all = append(all, Finding{Doubled, fmt.Sprintf("order %s: %s", id, effect)})
	}
	if both, seen := without(want, missing), without(got, extra); !slices.Equal(both, seen) {
		all = append(all, Finding{Reordered, fmt.Sprintf("order %s: must be %q, was %q", id, both, seen)})
	}
	return all
}

// without are the lines but for those taken, the last ones of equal lines first.
func without(lines, taken []string) []string {
	out := slices.Clone(lines)
	for _, l := range taken {
		for i := len(out) - 1; i >= 0; i-- {
			if out[i] == l {
				out = slices.Delete(out, i, i+1)
				break
			}
		}
	}
	return out
}
