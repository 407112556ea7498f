package chain

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// standing is what is known of the chain besides its rows.
type standing struct {
	id        wire.UUID
	lostFrom  int64 // commits of the records from here
	lostTo    int64 // to here are gone; -1 if none are known to be
	lostFence int64 // decisions of operators below this number may have been carried out by commits that are gone
	drawn     int64 // the highest fencing token as of the take-over; 0 if the service draws none
}

// Stand reads what is known of the chain besides its rows. fences says whether the service draws
// fencing tokens.
func (c *Chain) Stand(ctx context.Context, conn *pgx.Conn, fences bool) error {
	s := standing{}
	err := conn.QueryRow(ctx, ledger.StandingSQL, c.stream).Scan(&s.id, &s.lostFrom, &s.lostTo, &s.lostFence)
	if err == nil && fences {
		err = conn.QueryRow(ctx, ledger.DrawnSQL).Scan(&s.drawn)
	}
	if err == nil {
		c.standing = s
	}
	return err
}

// ID returns the id of the chain, which is also in its marks.
func (c *Chain) ID() wire.UUID { return c.standing.id }

// Drawn returns the highest fencing token as of the take-over; 0 if the service draws none.
func (c *Chain) Drawn() int64 { return c.standing.drawn }

// Gone returns the offset below which effects may have been called by commits that are gone, and
// the number below which operators' decisions may have been carried out by them.
func (c *Chain) Gone() (lostTo, lostFence int64) { return c.standing.lostTo, c.standing.lostFence }

// Lost returns the records whose commits are gone and that are not applied again yet.
func (c *Chain) Lost() (m Missing, is bool) {
	return Missing{From: c.standing.lostFrom, To: c.standing.lostTo}, c.standing.lostTo > c.tail.Next
}

// Tails returns the chains of some partitions of a topic, as far as their marks need them.
func Tails(ctx context.Context, conn *pgx.Conn, consumer, topic string, topicID wire.UUID, numbers []int32) (map[int32]*Chain, error) {
	rows, err := conn.Query(ctx, ledger.TailsSQL, consumer, topic, topicID, numbers)
	if err != nil {
		return nil, err
	}
	all := map[int32]*Chain{}
	var number int32
	var c Chain
	_, err = pgx.ForEachRow(rows, []any{&number, &c.stream, &c.standing.id, &c.tail.Seq, &c.tail.Token, &c.tail.Next}, func() error {
		all[number] = &Chain{stream: c.stream, standing: c.standing, tail: c.tail}
		return nil
	})
	return all, err
}

// Missing are records whose commits are gone from the database. If there are none, only rows
// without records are gone.
type Missing struct {
	From, To int64
	Known    bool // they were found to be missing before
}

// Compare compares the chain with marks that its owners made. If it never had the row of one of
// them, the database lost commits: Compare records which, and moves the fencing tokens past all
// that may have been in use. It reports false if nothing is missing.
func (c *Chain) Compare(ctx context.Context, conn *pgx.Conn, marks []ledger.Mark, fences bool) (missing Missing, is bool, err error) {
	missing = Missing{From: c.tail.Next, To: c.tail.Next}
	known := int64(0) // the highest token in a mark of a row that is gone
	for _, m := range marks {
		if m.Token == c.tail.Token {
			continue
		}
		gone, _, err := m.Gone(ctx, conn, c.stream)
		if err != nil {
			return missing, false, err
		}
		if gone {
			is, missing.To, known = true, max(missing.To, m.Next, m.High), max(known, m.Fence)
		}
	}
	if !is {
		return missing, false, nil
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		fence := int64(0)
		if !fences {
			known = -1
		} else if fence, err = passAll(ctx, tx, known); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, ledger.LostSQL, c.stream, missing.From, missing.To, fence, known)
		missing.Known = tag.RowsAffected() == 0
		return err
	})
	if err == nil {
		err = c.Stand(ctx, conn, fences)
	}
	return missing, err == nil, err
}
