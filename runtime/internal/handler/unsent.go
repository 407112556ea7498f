package handler

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// unsent is a use of the transaction that was not sent, because the context that the handler gave
// had ended. The call has failed, even if the handler ignores the error, as it has if the context
// ends while the statement runs; unless a savepoint around it is rolled back.
type unsent struct {
	on  *handlerTx
	err error
}

// lives returns the error of a context that has ended, before anything is sent with it.
func (h *handlerTx) lives(ctx context.Context) error {
	err := ctx.Err()
	if err != nil {
		h.unsent(err)
	}
	return err
}

// sent notes an error of the driver that says that nothing was sent, because the context had
// ended.
func (h *handlerTx) sent(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && pgconn.SafeToRetry(err) {
		h.unsent(err)
	}
	return err
}

func (h *handlerTx) unsent(err error) {
	c := h.of
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	c.unsent = append(c.unsent, unsent{h, err})
}

// missed returns the error of the first use that was not sent and not rolled back.
func (c *call) missed() error {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	for _, u := range c.unsent {
		if !u.on.back() {
			return errors.Join(errMissed, u.err)
		}
	}
	return nil
}

// back reports whether the savepoint, or one around it, was rolled back.
func (h *handlerTx) back() bool {
	for ; h != nil; h = h.within {
		if h.rolledBack {
			return true
		}
	}
	return false
}

var errMissed = errors.New("a statement was not sent, because its context had ended")
