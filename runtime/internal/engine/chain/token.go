package chain

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// PassToken moves the sequence of fencing tokens past all that may have been drawn, if it is
// behind one that is known to have been, and reports whether it was.
func PassToken(ctx context.Context, conn *pgx.Conn, known int64) (moved bool, err error) {
	var drawn int64
	if err := conn.QueryRow(ctx, ledger.DrawnSQL).Scan(&drawn); err != nil || drawn >= known {
		return false, err
	}
	_, err = conn.Exec(ctx, ledger.LeapSQL, known+leap)
	return err == nil, err
}
