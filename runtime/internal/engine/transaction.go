package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keyRaces is how many times a batch is decided again because another partition claimed one of its
// keys first. After that it backs off, as after any other conflict.
const keyRaces = 5

// transaction is work that is being done in one transaction.
type transaction struct {
	o    *Owner
	w    *work
	conn *pgxpool.Conn
}

// transact does work in one transaction. The memory moves forward when the transaction is
// acknowledged. If it fails because of a setting, such as search_path, that a trigger or a
// function may have changed, transact repeats it with the settings restored after each statement,
// and so runs all later transactions.
func (o *Owner) transact(ctx context.Context, w *work) outcome {
	out := o.transactOnce(ctx, w)
	if out.is != failed || o.restores || !verdict.MayBeSettings(out.err) {
		return out
	}
	o.restores = true
	if err := o.step(protocol.Conflict, nil); err != nil {
		return outcome{is: over, err: err}
	}
	cause := verdict.Describe(out.err)
	if out = o.transactOnce(ctx, w); out.is == committed {
		o.p.process.Log.Warn("a trigger or a function changes a setting of the session; from now on it is restored after each statement: "+
			"let the function restore it, by a SET clause of its own", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", cause)
	}
	return out
}

// transactOnce does work in one transaction, on a connection of its own.
func (o *Owner) transactOnce(ctx context.Context, w *work) (out outcome) {
	if o.life.quit.Err() != nil {
		return outcome{is: over, err: o.ended()}
	}
	t := &transaction{o: o, w: w}
	defer func() {
		if r := recover(); r != nil {
			out = t.panicked(r)
		}
	}()
	if t.conn, out = o.connect(ctx); t.conn == nil {
		return out
	}
	defer pool.Release(t.conn)
	ctx, cancel := o.deadline(ctx) // no record is at fault for the wait for a connection
	defer cancel()
	if out = t.run(ctx); out.is == failed {
		out.err = verdict.Overdue(ctx, t.mend(ctx, out.err), verdict.Limit{Name: "limits.batch_timeout", Most: o.limits().BatchTimeout, Of: t.text()}, o.limits())
	}
	return out
}

// connect begins a transaction: it acquires a connection, and takes the step to Sent. It waits for
// the connection as long as a transaction may take. If it gets none, out has the reason.
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

// run decides what the records do, and sends the decision. If another partition has claimed one of
// the keys in between, the decision is invalid, and run decides again.
func (t *transaction) run(ctx context.Context) outcome {
	if err := fault.At(ctx, fault.BeforeSend); err != nil {
		return failure(err)
	}
	for race := 0; ; race++ {
		d, err := t.o.decide(ctx, t.conn.Conn(), t.w)
		switch {
		case err != nil:
			return t.undecided(ctx, err)
		case t.w.letter != nil && !t.w.letter.accepts(d):
			return outcome{is: stays}
		case len(d.Waiting) > 0:
			return outcome{is: waits}
		}
		if err := t.o.keys.Reserve(t.o.chain.Tail(), d.Keys); err != nil {
			return failure(err)
		}
		if err := fault.At(ctx, fault.BeforeClaim); err != nil {
			return failure(err)
		}
		out := t.send(ctx, d)
		if out.is != failed {
			return out
		}
		if t.raced(out.err) && race < keyRaces {
			continue
		}
		return out
	}
}

// undecided returns the outcome for records that could not be decided: an operator must act first,
// or the known keys could not be read.
func (t *transaction) undecided(ctx context.Context, err error) outcome {
	switch {
	case errors.Is(err, keys.ErrMoved): // our append committed, or another owner's
		return t.resolve(ctx)
	case errors.Is(err, keys.ErrNoGeneration):
		return t.o.fenced(protocol.Gone, err.Error())
	}
	return failure(haltIfLost(err, retry.First(t.w.records)))
}

// decide decides what records do, with everything known about their keys. It decides again until
// it finds no key that the last decision did not know.
func (o *Owner) decide(ctx context.Context, conn *pgx.Conn, w *work) (*decide.Decision, error) {
	c := o.chain
	// Before a call is made, all claimed keys must be known: a call cannot be undone by a failing
	// claim.
	known := o.keys.Known(keys.Place{Stream: c.Stream(), Seq: c.Seq(), Sent: c.Tried() || o.desk != nil})
	for {
		d, stop := o.decision(w, known)
		found, err := known.Read(ctx, conn, d.Claims, d.Hidden)
		if err != nil {
			return nil, err
		}
		if !found {
			return d, stop
		}
	}
}

// Decide decides what records do, as far as their keys are known.
func (o *Owner) Decide(records []wire.Message, known *keys.Known) (*decide.Decision, error) {
	return o.decision(o.batch(records), known)
}

func (o *Owner) decision(w *work, known *keys.Known) (*decide.Decision, error) {
	f := o.facts(w, known)
	f.Effects = w.effects()
	return o.decider.Decide(w.records, f)
}

// facts returns what is known, except about effects.
func (o *Owner) facts(w *work, known *keys.Known) decide.Facts {
	return decide.Facts{
		Topic: o.chain.Topic(), Known: known, Refused: w.retries.Refused(), InRow: o.chain.InRow(), Parked: &o.parked,
		Events: o.p.process.Hooks.WantsEvents() || o.p.process.logsEvents(), Replay: w.letter != nil,
	}
}

// send sends a decision: append, key claims, writes, dead letters. When it is acknowledged, the
// memory moves forward. If an earlier attempt of ours had committed, that one counts instead.
func (t *transaction) send(ctx context.Context, d *decide.Decision) outcome {
	o := t.o
	before := o.chain.Open()
	a := t.attempt(d)
	sent := o.p.process.Keys.Now()
	send := t.inTurn
	switch {
	case o.chain.Stalled(): // an earlier attempt in doubt may hold the lock that this one waits for
		send = t.overtaking
	case d.Plain():
		send = t.oneTrip
	}
	acked, err := send(ctx, d, &a)
	if err == nil {
		err = fault.At(ctx, fault.Reply)
	}
	if err != nil {
		return t.unacknowledged(ctx, before, err)
	}
	o.keys.Heard(acked.Clock(), sent)
	return o.advance(protocol.Acked, acked)
}

// attempt returns a new attempt to do what was decided. It is stored before anything that may
// commit it is sent.
func (t *transaction) attempt(d *decide.Decision) chain.Attempt {
	o, tail := t.o, t.o.chain.Tail()
	a := chain.Attempt{
		Row:     ledger.Row{Token: ledger.NewToken(), Window: o.keys.Window(tail), Keys: d.Keys.Keys, Defs: d.Keys.Defs},
		Letters: d.Letters, Claims: slices.Clone(d.Claims), Events: d.Events,
	}
	t.w.row(&a, d, tail)
	o.chain.Try(a)
	return a
}

// begins returns the first statements of a transaction: position and keys must be ours before
// anything else is written.
func (t *transaction) begins(d *decide.Decision, a *chain.Attempt) []pipeline.Statement {
	return append([]pipeline.Statement{t.o.chain.Append(a.Row)}, d.Known.Claim(d.Claims)...)
}

// ends returns the last statements of a transaction.
func (t *transaction) ends(d *decide.Decision) []pipeline.Statement {
	var completed []pipeline.Statement // leases whose results the rows depend on
	if len(d.Effects) > 0 {
		completed = t.o.p.process.Calls.Complete(d.Effects)
	}
	ends := append(completed, t.o.chain.Letters(d.Letters)...)
	if t.w.letter != nil {
		ends = append(ends, t.w.letter.ending())
	}
	return append(ends, pool.Intact(session.Of(t.conn.Conn().PgConn())))
}

// statement returns the statement of a step.
func (o *Owner) statement(s wire.Step) pipeline.Statement {
	if o.statements == nil {
		o.statements = map[string]session.Statement{}
		for _, sql := range o.p.topic.Statements() {
			o.statements[sql] = session.Write(sql)
		}
	}
	is, ok := o.statements[s.SQL]
	if !ok {
		panic("idem: generated code writes with a statement that its topic does not list")
	}
	return pipeline.Statement{Is: is, Args: s.Args, User: true}
}

// write returns a statement of the topic. If a trigger or a function is known to change a setting,
// the settings are restored after it.
func (t *transaction) write(s wire.Step) []pipeline.Statement {
	statements := []pipeline.Statement{t.o.statement(s)}
	if t.o.restores {
		statements = append(statements, pool.Settings(session.Of(t.conn.Conn().PgConn()))...)
	}
	return statements
}

// oneTrip sends statements as one implicit transaction, in one round trip.
func (t *transaction) oneTrip(ctx context.Context, d *decide.Decision, a *chain.Attempt) (acked chain.Committed, err error) {
	p := pipeline.New(ctx, t.conn.Conn())
	p.Add(t.begins(d, a)...)
	for _, s := range d.Steps {
		p.Add(t.write(s)...)
	}
	p.Add(t.ends(d)...)
	var behind []pipeline.Statement
	if t.o.restores || t.o.p.process.Catalog.RunsAtCommit(t.o.p.topic.Name) { // a trigger may change settings then
		behind = pool.Settings(session.Of(t.conn.Conn().PgConn()))
	}
	r, err, unclean := p.RunThen(behind...)
	if unclean != nil { // nevertheless the transaction is over
		_ = t.conn.Conn().Close(ctx)
	}
	if err != nil {
		return acked, err
	}
	return a.Acknowledged(r, chain.Appended(r))
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

// mend closes connections that are not usable after an error. It returns the error, or its cause
// if that is a setting that the session had kept from an earlier transaction.
func (t *transaction) mend(ctx context.Context, err error) error {
	if verdict.MayBeSettings(err) {
		if moved := t.moved(ctx); verdict.Of(moved) == verdict.SettingMoved {
			err = moved
		}
	}
	switch verdict.Of(err) {
	case verdict.LeaseMoved: // the known outcomes of effects differ from their rows
		t.w.desk.Reset()
	case verdict.SettingMoved: // the session may keep it beyond the transaction
		_ = t.conn.Conn().Close(ctx)
	case verdict.Stale: // its statements were prepared before the schema changed
		_ = t.conn.Conn().Close(ctx)
	case verdict.ReadOnly: // and so is every other connection to this server
		_ = t.conn.Conn().Close(ctx)
		t.o.p.process.Pool.Reset()
	}
	return err
}

// moved returns an error that names a setting that the session has and was not given.
func (t *transaction) moved(ctx context.Context) error {
	conn := t.conn.Conn()
	if conn.IsClosed() || conn.PgConn().IsBusy() || conn.PgConn().TxStatus() != 'I' {
		return nil
	}
	p := pipeline.New(ctx, conn)
	p.Add(pool.Intact(session.Of(conn.PgConn())))
	_, err := p.Run()
	return err
}

// panicked returns the halt after a panic of the runtime or of generated code.
func (t *transaction) panicked(r any) outcome {
	o := t.o
	o.decider.Discard()
	stack := string(debug.Stack())
	if p, ok := r.(*watchdog.Panic); ok { // on the goroutine of the handlers
		r, stack = p.Value, p.Stack
	}
	o.p.process.Log.Error("the runtime panicked", "topic", o.p.id.Topic, "partition", o.p.id.Number, "panic", watchdog.PanicText(r), "stack", stack)
	return outcome{is: halts, halt: &verdict.Halt{Code: halt.Runtime, Offset: retry.First(t.w.records), Reason: "the runtime panicked: please report it"}}
}

// deadline returns the context of one transaction, and of the wait for its connection. It lasts
// for batch_timeout, even after ctx has ended: a transaction that has begun is finished. It ends
// immediately if the partition is lost.
func (o *Owner) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.limits().BatchTimeout)
	stop := context.AfterFunc(o.life.whole, cancel)
	return free, func() { stop(); cancel() }
}

// text describes the records of the transaction, for operators.
func (t *transaction) text() string {
	switch records, event := t.w.records, t.o.decider.Event(); {
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
