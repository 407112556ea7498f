package engine

import (
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// erase are the statements that erase what is kept of record keys, for the events of a decision
// that say so. They come last: what the transaction itself writes of records before such an event
// goes, too.
func erase(o *Owner, d *decide.Decision, settles *deadletter.Settling) []pipeline.Statement {
	if len(d.Erased) == 0 {
		return nil
	}
	s := o.p.process.Service
	of := deadletter.Erased(s.Consumer, s.ErasedBy(o.p.topic), o.chain.Stream(), d.Erased)
	return []pipeline.Statement{deadletter.EraseStatement(of, o.chain.Seq(), settles == nil), o.p.process.Leases.Erase(of)}
}

// trace is by what the lease of a record's effect is found when its result is to be erased; nil if
// no event erases it.
func (t *transaction) trace(m *wire.Message) *lease.Trace {
	o := t.o
	key := deadletter.OrderKey(m)
	if key == nil || !o.p.process.Service.Erasable(o.p.topic) {
		return nil
	}
	return &lease.Trace{Stream: o.chain.Stream(), Offset: m.Offset, OrderKey: *key}
}
