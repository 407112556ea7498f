package idem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
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
	steps   []wire.Step
	claims  []wire.Claim
	letters []letter
	result  Result
	known   *known
}

// transact applies records as one transaction and moves forward when it is acknowledged.
// After an error nothing moved; whether the transaction committed may be open.
func (o *owner) transact(ctx context.Context, records []Message) (res Result, err error) {
	if o.quit.Err() != nil {
		return res, &FencedError{Partition: o.id, Reason: givenUp}
	}
	defer func() {
		if r := recover(); r != nil {
			o.batch = nil // its buffers may hold half a record
			o.c.log.Error("the runtime panicked", "topic", o.id.Topic, "partition", o.id.Number, "panic", panicText(r), "stack", string(debug.Stack()))
			err = o.halted(records[0].Offset, "the runtime panicked: please report it", nil)
		}
	}()
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	if err := fault.At(ctx, fault.BeforeSend); err != nil {
		return res, err
	}
	pool, err := o.c.pool(ctx)
	if err != nil {
		return res, err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return res, &waitError{err: fmt.Errorf("no connection: %w", err)}
	}
	defer conn.Release()
	for race := 0; ; race++ {
		w, known, err := o.prepare(ctx, conn, records)
		if err != nil || known {
			return w.result, err
		}
		if err := fault.At(ctx, fault.BeforeClaim); err != nil {
			return res, err
		}
		done, err := o.send(ctx, conn, w)
		if err != nil && classify(err) == classKeyRace && race < keyRaces {
			continue
		}
		if stalePlan(err) {
			_ = conn.Conn().Close(ctx) // its statements were prepared before the schema changed
		}
		return done, err
	}
}

// deadline is the context of one transaction. A transaction begun is finished although
// ctx ends, for the batch's time; a partition that is lost ends it at once.
func (o *owner) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.c.service.Limits.BatchTimeout)
	stop := context.AfterFunc(o.life, cancel)
	return free, func() { stop(); cancel() }
}

// prepare decides what records do: it reads which of their keys are known and builds the
// transaction. If the read shows that an earlier attempt of ours committed, it adopts that
// instead and reports settled, with the attempt's result.
func (o *owner) prepare(ctx context.Context, conn *pgxpool.Conn, records []Message) (w *work, settled bool, err error) {
	w, err = o.build(records, nil)
	if err != nil || len(w.claims) == 0 {
		return w, false, err
	}
	known, err := o.readKnown(ctx, conn, w.claims)
	if err != nil {
		return &work{}, false, err
	}
	if known.mine {
		res, err := o.resolve(ctx, conn)
		return &work{result: res}, err == nil, err
	}
	if len(known.prior) > 0 {
		if w, err = o.build(records, known); err != nil {
			return w, false, err
		}
	}
	w.known = known
	return w, false, nil
}

// build turns records into statements. It may be called any number of times for the same
// records: nothing of an earlier time is kept.
func (o *owner) build(records []Message, known *known) (*work, error) {
	if o.batch == nil {
		o.batch = wire.NewBatch(o.topic.NewPlan())
	}
	w := &work{records: records}
	var prior map[Key]wire.Prior
	if known != nil {
		prior = known.prior
	}
	o.batch.Reset(prior, int32(o.c.service.KeyDef))
	for i := range records {
		m := &records[i]
		if l, ok := o.condemned[m.Offset]; ok {
			l.message = m // the slice may be another one than when it was refused
			w.bury(l)
			continue
		}
		outcome, err := o.add(m)
		if stop, ok := errors.AsType[*wire.StopError](err); ok {
			if i == 0 {
				return w, o.halted(m.Offset, stop.Reason, nil)
			}
			return o.build(records[:i], known) // what stands before it goes first
		}
		switch {
		case err != nil:
			w.bury(refused(m, err))
		case outcome == wire.Resent:
			w.result.Duplicates++
			o.logDuplicate(m, known)
		case outcome == wire.Ignored:
			w.result.Ignored++
		default:
			w.result.Applied++
		}
	}
	w.steps, w.claims = o.batch.Finish()
	return w, nil
}

// add adds one record to the batch. An error makes it a dead letter, or a StopError halts
// before it.
func (o *owner) add(m *Message) (wire.Outcome, error) {
	n, most, stop := len(m.Value), o.c.service.Limits.MaxPayload, o.topic.Stop
	var outcome wire.Outcome
	var err error
	if n > most {
		err = &DecodeError{Class: wire.ReasonTooLarge, Reason: fmt.Sprintf("the payload has %d bytes, limits.max_payload is %d", n, most)}
	} else {
		outcome, err = o.batch.Add(m, stop)
		stop = o.batch.StopsOnFailure()
	}
	if _, already := errors.AsType[*wire.StopError](err); err != nil && stop && !already {
		err = &wire.StopError{Reason: "on_failure says stop: " + err.Error()}
	}
	return outcome, err
}

// bury counts and keeps a dead letter.
func (w *work) bury(l letter) {
	if l.conflict {
		w.result.Conflicts++
	} else {
		w.result.Dead++
	}
	w.letters = append(w.letters, l)
}

// next is the first offset that the work does not cover.
func (w *work) next() int64 { return w.records[len(w.records)-1].Offset + 1 }

func (w *work) epoch() int32 { return w.records[len(w.records)-1].LeaderEpoch }

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
