package notify

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Setup of the generated tests. This file is yours: idemgen will not change it.

// newTestHandler returns the handler under test. Each test has its own database, db.
// Cases that do not state the result of an effect call it: give the handler a fake provider.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return struct{ stubHandler }{} // does nothing: these tests are about the spec
}
