package audit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// Place is a record of the topic.
type Place struct {
	Partition int32
	Offset    int64
}

// State is what became of a dead letter, as the database has it.
type State byte

// What becomes of dead letters.
const (
	Open      State = 'd'
	Replayed  State = 'r'
	Discarded State = 'x'
)

// Decision is an operator's about a dead letter.
type Decision struct {
	Place
	To   State // Replayed or Discarded
	Must bool  // it cannot have been refused or undone
}

// decisions are those of operators. Nobody else closes a dead letter.
type decisions struct {
	all      []Decision
	replayed map[Place]bool // letters whose replay the audit has seen
}

// Decide tells an audit all that operators have decided until now. Those that must have been
// carried out are told once they had the time.
func (d *decisions) Decide(all []Decision) { d.all = all }

// carriedOut compares the states of dead letters with what was decided, and replays those that
// were replayed.
func (d *decisions) carriedOut(ctx context.Context, db Querier, r *Replay) (all []Finding, err error) {
	rows, err := db.Query(ctx, `SELECT s.partition, d.offs, d.state FROM idem_dead_letter d JOIN idem_stream s USING (stream) ORDER BY d.resolved_at`)
	if err != nil {
		return nil, err
	}
	asked := map[Decision]bool{}
	for _, one := range d.all {
		one.Must = false
		asked[one] = true
	}
	is := map[Place]State{}
	var at Place
	var state State
	_, err = pgx.ForEachRow(rows, []any{&at.Partition, &at.Offset, (*byte)(&state)}, func() error {
		is[at] = state
		if state == Open {
			return nil
		}
		if !asked[Decision{Place: at, To: state}] {
			all = append(all, Finding{Altered, fmt.Sprintf("dead letter %d %d has state %c, and nobody asked for that", at.Partition, at.Offset, state)})
		}
		if m := r.dead[at]; state == Replayed && m != nil && !d.replayed[at] {
			d.replayed[at] = true
			if out := r.take(m, r.in.Try); out.Kind != oracle.Applied && out.Kind != oracle.Duplicate {
				all = append(all, Finding{Altered, fmt.Sprintf("dead letter %d %d was replayed, and cannot take effect: %v", at.Partition, at.Offset, out.Kind)})
			}
		}
		return nil
	})
	for _, one := range d.all {
		if one.Must && is[one.Place] != one.To {
			all = append(all, Finding{Lost, fmt.Sprintf("dead letter %d %d has state %c, and was to have %c", one.Partition, one.Offset, is[one.Place], one.To)})
		}
	}
	return all, err
}
