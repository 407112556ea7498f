package idem

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// watch is what a worker without a memory knows of the chain that it watches.
type watch struct {
	claim   claim       // the last one
	stream  int32       // 0 while the partition has none
	seen    ledger.Tail // the last row known; zero while there is none
	fences  int         // foreign fences that ended a memory, without progress for a while between them
	beside  *spread     // of the other chains, if that is why the partition could not begin; else nil
	acted   UUID        // the tail for which an operator's turn was given: it counts once
	turn    *turn       // how Standby ended; nil if it must be called first
	again   bool        // an operator's turn was given for a row that may have stood there before
	waited  bool        // a record came late, and its owner was given the time to apply it
	patient time.Time   // stalled transactions are not ended before
}

// turn is the permission to take over.
type turn struct {
	event protocol.Event // Quiet or Operator
	given time.Time
}

// leave keeps where a discarded memory ended.
func (v *watch) leave(o *owner) { v.stream, v.seen, v.turn = o.stream, o.tail, nil }

const (
	mostQuiet   = 10 * time.Minute
	mostWatch   = 3 * time.Second
	leastWatch  = 10 * time.Millisecond
	alarmFences = 3 // foreign fences in an hour
)

// quiet is how long the tail must stand still before its owner counts as gone: twice what
// a transaction may take, so that an owner at work has moved it, doubled after each fence
// of another.
func (w *worker) quiet() time.Duration {
	d := 2 * w.c.service.Limits.BatchTimeout
	for range w.watch.fences - 1 {
		d = min(2*d, mostQuiet)
	}
	return d
}

// Standby implements [Sink].
func (s *sink) Standby(ctx context.Context, p Partition) (TakeOver, error) {
	w := (*Consumer)(s).worker(p)
	if w == nil {
		return TakeOver{}, &FencedError{Partition: p, Reason: givenUp}
	}
	return w.standBy(ctx)
}

// standBy watches the chain until the partition may be taken over.
func (w *worker) standBy(ctx context.Context) (TakeOver, error) {
	wait := w.quiet()
	wait += rand.N(wait/4 + 1)
	pause := min(max(wait/20, leastWatch), mostWatch)
	if state, _ := w.at(); state == protocol.Halted && !sleep(ctx, pause) {
		return TakeOver{}, ctx.Err()
	}
	for since := time.Now(); ; {
		state, _ := w.at()
		switch state {
		case protocol.Off:
			return TakeOver{}, &FencedError{Partition: w.id, Reason: givenUp}
		case protocol.Standby, protocol.Halted:
		default:
			return TakeOver{Now: true}, nil // the chain changed under the owner, and nobody else holds it
		}
		blind := w.watch.seen.Token == UUID{}
		moved, operator, err := w.look(ctx)
		at := Position{Offset: w.watch.seen.Next, Epoch: w.watch.seen.Epoch}
		switch {
		case err != nil: // Health tells already that the partition stands
		case operator:
			w.watch.turn, w.watch.acted = &turn{protocol.Operator, time.Now()}, w.watch.seen.Token
			w.watch.again = blind || !moved
			return TakeOver{At: at, Now: true}, nil
		case moved:
			since, w.watch.waited = time.Now(), false
		case state == protocol.Standby && time.Since(since) >= wait:
			w.watch.turn, w.watch.again = &turn{protocol.Quiet, time.Now()}, false
			return TakeOver{At: at}, nil
		}
		if err == nil {
			if err := fault.At(ctx, fault.StandingBy); err != nil {
				return TakeOver{}, err
			}
		}
		if !sleep(ctx, pause) {
			return TakeOver{}, ctx.Err()
		}
	}
}

