package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

const (
	assignTimeout = 10 * time.Second
	// fencePatience is how long a take-over keeps reading the tail again because the chain has
	// moved. A live owner may append every millisecond.
	fencePatience = 10 * time.Second
)

// assignment is what is known about a partition that is being taken over.
type assignment struct {
	idemtype.Assignment
	broker bool // Assignment comes from a broker; otherwise only start is known
	start  int64
}

// Assigned takes the partition over from its previous owner and returns where to read.
func (p *Partition) Assigned(ctx context.Context, a idemtype.Assignment) (idemtype.Position, error) {
	p.lag.Low(a.Low)
	p.lag.End(a.High, time.Time{}, time.Now())
	o, err := p.take(ctx, assignment{Assignment: a, broker: true})
	if err != nil {
		return idemtype.Position{}, err
	}
	return idemtype.Position{Offset: o.chain.Next(), Epoch: o.chain.Tail().Epoch}, nil
}

// TakeWithoutBroker takes the partition over without a broker. A partition without a ledger starts
// at offset start.
func (p *Partition) TakeWithoutBroker(ctx context.Context, start int64) (*Owner, error) {
	p.brokerless = true
	none := func(context.Context) (idemtype.Commit, error) { return idemtype.NoCommit, nil }
	return p.take(ctx, assignment{Assignment: idemtype.Assignment{Partition: p.id, Partitions: 1, Committed: none}, start: start})
}

// take takes the partition over, from any state. It always creates a new owner, which appends a
// fence and reads the chain; an earlier memory is never used again.
func (p *Partition) take(ctx context.Context, a assignment) (*Owner, error) {
	began := time.Now()
	short, cancel := ctx, func() {}
	if a.broker { // the Source retries
		short, cancel = context.WithTimeout(ctx, assignTimeout)
	}
	defer cancel()
	if err := p.enter(short, a); err != nil {
		return nil, err
	}
	o := p.begin()
	o.committed = a.Others
	t := &takeOver{o: o, a: a}
	err := t.run(short)
	if err == nil {
		err = t.load(ctx) // may take longer than short, and a second attempt would take just as long
	}
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		h.Err = outage.NameRight(h.Err, t.role, "")
		err = p.halted(h)
	}
	err = outage.InWords(err)
	if err != nil && ctx.Err() != nil {
		o.handBack()
	}
	event := protocol.Acked
	if err != nil {
		event = fencingEvent(err)
	}
	if stepErr := o.step(event, err); stepErr != nil {
		return nil, stepErr
	}
	if err == nil {
		o.keepLost(t.lost)
		taken := hook.Taken{Offset: o.chain.Next(), Took: time.Since(began)}
		if o.keys.InChain() {
			taken.Keys = o.keys.Len()
		}
		p.process.Hooks.TakeOver(p.id, taken)
	}
	return o, err
}

// fencingEvent returns the event of the protocol for an error of a partition that is fencing.
func fencingEvent(err error) protocol.Event {
	if _, ok := errors.AsType[*idemtype.HaltedError](err); ok {
		return protocol.Refused
	}
	switch e := verdict.Of(err).Event(); e {
	case protocol.Resource, protocol.Unknown, protocol.Foreign, protocol.Gone:
		return e
	}
	return protocol.Conflict
}

// takeOver leads from an assignment to an owner's fence.
type takeOver struct {
	o         *Owner
	a         assignment
	conn      *pgxpool.Conn
	role      string           // of its statements
	committed *idemtype.Commit // what the group has committed; nil until it was asked
	lost      *lost            // what this take-over found to be missing
}

