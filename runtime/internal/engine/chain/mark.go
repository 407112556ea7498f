package chain

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// standing is what is known of the chain besides its rows.
type standing struct {
	id       wire.UUID
	lostFrom int64 // commits of the records from here
	lostTo   int64 // to here are gone; -1 if none are known to be
	drawn    int64 // the highest fencing token as of the take-over; 0 if the service draws none
}

// Stand reads what is known of the chain besides its rows. fences says whether the service draws
// fencing tokens.
func (c *Chain) Stand(ctx context.Context, conn *pgx.Conn, fences bool) error {
	s := standing{}
	err := conn.QueryRow(ctx, ledger.StandingSQL, c.stream).Scan(&s.id, &s.lostFrom, &s.lostTo)
	if err == nil && fences {
		err = conn.QueryRow(ctx, ledger.DrawnSQL).Scan(&s.drawn)
	}
	if err == nil {
		c.standing = s
	}
	return err
}

// LostTo returns the offset below which effects may have been called by commits that are gone.
func (c *Chain) LostTo() int64 { return c.standing.lostTo }

// Lost returns the records whose commits are gone and that are not applied again yet.
func (c *Chain) Lost() (m Missing, is bool) {
	return Missing{From: c.standing.lostFrom, To: c.standing.lostTo}, c.standing.lostTo > c.tail.Next
}

// Mark returns the mark of the tail.
func (c *Chain) Mark(consumer string) ledger.Mark {
	return ledger.Mark{
		Stream: c.standing.id, Seq: c.tail.Seq, Token: c.tail.Token, High: max(c.tail.Next, c.standing.lostTo), Fence: c.standing.drawn, Consumer: consumer,
	}
}

// Missing are records whose commits are gone from the database.
type Missing struct {
	From, To int64
	Known    bool // they were found to be missing before
}

// Compare compares the chain with the mark that was committed to Kafka with an offset. If the
// chain ends before it and never had its row, the database lost commits: Compare records which,
// and moves the fencing tokens past all that may have been in use. It reports false if nothing is
// missing. A mark of another chain says nothing: an operator began this one.
func (c *Chain) Compare(ctx context.Context, conn *pgx.Conn, offset int64, m ledger.Mark, fences bool) (Missing, bool, error) {
	missing := Missing{From: c.tail.Next, To: max(offset, m.High)}
	if m.Stream != c.standing.id || missing.To <= missing.From {
		return Missing{}, false, nil
	}
	var known bool
	if err := conn.QueryRow(ctx, ledger.KnowsSQL, c.stream, m.Seq, m.Token).Scan(&known); err != nil || known {
		return Missing{}, false, err
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if fences {
			if _, err := tx.Exec(ctx, ledger.LeapSQL, m.Fence+leap); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, ledger.LostSQL, c.stream, missing.From, missing.To)
		missing.Known = tag.RowsAffected() == 0
		return err
	})
	if err != nil {
		return Missing{}, false, err
	}
	return missing, true, c.Stand(ctx, conn, fences)
}

// leap is how far fencing tokens move when the database lost commits. Those that were drawn after
// the last commit to Kafka, in whatever process, are below that.
const leap = 1_000_000_000
