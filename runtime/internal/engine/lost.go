package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// A restore, or a failover to a standby that lags, takes commits back. Kafka does not go back
// with the database: with the group's offset it keeps a [ledger.Mark], which names a row of the
// chain. So a take-over whose chain never had that row knows that commits are gone, and which
// records were theirs.

// keepDurable keeps the mark of the tail.
func (o *Owner) keepDurable() {
	m := o.chain.Mark(o.p.process.Service.Consumer)
	m.Fence = o.fence()
	o.durable.Store(&m)
}

// fence returns the highest fencing token that the process knows; 0 if it draws none.
func (o *Owner) fence() int64 {
	if calls := o.p.process.Calls; calls != nil {
		return calls.Token()
	}
	return 0
}

// mark returns the mark to commit to Kafka; nil if the chain has not been read. Calls that began
// ahead of the position belong to it.
func (o *Owner) mark() *ledger.Mark {
	d := o.durable.Load()
	if d == nil {
		return nil
	}
	m := *d
	if called := o.called.Load(); called > m.High {
		m.High, m.Fence = called, o.fence()
	}
	return &m
}

// began records that a call may have begun for every record below an offset. Any goroutine may
// call it.
func (o *Owner) began(offset int64) {
	for was := o.called.Load(); offset > was && !o.called.CompareAndSwap(was, offset); was = o.called.Load() {
	}
}

// committing returns what may be committed to Kafka.
func committing(m *ledger.Mark) idemtype.Commit {
	if m == nil {
		return idemtype.NoCommit
	}
	return idemtype.Commit{Offset: m.Next, Metadata: m.String()}
}

// lost are records whose commits the database no longer has; or none, if only other rows of the
// ledger are gone.
type lost struct {
	from, to int64
	since    time.Time // when it was found
}

func (l *lost) Error() string {
	const text = "the database lost commits, as after a restore or a failover: "
	if l.from == l.to {
		return text + fmt.Sprintf("rows of the ledger at offset %d are gone, but no records; later actions of operators, such as replays, discards, erasures and pauses, are undone", l.from)
	}
	return text + fmt.Sprintf("the ledger went back to offset %d, and records up to offset %d (at most %d) are applied again; "+
		"calls of effects that may have been made for them are repeated or become dead letters, as if_interrupted says", l.from, l.to-1, l.to-l.from)
}

// news is how long Health reports rows that are gone without records.
const news = time.Hour

// over reports whether a chain that ends at next has all records again.
func (l *lost) over(next int64) bool {
	if l.from == l.to {
		return next > l.to || time.Since(l.since) > news
	}
	return next >= l.to
}

// checkLost compares the chain with what was committed to Kafka for it, and with what the last
// owner in this process knew.
func (t *takeOver) checkLost(ctx context.Context) error {
	c, err := t.commit(ctx)
	if err != nil {
		return err
	}
	p, o := t.o.p, t.o
	var marks []ledger.Mark
	if m, ours := ledger.ReadMark(c.Offset, c.Metadata); ours {
		marks = append(marks, m)
	}
	if m := p.standby.mark; m != nil {
		marks = append(marks, *m)
	}
	for _, m := range marks {
		if m.Stream == o.chain.ID() {
			o.began(m.High)
		}
	}
	missing, is, err := o.chain.Compare(ctx, t.conn.Conn(), marks, p.process.Calls != nil)
	if err != nil {
		return haltIfFinal(err)
	}
	// Also before a fence: a pause has a mark, and the database may go back under this process
	// before it has drawn a token itself.
	if calls := p.process.Calls; calls != nil {
		calls.Know(o.chain.Drawn())
	}
	if is {
		p.process.Keys.Filters.Forget()
	}
	if is && !missing.Known {
		t.lost = p.process.wentBack(p.id, missing)
		p.process.elsewhere.lost()
	}
	return nil
}

// passTokens moves the sequence of fencing tokens past those that Kafka and this process know to
// have been drawn, if it is behind: a database may be moved or restored without it.
func (t *takeOver) passTokens(ctx context.Context) error {
	p := t.o.p
	if p.process.Calls == nil {
		return nil
	}
	known := p.process.Calls.Token()
	if m, ours := ledger.ReadMark(t.committed.Offset, t.committed.Metadata); ours {
		known = max(known, m.Fence)
	}
	moved, err := chain.PassToken(ctx, t.conn.Conn(), known)
	if moved {
		p.process.Log.Warn("the sequence idem_fence was behind a fencing token that was drawn, and was moved: was the database moved or restored without its sequences?",
			"topic", p.id.Topic, "partition", p.id.Number, "token", known)
	}
	return haltIfFinal(err)
}

// wentBack reports that the database lost commits of a partition.
func (s *Process) wentBack(id idemtype.Partition, m chain.Missing) *lost {
	l := &lost{m.From, m.To, time.Now()}
	s.Counters.WentBack.Add(1)
	s.Log.Error(l.Error(), "topic", id.Topic, "partition", id.Number, "next", m.From, "committed", m.To)
	return l
}

