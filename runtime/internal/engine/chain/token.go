package chain

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// PassToken moves the sequence of fencing tokens past all that may have been drawn, if it is
// behind one that is known to have been, and reports whether it was.
func PassToken(ctx context.Context, conn *pgx.Conn, known int64) (moved bool, err error) {
	tag, err := conn.Exec(ctx, ledger.LeapSQL, known)
	return tag.RowsAffected() > 0, err
}

// passAll moves the sequence past all tokens that may have been drawn, also before a restore, and
// returns its new value. known is one that was drawn.
func passAll(ctx context.Context, tx pgx.Tx, known int64) (drawn int64, err error) {
	if err := tx.QueryRow(ctx, ledger.DrawnSQL).Scan(&drawn); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, ledger.LeapSQL, max(drawn, known)+1); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, ledger.DrawnSQL).Scan(&drawn)
	return drawn, err
}