// look reads what was appended behind the last row seen: whether the tail is another one,
// and whether an operator appended, or an owner handed back what nobody took since. Who has
// seen no row takes the tail for an operator's.
func (w *worker) look(ctx context.Context) (moved, operator bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, assignTimeout)
	defer cancel()
	pool, err := w.c.pool(ctx)
	if err != nil {
		return false, false, err
	}
	v := &w.watch
	if v.stream == 0 { // halted for want of a ledger: who makes one, does it for us
		err := pool.QueryRow(ctx, ledger.StreamSQL, w.c.service.Consumer, w.id.Topic, v.claim.TopicID, w.id.Number).Scan(&v.stream)
		if errors.Is(err, pgx.ErrNoRows) && v.beside != nil { // or says that it may begin
			s, err := w.beside(ctx, pool, v.claim)
			return false, err == nil && s != *v.beside, err
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
	}
	t, err := tailOf(ctx, pool, v.stream)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	state, _ := w.at()
	moved = t.Token != v.seen.Token
	switch {
	case t.Token == v.acted: // nobody did anything since
	case v.seen.Token == UUID{}:
		operator = true
	case state == protocol.Standby && ledger.HandedBack(t.Info): // and nobody took it since
		operator = true
	default:
		operator = v.seen.Token != v.acted && ledger.ByOperator(v.seen.Kind, v.seen.Info)
		if moved {
			operator, err = operatorSince(ctx, pool, v.stream, v.seen.Seq, operator, state == protocol.Standby)
		}
	}
	if err == nil {
		v.seen = t
		w.lag.At(t.Next, time.Now())
	}
	return moved, operator, err
}

// operatorSince reports whether an operator appended behind a row, or before. With taken, an
// operator's row does not count if an owner fenced the partition behind it.
func operatorSince(ctx context.Context, pool *pgxpool.Pool, stream int32, seq int64, before, taken bool) (found bool, err error) {
	found = before
	rows, err := pool.Query(ctx, ledger.SinceSQL, stream, seq)
	if err != nil {
		return false, err
	}
	var kind byte
	var info string
	_, err = pgx.ForEachRow(rows, []any{&kind, &info}, func() error {
		byOperator := ledger.ByOperator(kind, info)
		found = byOperator || found && !(taken && kind == ledger.Fence)
		return nil
	})
	return found, err
}

// enter takes the step with which a take-over begins. After a FencedError or a HaltedError
// that is Standby's, or none.
func (w *worker) enter(ctx context.Context, a claim) error {
	w.watch.claim = a
	state, why := w.at()
	switch state {
	case protocol.Off:
		return w.step(protocol.Assigned, nil)
	case protocol.Fencing: // again, after an error
		return nil
	case protocol.Standby, protocol.Halted:
		return w.leaveStandby(ctx, why)
	}
	if err := w.step(protocol.Revoked, nil); err != nil { // the Source doubts its position
		return err
	}
	return w.step(protocol.Assigned, nil)
}

// late says that a record came while the partition stood by: its owner, if there is
// one, gets the time to apply it.
const late = "a record came just now, which another owner may be applying"

func (w *worker) leaveStandby(ctx context.Context, why error) error {
	v := &w.watch
	t := v.turn
	if v.turn = nil; t == nil {
		return why
	}
	if state, _ := w.at(); state == protocol.Standby {
		quiet := t.event == protocol.Quiet
		moved, operator, err := w.look(ctx)
		switch {
		case err != nil:
			return err
		case moved && (quiet || !operator):
			v.waited = false
			return &FencedError{Partition: w.id, Reason: "another owner is at work"}
		case quiet && !v.waited && time.Since(t.given) > w.quiet():
			v.waited = true
			return &FencedError{Partition: w.id, Reason: late}
		}
		if quiet {
			v.patient = time.Now().Add(w.quiet())
		}
	}
	v.waited = false
	return w.step(t.event, why) // it stands until the take-over succeeds
}

// foreignFence counts that another owner fenced this one, which ends with it. It is no
// accident when it happens again and again: two deployments have one consumer name.
func (o *owner) foreignFence() {
	w, now := o.w, time.Now()
	if o.forward.Sub(o.began) > w.quiet() {
		w.watch.fences = 0
	}
	w.watch.fences++
	o.c.stats.foreignFences.Add(1)
	if n := o.c.fences.Count(now); n == alarmFences {
		o.c.log.Error("other owners took partitions over and over: does another deployment use the consumer's name?",
			"consumer", o.c.service.Consumer, "times_in_an_hour", n)
	}
}
