package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keyRaces is how often a batch is decided again because another partition claimed one of its
// keys first. After that it waits, like after any other conflict.
const keyRaces = 5

// transaction is records on their way through one transaction.
type transaction struct {
	o       *Owner
	conn    *pgxpool.Conn
	records []wire.Message
	end     int64                // the log holds no record from the last one to here
	settles *deadletter.Settling // the dead letter that it resolves, whose record is the only one; nil of a batch
}

// transact applies records as one transaction. It moves forward when the transaction is
// acknowledged: behind the records, or to end if end is larger. After an error nothing moved,
// and the transaction may have committed or not.
func (o *Owner) transact(ctx context.Context, records []wire.Message, end int64) (idemtype.Result, error) {
	return (&transaction{o: o, records: records, end: end}).transact(ctx)
}

// transact runs the transaction on a connection of its own.
func (t *transaction) transact(ctx context.Context) (res idemtype.Result, err error) {
	o := t.o
	if o.life.quit.Err() != nil {
		return res, o.ended()
	}
	defer func() {
		if r := recover(); r != nil {
			err = t.panicked(r)
		}
	}()
	if t.conn, err = o.connect(ctx); err != nil {
		return res, err
	}
	defer pool.Release(t.conn)
	ctx, cancel := o.deadline(ctx) // the wait for a connection is no record's fault
	defer cancel()
	res, err = t.run(ctx)
	if err != nil {
		err = verdict.Overdue(ctx, err, verdict.Limit{Name: "limits.batch_timeout", Most: o.limits().BatchTimeout, Of: t.text()}, o.limits())
	}
	return res, err
}

// run decides what the records do, and sends the decision. If another partition claimed one of
// the keys in between, the decision is void, and run decides again.
func (t *transaction) run(ctx context.Context) (res idemtype.Result, err error) {
	if err := fault.At(ctx, fault.BeforeSend); err != nil {
		return res, err
	}
	for race := 0; ; race++ {
		d, err := t.decide(ctx)
		if errors.Is(err, keys.ErrMoved) { // our append committed, or another owner's
			return t.o.resolve(ctx, t.conn)
		}
		if err != nil {
			return res, err
		}
		if t.settles != nil && len(d.Letters) > 0 {
			return res, &refusedAgain{d.Letters[0].Reason, d.Letters[0].Key}
		}
		if err := t.resultless(d); err != nil {
			return res, err
		}
		t.settles.Decided(d.Result, d.Effects)
		if len(d.Waiting) > 0 {
			if err := t.cut(ctx, d); err != nil {
				return res, err
			}
			continue
		}
		if err := t.o.keys.Reserve(ctx, t.conn.Conn(), t.o.chain.Tail(), d.Keys); err != nil {
			return res, err
		}
		if err := fault.At(ctx, fault.BeforeClaim); err != nil {
			return res, err
		}
		res, err := t.send(ctx, d)
		if err != nil && t.raced(err) && race < keyRaces {
			continue
		}
		t.mend(ctx, err)
		return res, err
	}
}

// decide decides what the records do, with all that is known of their keys: it decides again
// until no key is found that the last decision did not know.
func (t *transaction) decide(ctx context.Context) (*decide.Decision, error) {
	c := t.o.chain
	// Before a call is made, all that was claimed must be known: no claim can refuse a call.
	known := t.o.keys.Known(keys.Place{Stream: c.Stream(), Seq: c.Seq(), Again: c.Tried() || t.o.effects != nil})
	for {
		d, stop := t.decision(known)
		d.End = t.end
		found, err := known.Read(ctx, t.conn.Conn(), d.Claims, d.Hidden)
		switch {
		case errors.Is(err, keys.ErrNoGeneration):
			return d, t.o.fenced(protocol.Gone, err.Error())
		case err != nil:
			return d, err
		case !found:
			return d, stop
		}
	}
}

// Decide decides what records do, as far as their keys are known.
func (o *Owner) Decide(records []wire.Message, known *keys.Known) (*decide.Decision, error) {
	return (&transaction{o: o, records: records}).decision(known)
}

func (t *transaction) decision(known *keys.Known) (*decide.Decision, error) {
	o := t.o
	f := t.facts(known)
	if o.effects != nil {
		f.Effects = t.outcomes()
		o.retry.Called(f.Effects)
	}
	return o.decider.Decide(t.records, f)
}

// facts are what is known, but for effects.
func (t *transaction) facts(known *keys.Known) decide.Facts {
	o := t.o
	return decide.Facts{
		Known: known, Refused: o.retry.Refused(), InRow: o.chain.InRow(), Events: o.p.process.Hooks.WantsEvents(), Again: t.settles != nil, Parked: &o.parked,
	}
}

