package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
)

// A restore, or a failover to a standby that lags, takes commits back. Kafka does not go back
// with the database: with the group's offset it keeps a [ledger.Mark], which names a row of the
// chain. So a take-over whose chain never had that row knows that commits are gone, and which
// records were theirs.

// durable is what is committed to Kafka of a tail.
type durable struct {
	next int64
	mark ledger.Mark
}

// keepDurable keeps what is to be committed of the tail.
func (o *Owner) keepDurable() {
	o.durable.Store(&durable{o.chain.Next(), o.chain.Mark(o.p.process.Service.Consumer)})
}

// commit returns what may be committed to Kafka.
func (o *Owner) commit() idemtype.Commit {
	d := o.durable.Load()
	if d == nil {
		return idemtype.NoCommit
	}
	m := d.mark
	if calls := o.p.process.Calls; calls != nil {
		m.Fence = max(m.Fence, calls.Token())
	}
	return idemtype.Commit{Offset: d.next, Metadata: m.String()}
}

// lost are records whose commits the database no longer has.
type lost struct {
	from, to int64
	since    time.Time // when it was found
}

func (l *lost) Error() string {
	return fmt.Sprintf("the database lost commits, as after a restore or a failover: the ledger went back to offset %d, and records up to offset %d (at most %d) are applied again; "+
		"calls of effects that may have been made for them are repeated or become dead letters, as if_interrupted says", l.from, l.to-1, l.to-l.from)
}

// checkLost compares the chain with what was committed to Kafka for it.
func (t *takeOver) checkLost(ctx context.Context) error {
	c, err := t.commit(ctx)
	if err != nil {
		return err
	}
	p, o := t.o.p, t.o
	if m, ours := ledger.ReadMark(c.Metadata); ours {
		var missing chain.Missing
		var is bool
		if missing, is, err = o.chain.Compare(ctx, t.conn.Conn(), c.Offset, m, p.process.Calls != nil); err != nil {
			return haltIfFinal(err)
		}
		if is {
			p.process.Keys.Filters.Forget()
		}
		if is && !missing.Known {
			t.lost = &lost{missing.From, missing.To, time.Now()}
			p.process.Counters.WentBack.Add(1)
			p.process.Log.Error(t.lost.Error(), "topic", p.id.Topic, "partition", p.id.Number, "next", missing.From, "committed", missing.To)
		}
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
	if m, ours := ledger.ReadMark(t.committed.Metadata); ours {
		known = max(known, m.Fence)
	}
	moved, err := chain.PassToken(ctx, t.conn.Conn(), known)
	if moved {
		p.process.Log.Warn("the sequence idem_fence was behind a fencing token that was drawn, and was moved: was the database moved or restored without its sequences?",
			"topic", p.id.Topic, "partition", p.id.Number, "token", known)
	}
	return haltIfFinal(err)
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
	if d := p.owner.durable.Load(); d != nil && d.next >= l.to {
		return nil
	}
	return l
}

// keepLost keeps for Health what the chain says is missing.
func (o *Owner) keepLost() {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.p.status.lost = nil
	if m, is := o.chain.Lost(); is && o.p.owner == o {
		o.p.status.lost = &lost{m.From, m.To, time.Now()}
	}
}