// run finds or creates the chain, reads its tail, checks it against the broker, and appends a
// fence (docs/protocol.md). From then on every append of the previous owner fails.
func (t *takeOver) run(ctx context.Context) error {
	if err := t.checkTopicID(); err != nil {
		return err
	}
	if _, err := t.commit(ctx); err != nil { // while no connection is held
		return err
	}
	conn, err := t.acquire(ctx)
	if err != nil {
		return haltIfPooler(err)
	}
	defer conn.Release()
	t.conn, t.role = conn, session.Of(conn.Conn().PgConn()).Role()
	if t.o.p.topic.Window > 0 {
		if err := generation.First(ctx, conn.Conn(), t.o.p.process.Service.Consumer, t.o.p.process.KeepKeys()); err != nil {
			return haltIfFinal(err)
		}
	}
	if err := t.findChain(ctx); err != nil {
		return err
	}
	if err := t.passTokens(ctx); err != nil {
		return err
	}
	if err := t.o.chain.Stand(ctx, conn.Conn(), t.o.p.process.Calls != nil); err != nil {
		return haltIfFinal(err)
	}
	for end := time.Now().Add(fencePatience); time.Now().Before(end); {
		if err := t.readTail(ctx); err != nil {
			return err
		}
		if err := t.checkLost(ctx); err != nil {
			return err
		}
		if err := t.checkTail(ctx); err != nil {
			return t.withLost(err)
		}
		window, err := t.o.keys.Measure(ctx, conn.Conn(), t.o.chain.Stream(), t.o.chain.Tail(), !t.a.broker)
		if err != nil {
			return haltIfFinal(err)
		}
		if err := fault.At(ctx, fault.BeforeFence); err != nil {
			return err
		}
		err = t.fence(ctx, window)
		switch verdict.Of(err) {
		case verdict.None:
			t.checkCommitted()
			return nil
		case verdict.LockWait: // its owner is about to append, or its client has stopped
			t.o.chain.Stall(time.Now().After(t.o.p.standby.patient))
		case verdict.Successor, verdict.Gone: // the chain moved: read it again
		case verdict.Stale:
			_ = conn.Conn().Close(ctx)
			return err
		default:
			return haltIfFinal(err)
		}
	}
	id := t.o.p.id
	return fmt.Errorf("the ledger of %s/%d changed during every attempt to take it over, for %v", id.Topic, id.Number, fencePatience)
}

// fence appends a fence. If the last attempt gave up waiting for another transaction, that
// transaction is terminated if its client has stopped.
func (t *takeOver) fence(ctx context.Context, window int64) error {
	if t.o.chain.Stalled() {
		return t.o.p.process.overtaking(ctx, t.conn, t.o.p.id, func() error { return t.fenceOnce(ctx, window) })
	}
	return t.fenceOnce(ctx, window)
}

// fenceOnce sends one fence. Even if ctx ends, it waits for the reply as long as the server may
// wait for a lock, so that a partition that is given up meanwhile can be handed back.
func (t *takeOver) fenceOnce(ctx context.Context, window int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), assignTimeout)
	defer cancel()
	var parts *int32
	if t.a.broker {
		parts = &t.a.Partitions
	}
	return t.o.chain.Fence(ctx, t.conn.Conn(), int32(t.o.p.process.Service.Identity.Writes), parts, window, t.note())
}

// haltIfFinal converts an error of the protocol's statements into a halt if no retry can help.
func haltIfFinal(err error) error {
	if err == nil {
		return nil
	}
	switch c := verdict.Of(&verdict.Protocol{Err: err}); {
	case c == verdict.Pooler:
		return &verdict.Halt{Code: halt.Pooler, Offset: -1, Reason: verdict.PoolerText, Err: err}
	case c.Event() == protocol.Fatal:
		return &verdict.Halt{Code: halt.Database, Offset: -1, Reason: "the ledger cannot be used", Err: err}
	}
	return err
}

// haltIfPooler returns a halt if a connection failed because of a pooler. Any other error of a
// connection may be temporary.
func haltIfPooler(err error) error {
	if verdict.Of(err) == verdict.Pooler {
		return haltIfFinal(err)
	}
	return err
}

func (t *takeOver) readTail(ctx context.Context) error {
	err := t.o.chain.Read(ctx, t.conn)
	if errors.Is(err, pgx.ErrNoRows) {
		return t.halt(halt.LedgerGone, "the ledger is missing: the partition is known, but its rows are gone", t.adoption(max(t.a.Low, t.committed.Offset)))
	}
	if err == nil {
		t.o.p.lag.At(t.o.chain.Next(), time.Now())
	}
	return haltIfFinal(err)
}

// halt returns a halt before any record was read, with the ways that end it.
func (t *takeOver) halt(code halt.Code, reason string, ways ...halt.Way) error {
	return &verdict.Halt{Code: code, Offset: -1, Reason: reason, Ways: ways}
}

