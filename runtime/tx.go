package idem

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// handlerTx is what handlers get: the transaction without its end. A type of its own, so
// that tx.(pgx.Tx) fails and nobody commits by accident. It remembers the first error that
// the database told, because a transaction that failed cannot commit, whatever the handler
// makes of it.
type handlerTx struct {
	tx     pgx.Tx
	failed atomic.Pointer[pgconn.PgError]
}

func (h *handlerTx) note(err error) {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		h.failed.CompareAndSwap(nil, pg)
	}
}

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := h.tx.Exec(ctx, sql, args...)
	h.note(err)
	return tag, err
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	rows, err := h.tx.Query(ctx, sql, args...)
	h.note(err)
	return rows, err
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return notedRow{h.tx.QueryRow(ctx, sql, args...), h}
}

func (h *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error) {
	n, err := h.tx.CopyFrom(ctx, table, columns, src)
	h.note(err)
	return n, err
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return h.tx.SendBatch(ctx, b)
}

type notedRow struct {
	pgx.Row
	tx *handlerTx
}

func (r notedRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	r.tx.note(err)
	return err
}

// PgxTx returns the pgx transaction behind tx, for libraries that ask for one, such as
// river's InsertTx. Its Commit and Rollback return [ErrTxOwned]; Begin gives a savepoint
// as usual. It panics if tx did not come from the runtime or from pgx.
func PgxTx(tx Tx) pgx.Tx {
	switch t := tx.(type) {
	case *handlerTx:
		return ownedTx{t.tx}
	case pgx.Tx:
		return t
	}
	panic(fmt.Sprintf("idem: PgxTx: %T is no transaction of the runtime or of pgx", tx))
}

type ownedTx struct{ pgx.Tx }

func (ownedTx) Commit(context.Context) error   { return ErrTxOwned }
func (ownedTx) Rollback(context.Context) error { return ErrTxOwned }