// send sends a decision: append, key claims, writes, dead letters. On the acknowledgement the
// memory moves forward. If an earlier attempt of ours had committed, that one counts instead.
func (t *transaction) send(ctx context.Context, d *decide.Decision) (idemtype.Result, error) {
	o := t.o
	before := o.chain.Open()
	a := o.attempt(d, t.settles)
	sent := o.p.process.Keys.Now()
	var written time.Time
	var err error
	if o.chain.Stalled() { // an earlier attempt in doubt may hold the lock that this one waits for
		written, err = t.sendOvertaking(ctx, d, &a)
	} else {
		written, err = t.sendAttempt(ctx, d, &a)
	}
	if err == nil {
		err = fault.At(ctx, fault.Reply)
	}
	if err == nil {
		o.keys.Heard(written, sent)
		return o.moved(protocol.Acked, a, written)
	}
	return t.failed(ctx, before, a, err)
}

// attempt is a new attempt to do what was decided. It is kept before anything that may commit
// it is sent. One that settles a letter moves no position, and ends the count of dead letters in a
// row, as every row does that an operator asked for.
func (o *Owner) attempt(d *decide.Decision, settles *deadletter.Settling) chain.Attempt {
	tail := o.chain.Tail()
	a := chain.Attempt{
		Row: ledger.Row{
			Kind: ledger.Batch, Token: ledger.NewToken(), Next: d.Next(), Epoch: d.Epoch(tail.Epoch),
			Window: o.keys.Window(tail), Keys: d.Keys.Keys, Defs: d.Keys.Defs, Info: ledger.LettersInfo(d.InRow),
		},
		Result: d.Result, Letters: d.Letters, Moves: d.Moves, InRow: d.InRow, Claims: slices.Clone(d.Claims), Events: d.Events,
	}
	if settles != nil {
		a.Row.Kind, a.Row.Next, a.Row.Epoch, a.Row.Info = ledger.Letter, tail.Next, tail.Epoch, settles.Info()
		a.Result, a.InRow, a.Moves = idemtype.Result{}, ledger.InRow{}, settles.Moves()
	}
	o.chain.Try(a)
	return a
}

// sendAttempt sends an attempt as one implicit transaction, or stage by stage.
func (t *transaction) sendAttempt(ctx context.Context, d *decide.Decision, a *chain.Attempt) (written time.Time, err error) {
	c := t.o.chain
	head := []pipeline.Statement{c.Append(a.Row)}
	head = append(head, d.Known.Claim(d.Claims)...)
	if !d.Plain() {
		return t.sendExplicit(ctx, d, a, head)
	}
	for _, s := range d.Steps {
		head = append(head, t.o.decider.Write(s))
	}
	head = append(head, complete(t.o, d)...)
	head = append(head, c.Letters(d.Letters)...)
	head = append(head, settle(t.o, t.settles)...)
	p := pipeline.New(ctx, t.conn.Conn())
	p.Add(head...)
	r, err := p.Run()
	return chain.Written(r), err
}

// settle is the statement that settles a letter; none of a batch.
func settle(o *Owner, s *deadletter.Settling) []pipeline.Statement {
	if s == nil {
		return nil
	}
	return []pipeline.Statement{s.Statement(o.chain.Stream(), o.chain.Seq())}
}

// raced reports whether the batch lost a key to another partition, and counts that.
func (t *transaction) raced(err error) bool {
	if verdict.Of(err) != verdict.KeyRace {
		return false
	}
	t.o.keys.Raced(err)
	t.o.p.process.Counters.KeyRaces.Add(1)
	return true
}

// mend closes connections that are of no use after an error.
func (t *transaction) mend(ctx context.Context, err error) {
	switch verdict.Of(err) {
	case verdict.LeaseMoved: // what is known of effects is not what their rows say
		t.desk().Again()
	case verdict.Stale: // its statements were prepared before the schema changed
		_ = t.conn.Conn().Close(ctx)
	case verdict.ReadOnly: // and so is every other connection to this server
		_ = t.conn.Conn().Close(ctx)
		t.o.p.process.Pool.Reset()
	}
}

// panicked is the halt after a panic of the runtime or of generated code.
func (t *transaction) panicked(r any) error {
	o := t.o
	o.decider.Discard()
	stack := string(debug.Stack())
	if p, ok := r.(*watchdog.Panic); ok { // on the goroutine of the handlers
		r, stack = p.Value, p.Stack
	}
	o.p.process.Log.Error("the runtime panicked", "topic", o.p.id.Topic, "partition", o.p.id.Number, "panic", watchdog.PanicText(r), "stack", stack)
	return &verdict.Halt{Code: halt.Runtime, Offset: retry.First(t.records), Reason: "the runtime panicked: please report it"}
}

// deadline is the context of one transaction, and of the wait for its connection. It lasts for
// the batch's time, also after ctx has ended: a transaction that has begun is finished. It ends
// at once if the partition is lost.
func (o *Owner) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.limits().BatchTimeout)
	stop := context.AfterFunc(o.life.whole, cancel)
	return free, func() { stop(); cancel() }
}

// text says which records the transaction held, for people.
func (t *transaction) text() string {
	switch records, event := t.records, t.o.decider.Event(); {
	case len(records) == 0:
		return "for a transaction without records"
	case len(records) > 1:
		return fmt.Sprintf("for a transaction of %d records from offset %d on", len(records), records[0].Offset)
	case event == "":
		return fmt.Sprintf("for offset %d", records[0].Offset)
	default:
		return fmt.Sprintf("for event %s, offset %d", event, records[0].Offset)
	}
}
