package idem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keyRaces is how often a batch is built anew because another claimed one of its keys
// meanwhile, before it waits like after any other conflict.
const keyRaces = 5

// windowRows is how many rows of the chain stay behind the tail: with keys that are not
// stored in it, they serve people who look, and owners that settle a doubt.
const windowRows = 100

// work is one transaction, ready to be sent.
type work struct {
	records []Message
	end     int64 // no record stands between the last one and here
	steps   []wire.Step
	claims  []wire.Claim // that go into idem_keys
	hidden  []Key        // that decide about conflicts
	keys    keyset.Row   // that go into the appended row
	letters []letter
	result  Result
	known   *known
	inRow   ledger.InRow // dead letters since the last record that took effect
}

// transact applies records as one transaction and moves forward when it is acknowledged, to
// end if that is behind them. After an error nothing moved; whether the transaction committed
// may be open.
func (o *owner) transact(ctx context.Context, records []Message, end int64) (res Result, err error) {
	if o.quit.Err() != nil {
		return res, o.ended()
	}
	defer func() {
		if r := recover(); r != nil {
			o.batch = nil // its buffers may hold half a record
			stack := string(debug.Stack())
			if p, ok := r.(*watchdog.Panic); ok { // on the goroutine of the handlers
				r, stack = p.Value, p.Stack
			}
			o.c.log.Error("the runtime panicked", "topic", o.id.Topic, "partition", o.id.Number, "panic", panicText(r), "stack", stack)
			err = o.halted(halt.Runtime, firstOf(records), "the runtime panicked: please report it", nil)
		}
	}()
	conn, err := o.connect(ctx)
	if err != nil {
		return res, err
	}
	defer release(conn)
	ctx, cancel := o.deadline(ctx) // the wait for a connection is no record's fault
	defer cancel()
	res, err = o.transactOn(ctx, conn, records, end)
	return res, o.overdue(ctx, "batch_timeout", o.c.service.Limits.BatchTimeout, o.textOf(records), err)
}

// transactOn is transact on a connection.
func (o *owner) transactOn(ctx context.Context, conn *pgxpool.Conn, records []Message, end int64) (res Result, err error) {
	if err := fault.At(ctx, fault.BeforeSend); err != nil {
		return res, err
	}
	for race := 0; ; race++ {
		w, known, err := o.prepare(ctx, conn, records)
		if err != nil || known {
			return w.result, err
		}
		w.end = end
		if err := o.room(ctx, conn, w); err != nil {
			return res, err
		}
		if err := fault.At(ctx, fault.BeforeClaim); err != nil {
			return res, err
		}
		done, err := o.send(ctx, conn, w)
		if err != nil && pgerror.Of(err) == pgerror.KeyRace {
			o.race(err)
			if race < keyRaces {
				continue
			}
		}
		switch pgerror.Of(err) {
		case pgerror.Stale: // its statements were prepared before the schema changed
			_ = conn.Conn().Close(ctx)
		case pgerror.ReadOnly: // and so is every other connection to this server
			_ = conn.Conn().Close(ctx)
			o.c.reconnect()
		}
		return done, err
	}
}

// connect begins a transaction: it gets a connection, for which it waits as long as a
// transaction may take, and takes the step that leads to Sent.
func (o *owner) connect(ctx context.Context) (*pgxpool.Conn, error) {
	state, _ := o.w.at()
	if state == protocol.Backoff {
		if err := o.step(protocol.Rested, nil, nil); err != nil {
			return nil, err
		}
		state = protocol.Ready
	}
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.c.acquire(ctx, o.tellWait)
	if err != nil {
		switch e := pgerror.Of(err).Event(); {
		case e == protocol.Fatal && state == protocol.Doubt:
			return nil, err
		case e != protocol.Fatal && e != protocol.Resource, state == protocol.Doubt:
			return nil, &connectError{err}
		}
	}
	next := protocol.Due
	if state == protocol.Doubt {
		next = protocol.Connected
	}
	if stepErr := o.step(next, nil, nil); stepErr != nil {
		if conn != nil {
			conn.Release()
		}
		return nil, stepErr
	}
	return conn, err
}

// deadline is the context of one transaction, and of the wait for its connection. A
// transaction begun is finished although ctx ends, for the batch's time; a partition that is
// lost ends it at once.
func (o *owner) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.c.service.Limits.BatchTimeout)
	stop := context.AfterFunc(o.life, cancel)
	return free, func() { stop(); cancel() }
}

// prepare decides what records do: it builds the transaction and tests the keys that it
// claims. If that shows that an earlier attempt of ours committed, it adopts that instead
// and reports settled, with the attempt's result.
func (o *owner) prepare(ctx context.Context, conn *pgxpool.Conn, records []Message) (w *work, settled bool, err error) {
	w, err = o.build(records, &known{owner: o, apart: o.c.surveyed.Load(), now: time.Now()})
	w, err = o.look(ctx, conn, w, err)
	if errors.Is(err, errOwnKey) {
		res, err := o.resolve(ctx, conn)
		return &work{result: res}, err == nil, err
	}
	return w, false, err
}