// commit returns what the group has committed for the partition.
func (t *takeOver) commit(ctx context.Context) (idemtype.Commit, error) {
	if t.committed == nil {
		c, err := t.a.Committed(ctx)
		if err != nil {
			return c, err
		}
		t.committed = &c
	}
	return *t.committed, nil
}

// withLost adds to the reason of a halt that commits are gone, which may be its cause.
func (t *takeOver) withLost(err error) error {
	h, halts := errors.AsType[*verdict.Halt](err)
	if m, is := t.o.chain.Lost(); halts && is {
		h.Reason += "; " + (&lost{from: m.From, to: m.To}).Error()
	}
	return err
}

// note returns what the fence says of what is missing.
func (t *takeOver) note() string {
	if t.lost == nil {
		return ""
	}
	return "; " + t.lost.Error()
}

// lost returns the records whose commits are gone and that are not applied again yet; nil if there
// are none. The partition's lock must be held.
func (p *Partition) lost() error {
	l := p.status.lost
	if l == nil || p.owner == nil {
		return nil
	}
	if d := p.owner.durable.Load(); d != nil && l.over(d.Next) {
		return nil
	}
	return l
}

// keepLost keeps for Health what is missing: as found by the take-over, or as an earlier one found
// it.
func (o *Owner) keepLost(found *lost) {
	if m, is := o.chain.Lost(); is {
		found = &lost{m.From, m.To, time.Now()}
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	if o.p.status.lost = nil; o.p.owner == o {
		o.p.status.lost = found
	}
}

// inspect checks whether the chain of an idle partition still ends with the owner's row. This is
// the only way to notice an operator's row, or a failover that lost what the owner applied. An
// attempt in doubt is settled by the next append, not by reading.
func (o *Owner) inspect(ctx context.Context) error {
	if state, _ := o.p.at(); state != protocol.Ready || o.chain.Open() > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.limits().BatchTimeout)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	err := o.checkTail(ctx)
	if _, fenced := errors.AsType[*idemtype.FencedError](err); fenced || o.life.quit.Err() != nil {
		return err
	}
	if err != nil { // not a reason to halt: nothing was rejected
		err = &verdict.Later{Err: outage.InWords(verdict.Describe(err))}
	}
	o.p.tell(o, err)
	return nil
}

// checkTail takes the protocol's step if the tail is not the owner's row.
func (o *Owner) checkTail(ctx context.Context) error {
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err != nil {
		return err
	}
	defer conn.Release()
	follows, lost, err := o.chain.Check(ctx, conn)
	if follows { // not an append of ours, which may be in doubt
		return (&transaction{o: o, conn: conn}).resolve(ctx).err
	}
	if lost {
		return o.fenced(protocol.Gone, "the ledger's row of this owner is gone").err
	}
	if err == nil {
		err = o.keys.Keep(ctx, conn.Conn(), o.chain.Stream(), o.chain.Tail())
	}
	return err
}

// keepSeen records, from time to time, how far the partition has been read. If that fails, keys
// are kept for longer.
func (o *Owner) keepSeen(ctx context.Context) {
	if state, _ := o.p.at(); state != protocol.Ready || !o.keys.KeepDue() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, o.limits().BatchTimeout)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	conn, err := o.p.process.Pool.Acquire(ctx, func(error) {})
	if err == nil {
		defer conn.Release()
		err = o.keys.Keep(ctx, conn.Conn(), o.chain.Stream(), o.chain.Tail())
	}
	if err != nil {
		o.p.process.Log.Debug("how far a partition has been read was not recorded", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", verdict.Describe(err))
	}
}

// pass advances the position to end, because the log has no record below it. If that fails, it is
// retried with the next call of Idle, or the next record advances the position.
func (o *Owner) pass(ctx context.Context, end int64) error {
	to, ok := o.p.endOf(ctx, end)
	if !ok {
		return o.inspect(ctx)
	}
	w := o.batch(nil)
	w.end = to
	err := o.conclude(w, o.transact(ctx, w))
	if _, wait := errors.AsType[*verdict.Later](err); wait {
		o.p.tell(o, err)
		return nil
	}
	return err
}

// endOf returns the position at the end of the log, with the current leader epoch: transaction
// markers may have a later epoch than the last record. It reports false while the broker does not
// provide it, and while there are records after the end, such as those of an open transaction:
// these may have an earlier epoch.
func (p *Partition) endOf(ctx context.Context, end int64) (idemtype.Position, bool) {
	ask := p.standby.a.Last
	if ask == nil {
		return idemtype.Position{Offset: end, Epoch: -1}, true
	}
	last, err := ask(ctx)
	return idemtype.Position{Offset: end, Epoch: last.Epoch}, err == nil && last.Offset == end
}
