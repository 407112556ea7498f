package idem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// claim is what is known about a partition that is taken over.
type claim struct {
	Assignment
	broker bool // Assignment comes from a broker; else only start is known
	start  int64
}

func claimOf(p Partition, start int64) claim {
	none := func(context.Context) (int64, error) { return -1, nil }
	return claim{Assignment: Assignment{Partition: p, Partitions: 1, Committed: none}, start: start}
}

// fencePatience is how long a take-over reads the tail again because the chain moved
// meanwhile. An owner that is alive may append every millisecond.
const fencePatience = 10 * time.Second

// take takes the partition over, from wherever its worker stands. Every way in goes
// through a new owner, a fence and the chain; nothing of an earlier memory is used again.
func (w *worker) take(ctx context.Context, a claim) (*owner, error) {
	short, cancel := ctx, func() {}
	if a.broker { // the Source asks again
		short, cancel = context.WithTimeout(ctx, assignTimeout)
	}
	defer cancel()
	if err := w.enter(short, a); err != nil {
		return nil, err
	}
	o := w.begin()
	err := w.patience(o.assign(short, a))
	if err == nil {
		err = o.load(ctx) // may take longer, and would not get further if it began anew
	}
	err = inWords(err)
	if err != nil && ctx.Err() != nil {
		o.handBack()
	}
	event := protocol.Acked
	if err != nil {
		event = fencingEvent(err)
	}
	if stepErr := o.step(event, err, nil); stepErr != nil {
		return nil, stepErr
	}
	return o, err
}

// fencingEvent is what an error means for a worker that is fencing.
func fencingEvent(err error) protocol.Event {
	if _, ok := errors.AsType[*HaltedError](err); ok {
		return protocol.Refused
	}
	switch e := pgerror.Of(err).Event(); e {
	case protocol.Resource, protocol.Unknown, protocol.Foreign, protocol.Gone:
		return e
	}
	return protocol.Conflict
}

// patience lets a log that ends below the position be for a while, then halts.
func (w *worker) patience(err error) error {
	ahead, ok := errors.AsType[*aheadError](err)
	switch {
	case !ok:
		w.ahead = cut{}
	case w.ahead.since.IsZero():
		w.ahead = cut{time.Now(), ahead.end}
	default:
		w.ahead.end = min(w.ahead.end, ahead.end) // it grows again, with records that nobody has read
		if time.Since(w.ahead.since) >= aheadPatience {
			return haltedAt(w, halt.LogTruncated, -1, ahead.Error()+truncatedText, nil, fmt.Sprintf(" --from %d --to %d --apply-again", ahead.tail.Next, w.ahead.end))
		}
	}
	return err
}

// assign finds or makes the chain, reads its tail, checks it against the broker, and
// appends a fence (docs/protocol.md). From then on every statement of the previous owner fails.
func (o *owner) assign(ctx context.Context, a claim) error {
	conn, err := o.acquire(ctx, a.broker)
	if err != nil {
		return o.haltIfPooler(err)
	}
	defer conn.Release()
	if err := session.Of(conn.Conn().PgConn()).Check(ctx, conn.Conn()); err != nil {
		return o.haltIfPooler(err)
	}
	if o.topic.Window > 0 {
		if err := generation.First(ctx, conn.Conn(), o.c.service.Consumer, o.c.keepKeys()); err != nil {
			return o.haltIfFinal(err)
		}
	}
	if err := o.chain(ctx, conn, a); err != nil {
		return err
	}
	for end := time.Now().Add(fencePatience); time.Now().Before(end); {
		if err := o.readTail(ctx, conn, a); err != nil {
			return err
		}
		if err := o.policy(a); err != nil {
			return err
		}
		window, err := o.survey(ctx, conn)
		if err != nil {
			return o.haltIfFinal(err)
		}
		if err := fault.At(ctx, fault.BeforeFence); err != nil {
			return err
		}
		err = o.fenceOnce(ctx, conn, a, window)
		switch pgerror.Of(err) {
		case pgerror.None:
			return nil
		case pgerror.LockWait: // its owner is about to append, or its client has stopped
			o.stalled = time.Now().After(o.w.watch.patient)
		case pgerror.Successor, pgerror.Gone: // the chain moved: read it again
		case pgerror.Stale:
			_ = conn.Conn().Close(ctx)
			return err
		default:
			return o.haltIfFinal(err)
		}
	}
	return fmt.Errorf("the ledger of %s/%d moved at every try to take it over, for %v", o.id.Topic, o.id.Number, fencePatience)
}