// build turns records into statements. It may be called any number of times for the same
// records: nothing of an earlier time is kept.
func (o *owner) build(records []Message, known *known) (*work, error) {
	if o.batch == nil {
		o.batch = wire.NewBatch(o.topic.NewPlan())
	}
	w := &work{records: records, inRow: o.row, known: known}
	known.apart.keepApart(o.batch, o.id.Topic)
	o.batch.Reset(remembered{o.keys, known})
	for i := range records {
		m := &records[i]
		l, bad := o.condemned[m.Offset]
		l.message = m // the slice may be another one than when it was refused
		if !bad {
			outcome, err := o.add(m)
			if bad = err != nil; bad {
				l = refused(m, err)
				l.policy = o.policyOf(m)
				if l.conflict {
					l.reason += "; the first copy is " + o.firstCopy(Key(*l.key), known)
				}
			} else {
				w.count(outcome)
			}
			if outcome == wire.Resent {
				o.logDuplicate(m, known)
			}
		}
		if !bad {
			continue
		}
		if err := o.mayBury(w, &l); err != nil && i == 0 {
			w.hidden = slices.Clone(o.batch.Hidden())
			return w, err
		} else if err != nil {
			return o.build(records[:i], known) // what stands before it goes first
		}
		w.bury(l)
	}
	steps, claims := o.batch.Finish()
	w.steps, w.result.Keyless = steps, o.batch.Keyless()
	w.claims, w.keys.Keys, w.keys.Defs = ledger.Split(claims)
	w.hidden = slices.Clone(o.batch.Hidden())
	return w, nil
}

// add adds one record to the batch. An error is why it cannot take effect.
func (o *owner) add(m *Message) (wire.Outcome, error) {
	if n, most := len(m.Value), o.c.service.Limits.MaxPayload; n > most {
		return wire.Applied, &DecodeError{Class: wire.ReasonTooLarge, Reason: fmt.Sprintf("the payload has %d bytes, limits.max_payload is %d", n, most)}
	}
	return o.batch.Add(m, &o.topic.OnFailure)
}

// policyOf is on_failure of the record that was added last, or of one condemned earlier.
func (o *owner) policyOf(m *Message) *wire.FailurePolicy {
	if l, ok := o.condemned[m.Offset]; ok {
		return l.policy
	}
	if p := o.batch.Failure(); p != nil && len(m.Value) <= o.c.service.Limits.MaxPayload {
		return p
	}
	return &o.topic.OnFailure
}

// mayBury halts before a record that may not become a dead letter: on_failure says stop, or
// so many became one before it, and none took effect between, that the fault is hardly
// theirs. Nothing is drained.
func (o *owner) mayBury(w *work, l *letter) error {
	switch p := l.policy; {
	case l.stop:
		return o.halted(halt.RecordRefused, l.message.Offset, l.reason, nil)
	case p.Stop:
		return o.halted(halt.RecordRefused, l.message.Offset, "on_failure says stop: "+l.reason, nil)
	case p.StopAfter > 0 && w.inRow.N >= p.StopAfter:
		return o.halted(halt.DeadLetters, l.message.Offset, fmt.Sprintf("%d records in a row became dead letters, the first at offset %d (on_failure.stop_after), and this one would be the next: %s", w.inRow.N, w.inRow.First, l.reason), nil)
	}
	return nil
}

// count counts a record that is no dead letter.
func (w *work) count(o wire.Outcome) {
	switch o {
	case wire.Resent:
		w.result.Duplicates++
	case wire.Ignored:
		w.result.Ignored++
	default:
		w.result.Applied++
		w.inRow = ledger.InRow{}
	}
}

// bury counts and keeps a dead letter.
func (w *work) bury(l letter) {
	if l.conflict {
		w.result.Conflicts++
	} else {
		w.result.Dead++
	}
	if w.inRow.N++; w.inRow.N == 1 {
		w.inRow.First = l.message.Offset
	}
	w.letters = append(w.letters, l)
}

// next is the first offset that the work does not cover.
func (w *work) next() int64 {
	if n := len(w.records); n > 0 {
		return max(w.records[n-1].Offset+1, w.end)
	}
	return w.end
}

// epoch is the last record's leader epoch, or the one before it.
func (w *work) epoch(before int32) int32 {
	if n := len(w.records); n > 0 {
		return w.records[n-1].LeaderEpoch
	}
	return before
}

// textOf says which records a transaction held, for people.
func (o *owner) textOf(records []Message) string {
	switch {
	case len(records) == 0:
		return "for a transaction without records"
	case len(records) > 1:
		return fmt.Sprintf("for a transaction of %d records from offset %d on", len(records), records[0].Offset)
	case o.batch == nil || o.batch.Event() == "":
		return fmt.Sprintf("for offset %d", records[0].Offset)
	}
	return fmt.Sprintf("for event %s, offset %d", o.batch.Event(), records[0].Offset)
}

// firstOf is the first record's offset, -1 if there is none.
func firstOf(records []Message) int64 {
	if len(records) == 0 {
		return -1
	}
	return records[0].Offset
}

func newToken() UUID {
	var u UUID
	rand.Read(u[:])
	return u
}

// panicText tells what a panic was without quoting a value that it may hold.
func panicText(r any) string {
	if err, ok := r.(interface{ RuntimeError() }); ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("a value of type %T", r)
}