// checkTail compares the tail with the broker and the spec before the partition is fenced.
func (t *takeOver) checkTail(ctx context.Context) error {
	tail, identity := t.o.chain.Tail(), t.o.p.process.Service.Identity
	if tail.Kind == ledger.Pause {
		t.o.keepDurable()
		t.o.p.paused.Store(t.o.mark())
		return t.halt(halt.Paused, fmt.Sprintf("paused at %s by %s", tail.Written.UTC().Format(time.RFC3339), tail.Info))
	}
	if tail.Def != ledger.NoIdentity && !slices.Contains(identity.Knows, uint32(tail.Def)) {
		return t.halt(halt.NewerVersion, fmt.Sprintf("another version of this service ran here, with another identity of events (%08x, this one has %08x): this version might not recognize events that the other one applied, and might apply their duplicates again; deploy that version again, or one that knows both", uint32(tail.Def), identity.Writes),
			halt.Way{Older: true})
	}
	if !t.a.broker {
		return nil
	}
	switch {
	case t.o.p.topic.ReliesOnPartition() && tail.Parts != t.a.Partitions:
		return t.partitionsChanged(tail.Parts)
	case tail.Next < t.a.Low:
		return t.halt(halt.RetentionPassed, fmt.Sprintf("offsets %d to %d were deleted before they were read: the topic's retention overtook the position", tail.Next, t.a.Low-1),
			setTo(tail.Next, t.a.Low))
	}
	return t.checkLog(ctx, tail)
}

// acquire returns a connection for a take-over. If the database is down, and the Source would only
// retry, it waits for the database until ctx is done.
func (t *takeOver) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	o := t.o
	for try := 1; ; try++ {
		tell := func(err error) { o.p.tell(o, err) }
		conn, err := o.p.process.Pool.Acquire(ctx, tell)
		if err == nil || !t.a.broker || !verdict.Away(err) {
			return conn, err
		}
		if tell(err); !backoff.Sleep(ctx, backoff.Pause(try, backoff.Initial, backoff.Most)) || o.p.process.Prober.Wait(ctx, tell) != nil {
			return nil, err
		}
	}
}

// load builds the memory of keys, and of parked record keys, from the chain up to our fence.
func (t *takeOver) load(ctx context.Context) error {
	o := t.o
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life.whole, cancel)()
	most := o.limits().BatchTimeout // for each query
	short, cancelShort := context.WithTimeout(ctx, most)
	defer cancelShort()
	conn, err := o.p.process.Pool.Acquire(short, o.tellLater)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := fault.At(ctx, fault.BeforeLoad); err != nil {
		return err
	}
	if err = o.parked.Load(short, conn, o.chain.Stream()); err == nil && o.keys.InChain() {
		err = o.keys.Load(ctx, conn.Conn().PgConn(), o.chain.Stream(), o.chain.Tail(), most)
	}
	o.tellParked()
	if err == nil && o.p.topic.Window > 0 {
		err = o.wholeKeys(ctx, conn.Conn())
	}
	if ctx.Err() != nil {
		return err
	}
	return haltIfFinal(err)
}

// wholeKeys checks that the tables of keys fit their generations, and that no sealed one has lost
// its keys. One that had lost some is counted again, which may take long.
func (o *Owner) wholeKeys(ctx context.Context, conn *pgx.Conn) error {
	list, err := generation.Read(ctx, conn, o.p.process.Service.Consumer)
	if err == nil {
		o.p.process.Keys.Filters.Listed(list)
		err = list.Fits()
	}
	if err == nil {
		err = generation.Empty(ctx, conn, o.p.process.Service.Consumer)
	}
	if err == nil {
		err = o.p.process.Keys.Filters.Recount(ctx)
	}
	return haltIfLost(err, -1)
}

// haltIfLost returns a halt if keys have been lost: duplicates of their events would take effect
// again.
func haltIfLost(err error, offset int64) error {
	if _, lost := errors.AsType[*generation.LostError](err); lost {
		return &verdict.Halt{Code: halt.KeysLost, Offset: offset, Reason: "keys of applied events are missing", Err: err}
	}
	if _, unfit := errors.AsType[*generation.UnfitError](err); unfit {
		return &verdict.Halt{Code: halt.KeysLost, Offset: offset, Reason: "a table of keys is not in the expected state", Err: err}
	}
	return err
}