// fenceOnce appends a fence. If the one before it waited in vain for another transaction,
// the client of which may have stopped, that one is ended.
func (o *owner) fenceOnce(ctx context.Context, conn *pgxpool.Conn, a claim, window int64) error {
	fence := func() error { return o.fence(ctx, conn, a, window) }
	if o.stalled {
		return o.overtaking(ctx, conn, fence)
	}
	return fence()
}

// haltIfFinal turns an error of the protocol's statements that no retry can cure into a halt.
func (o *owner) haltIfFinal(err error) error {
	if err == nil {
		return nil
	}
	switch c := pgerror.Of(&pgerror.Protocol{Err: err}); {
	case c == pgerror.Pooler:
		return o.halted(halt.Pooler, -1, poolerText, err)
	case c.Event() == protocol.Fatal:
		return o.halted(halt.Database, -1, "the ledger cannot be used", err)
	}
	return err
}

// haltIfPooler is haltIfFinal for want of a connection: what else is wrong with that may pass.
func (o *owner) haltIfPooler(err error) error {
	if pgerror.Of(err) == pgerror.Pooler {
		return o.haltIfFinal(err)
	}
	return err
}

func (o *owner) readTail(ctx context.Context, conn *pgxpool.Conn, a claim) error {
	var err error
	o.tail, err = tailOf(ctx, conn, o.stream)
	if errors.Is(err, pgx.ErrNoRows) {
		committed, err := a.Committed(ctx)
		if err != nil {
			return err
		}
		return o.haltedWith(halt.LedgerGone, -1, "the ledger is missing: the partition is known, but its rows are gone", nil, o.adoption(a, max(a.Low, committed)))
	}
	// A new process, or the next owner, must not write as many dead letters again before
	// on_failure.stop_after halts it.
	o.row = ledger.Letters(o.tail.Kind, o.tail.Info)
	if err == nil {
		o.w.lag.At(o.tail.Next, time.Now())
	}
	return o.haltIfFinal(err)
}

// tailOf reads the last row of a chain.
func tailOf(ctx context.Context, db rower, stream int32) (t ledger.Tail, err error) {
	err = db.QueryRow(ctx, ledger.TailSQL, stream).Scan(t.Fields()...)
	return t, err
}

// policy compares the tail with the broker and the spec before the partition is fenced.
func (o *owner) policy(a claim) error {
	t := o.tail
	if t.Def != ledger.NoIdentity && !slices.Contains(o.c.service.Identity.Knows, uint32(t.Def)) {
		return o.haltedWith(halt.NewerVersion, -1, fmt.Sprintf("another version of this service ran here, under which events have another identity (%08x, this one has %08x): this version would not recognise what that one applied, and apply copies of it again; deploy that version again, or one that knows both", uint32(t.Def), o.c.service.Identity.Writes), nil,
			" --older-version-may-run")
	}
	if !a.broker {
		return nil
	}
	switch {
	case o.placed() && t.Parts != a.Partitions:
		return o.partitionsChanged(a, t.Parts)
	case t.Next < a.Low:
		return o.haltedWith(halt.RetentionPassed, -1, fmt.Sprintf("offsets %d to %d were deleted before they were read: the topic's retention overtook the position", t.Next, a.Low-1), nil,
			fmt.Sprintf(" --from %d --to %d", t.Next, a.Low))
	case t.Next > a.High:
		return &aheadError{a.High, t}
	}
	return nil
}

// fence appends a row that moves nothing but ends every other owner's memory. One that was
// sent is waited for, as long as the server lets it wait for a lock: who is given up
// meanwhile can then hand back what it took.
func (o *owner) fence(ctx context.Context, conn *pgxpool.Conn, a claim, window int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), assignTimeout)
	defer cancel()
	def := int32(o.c.service.Identity.Writes)
	row := ledger.Row{Kind: ledger.Fence, Token: newToken(), Next: o.tail.Next, Epoch: o.tail.Epoch, Window: window, Def: &def, Info: ledger.FenceInfo(who(), o.row)}
	if a.broker {
		row.Parts = &a.Partitions
	}
	p := newPipeline(ctx, conn.Conn())
	p.add(o.appendStatement(row))
	r, err := p.run()
	if err != nil {
		return err
	}
	o.tail = ledger.Tail{
		Seq: o.tail.Seq + 1, Token: row.Token, Next: row.Next, Kind: row.Kind, Epoch: row.Epoch,
		Def: def, Parts: o.tail.Parts, Window: max(o.tail.Window, row.Window), Written: r.written(),
	}
	if a.broker {
		o.tail.Parts = a.Partitions
	}
	o.fresh = true
	return nil
}

// who names this process for people who read the ledger.
func who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}
