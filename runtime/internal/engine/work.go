package engine

import (
	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/wire"
)

// work is what a transaction does: it applies records from the position on, or settles a dead
// letter.
type work struct {
	records []wire.Message    // to be applied; none if only the position moves, or a letter is discarded
	end     idemtype.Position // the log has no record between the last one and here
	letter  *letter           // nil for records from the position on
	retries *retry.State      // earlier failures of the records
	desk    Desk              // for the effects of the records; nil if no event of the topic has one
}

// batch is work for records from the position on.
func (o *Owner) batch(records []wire.Message) *work {
	return &work{records: records, retries: o.retry, desk: o.desk}
}

// row returns the row of the chain, after the tail, for an attempt. A batch moves the position
// past the records, or to the end of the work if that is larger.
func (w *work) row(a *chain.Attempt, d *decide.Decision, tail ledger.Tail) {
	if w.letter != nil {
		w.letter.row(a, d, tail)
		return
	}
	a.Row.Kind, a.Row.Next, a.Row.Epoch, a.Row.Letters = ledger.Batch, d.Next(), d.Epoch(tail.Epoch), d.InRow
	if w.end.Offset > a.Row.Next {
		a.Row.Next, a.Row.Epoch = w.end.Offset, w.end.Epoch
	}
	a.Result, a.Moves, a.InRow = d.Result, d.Moves, d.InRow
}

// effects returns the known results of effects. A record whose effect was rejected becomes a dead
// letter, unless a duplicate of it has taken effect meanwhile.
func (w *work) effects() map[int64]wire.EffectResult {
	if w.desk == nil {
		return nil
	}
	results, refused := w.desk.Outcomes()
	for _, l := range refused {
		w.retries.Refuse(l)
	}
	w.retries.Called(results)
	return results
}
