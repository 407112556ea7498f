package idem

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// handlerTx is what handlers get: the transaction without its end. A type of its own, so
// that tx.(pgx.Tx) fails and nobody commits by accident.
type handlerTx struct{ tx pgx.Tx }

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return h.tx.Exec(ctx, sql, args...)
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return h.tx.Query(ctx, sql, args...)
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return h.tx.QueryRow(ctx, sql, args...)
}

func (h *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error) {
	return h.tx.CopyFrom(ctx, table, columns, src)
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return h.tx.SendBatch(ctx, b)
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
