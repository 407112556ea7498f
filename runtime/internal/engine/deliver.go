package engine

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

const halveAfter = 3 // tries of a whole batch before half of it is tried

// delivery is records that a Source delivers, until they are durable.
type delivery struct{ o *Owner }

// run tries until the records are durable, the partition is gone, or a person is needed.
func (d delivery) run(ctx context.Context, records []wire.Message) error {
	o := d.o
	for try := 1; ; try++ {
		_, err := o.Apply(ctx, records)
		later, wait := errors.AsType[*verdict.Later](err)
		if !wait {
			return err
		}
		if !d.pause(ctx, later, try) {
			return errors.Join(ctx.Err(), o.life.quit.Err())
		}
		if rest := o.unseen(records); len(rest) < len(records) {
			records, try = rest, 0
		} else if try >= halveAfter {
			o.retry.Halve(len(records))
		}
	}
}

// pause waits before the next try, and while the database is away until it is back. It
// reports false if the partition or the process ends.
func (d delivery) pause(ctx context.Context, later *verdict.Later, try int) bool {
	o := d.o
	wait := backoff.Pause(try, backoff.Initial, backoff.Most)
	if later.After > 0 {
		wait = later.After
	}
	o.p.process.Counters.Waits.Add(1)
	o.p.process.Hooks.Retry(o.p.id, hook.Pause{Try: try, Wait: wait, Err: later.Err})
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	return backoff.Sleep(both, wait) && (!verdict.Away(later) || o.p.process.Prober.Wait(both, o.tellLater) == nil)
}

// tellLater says why a transaction cannot begin.
func (o *Owner) tellLater(err error) { o.p.tell(o, &verdict.Later{Err: err}) }

// connect begins a transaction: it gets a connection, and takes the step that leads to Sent. It
// waits for the connection as long as a transaction may take. Without a connection out says why.
func (o *Owner) connect(ctx context.Context) (conn *pgxpool.Conn, out outcome) {
	state, _ := o.p.at()
	if state == protocol.Backoff {
		if err := o.step(protocol.Rested, nil); err != nil {
			return nil, outcome{is: over, err: err}
		}
		state = protocol.Ready
	}
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err != nil {
		switch e := verdict.Of(err).Event(); {
		case e == protocol.Fatal && state == protocol.Doubt:
			return nil, failure(err)
		case e != protocol.Fatal && e != protocol.Resource, state == protocol.Doubt:
			return nil, outcome{is: unsent, err: err}
		}
	}
	next := protocol.Due
	if state == protocol.Doubt {
		next = protocol.Connected
	}
	if stepErr := o.step(next, nil); stepErr != nil {
		if conn != nil {
			conn.Release()
		}
		return nil, outcome{is: over, err: stepErr}
	}
	return conn, failure(err)
}
