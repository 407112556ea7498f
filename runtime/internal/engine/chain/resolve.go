package chain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Found is whose row is at a place of the chain.
type Found uint8

// Whose row is there.
const (
	Nothing    Found = iota
	Own              // one of our attempts, whatever became of its reply
	ByOperator       // an operator's row
	ByFence          // another owner's fence
	ByOther          // another owner's batch
)

// Resolved is the row after the tail.
type Resolved struct {
	Found   Found
	Attempt Attempt // of Own
	Written time.Time
}

// Resolve reads the row after the tail. If its token is that of one of our attempts, that
// attempt committed, and its content counts. Otherwise another owner appended: the tail moves
// to that row, from which a partition in STANDBY reads on.
func (c *Chain) Resolve(ctx context.Context, db Querier) (s Resolved, err error) {
	token, kind, writer, written, err := row(ctx, db, c.stream, c.Seq())
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s = Resolved{Found: ByOther, Written: written}
	if i := slices.IndexFunc(c.attempts, func(a Attempt) bool { return a.Row.Token == token }); i >= 0 {
		s.Found, s.Attempt = Own, c.attempts[i]
		return s, nil
	}
	if writer == ledger.Person {
		s.Found = ByOperator
	} else if kind == ledger.Fence {
		s.Found = ByFence
	}
	c.tail = ledger.Tail{Seq: c.Seq(), Token: token, Next: c.tail.Next, Epoch: c.tail.Epoch, Kind: kind, Writer: writer}
	return s, nil
}

// Check reads whether the chain still ends with the tail, or at least holds it: moved tells
// that a row follows it, lost that the tail is gone.
func (c *Chain) Check(ctx context.Context, db Querier) (moved, lost bool, err error) {
	t, err := Tail(ctx, db, c.stream)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return false, false, err
	case t.Token == c.tail.Token:
		return false, false, nil
	case t.Seq <= c.tail.Seq:
		return false, true, nil
	}
	token, _, _, _, err := row(ctx, db, c.stream, c.tail.Seq)
	if err == nil && token == c.tail.Token || errors.Is(err, pgx.ErrNoRows) { // or the upkeep removed it
		return true, false, nil
	}
	return false, err == nil, err
}

func row(ctx context.Context, db Querier, stream int32, seq int64) (token wire.UUID, kind, writer byte, written time.Time, err error) {
	err = db.QueryRow(ctx, ledger.RowSQL, stream, seq).Scan(&token, &kind, &written, &writer)
	return token, kind, writer, written, err
}
