package history

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Setup of the generated tests. This file is yours: idemgen will not change it.

// newTestHandler returns the handler under test. Each test has its own database, db.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return struct{ stubHandler }{} // does nothing: these tests are about the spec
}

func init() { idemtest.ChangesNoRow("OrderRepriced") }

// editTestLog returns the records of a topic that the tests apply: log, which was generated from
// the spec, as it is or with records of your own.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	return log
}
