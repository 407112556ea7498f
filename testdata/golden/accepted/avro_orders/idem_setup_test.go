package orderbook

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The set-up of the generated tests. This file is yours: idemgen does not touch it again.

// newTestHandler returns the handler under test, for a database of the test's own.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return struct{ stubHandler }{} // does nothing: these tests are about the spec
}
