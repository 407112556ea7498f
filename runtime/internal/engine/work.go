package engine

import (
	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/wire"
)

// work is what a transaction is for: a [batch] of records, or a dead [letter] that is settled.
type work interface {
	// records are what is decided. A letter has its own, or none if it is discarded.
	records() []wire.Message
	// replays reports whether the record is a dead letter's: that it is refused halts nothing.
	replays() bool
	// retries are what is known of failures of the records.
	retries() *retry.State
	// desk has the effects of the records; nil if no event of the topic has one.
	desk() Desk
	// accepts reports whether a decision may be sent.
	accepts(d *decide.Decision) bool
	// row says what an attempt to do what was decided is in the chain, after the tail.
	row(a *chain.Attempt, d *decide.Decision, tail ledger.Tail)
	// ending are the last statements of the transaction.
	ending() []pipeline.Statement
	// follow does what follows from a failed transaction, and takes the protocol's step for it.
	follow(n retry.Next) error
}

// batch is records from the position on, or none if only the position moves.
type batch struct {
	o   *Owner
	all []wire.Message
	end idemtype.Position // the log holds no record from the last one to here
}

func (b *batch) records() []wire.Message       { return b.all }
func (b *batch) replays() bool                 { return false }
func (b *batch) retries() *retry.State         { return b.o.retry }
func (b *batch) desk() Desk                    { return b.o.desk }
func (b *batch) accepts(*decide.Decision) bool { return true }
func (b *batch) ending() []pipeline.Statement  { return nil }
func (b *batch) follow(n retry.Next) error     { return b.o.follow(n) }

// row moves the position after the records, or to end if end is larger.
func (b *batch) row(a *chain.Attempt, d *decide.Decision, tail ledger.Tail) {
	a.Row.Kind, a.Row.Next, a.Row.Epoch, a.Row.Letters = ledger.Batch, d.Next(), d.Epoch(tail.Epoch), d.InRow
	if b.end.Offset > a.Row.Next {
		a.Row.Next, a.Row.Epoch = b.end.Offset, b.end.Epoch
	}
	a.Result, a.Moves, a.InRow = d.Result, d.Moves, d.InRow
}
