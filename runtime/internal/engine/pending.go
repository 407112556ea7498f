package engine

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/wire"
)

// pending is a statement to be sent.
type pending struct {
	pipeline.Statement
	of   *wire.Call // that is blamed for an error; nil for the protocol's and the spec's statements
	is   kind
	asks *pgx.QueuedQuery // may have a callback, which may refuse the commit; or nil
	ends bool             // the last one of its call: the call has succeeded
}

type kind uint8

const (
	write    kind = iota // of the runtime, of a step, or queued by the call
	checks               // checks the transaction after the call
	restores             // also undoes what the call left in the session
)

// size measures what handlers have queued.
type size struct{ statements, bytes int }

// most limits the memory of what is queued. A batch of the default size, with handlers that queue
// two statements, is sent at once.
var most = size{statements: 1000, bytes: 1 << 20}

// add adds statements that no call is blamed for.
func (x *explicit) add(statements ...pipeline.Statement) {
	for _, s := range statements {
		x.pending = append(x.pending, pending{Statement: s})
	}
}

// keep keeps the larger memory of pending statements for the next transaction, if it is not too
// much.
func (o *Owner) keep(all ...[]pending) {
	for _, free := range all {
		if n := cap(free); n > cap(o.spare) && n <= 2*most.statements {
			o.spare = free[:0]
		}
	}
}

// Queue implements [handler.Outlet].
func (x *explicit) Queue(of *wire.Call, s pipeline.Statement, q *pgx.QueuedQuery) (full bool) {
	x.pending = append(x.pending, pending{Statement: s, of: of, asks: q})
	x.queued.statements++
	for _, arg := range s.Args {
		x.queued.bytes += len(arg)
	}
	return x.full()
}

// full reports whether what is queued should be sent: it is much, or will take a part of the time
// after which the transaction ends early.
func (x *explicit) full() bool {
	took := time.Duration(x.queued.statements) * x.o.pace
	return x.queued.statements >= most.statements || x.queued.bytes >= most.bytes || took > x.o.limits().BatchTimeout/(3*shareOfTime)
}

// paced notes how long a queued statement took, on average.
func (x *explicit) paced(sent []pending, r pipeline.Reply, took time.Duration) {
	n := 0
	for i := range min(len(sent), r.Answered+1) { // the last one may have been interrupted
		if sent[i].asks != nil {
			n++
		}
	}
	if n > 0 {
		x.o.pace = took / time.Duration(n)
	}
}

// asks reports whether a queued statement has a callback.
func (x *explicit) asks() bool {
	for i := range x.pending {
		if q := x.pending[i].asks; q != nil && q.Fn != nil {
			return true
		}
	}
	return false
}

// Pending implements [handler.Outlet].
func (x *explicit) Pending() bool { return x.err != nil || len(x.pending) > 0 }

// send adds what is pending to a pipeline.
func (x *explicit) send(p *pipeline.Pipeline) (sent []pending) {
	sent, x.pending, x.spare = x.pending, x.spare, nil
	p.Expect(len(sent))
	for i := range sent {
		p.Add(sent[i].Statement)
	}
	x.began, x.behind, x.queued = true, 0, size{}
	return sent
}
