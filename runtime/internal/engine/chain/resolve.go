package chain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Found is what stands at a place of the chain.
type Found uint8

// What stands there.
const (
	Nothing    Found = iota
	Own              // one of our attempts, whatever became of its reply
	ByCall           // one that a handler committed, and that counts as rolled back
	ByOperator       // an operator's row
	ByFence          // another owner's fence
	ByOther          // another owner's batch
)

// Standing is the row behind the tail.
type Standing struct {
	Found   Found
	Attempt Attempt // of Own and ByCall
	Written time.Time
}

// Resolve reads the row behind the tail. If its token is that of one of our attempts, that
// attempt committed, and its content counts. Otherwise another owner appended: the tail moves
// to its row, for those who watch the chain from now on.
func (c *Chain) Resolve(ctx context.Context, db Querier) (s Standing, err error) {
	token, kind, written, info, err := row(ctx, db, c.stream, c.Seq())
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s = Standing{Found: ByOther, Written: written}
	if i := slices.IndexFunc(c.attempts, func(a Attempt) bool { return a.Row.Token == token }); i >= 0 {
		s.Found, s.Attempt = Own, c.attempts[i]
		if s.Attempt.By != nil {
			s.Found = ByCall
		}
		return s, nil
	}
	if ledger.ByOperator(kind, info) {
		s.Found = ByOperator
	} else if kind == ledger.Fence {
		s.Found = ByFence
	}
	c.tail = ledger.Tail{Seq: c.Seq(), Token: token, Next: c.tail.Next, Epoch: c.tail.Epoch, Kind: kind, Info: info}
	return s, nil
}

// Check reads whether the chain still ends with the tail, or at least holds it: moved tells
// that another row stands behind, lost that the tail is gone.
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
	if err == nil && token == c.tail.Token || errors.Is(err, pgx.ErrNoRows) { // or it was removed, with all so old
		return true, false, nil
	}
	return false, err == nil, err
}

func row(ctx context.Context, db Querier, stream int32, seq int64) (token wire.UUID, kind byte, written time.Time, info string, err error) {
	err = db.QueryRow(ctx, ledger.RowSQL, stream, seq).Scan(&token, &kind, &written, &info)
	return token, kind, written, info, err
}
