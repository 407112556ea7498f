package devices

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Setup of the generated tests. This file is yours: idemgen will not change it.

// newTestHandler returns the handler under test, for a database of the test's own, in which the
// devices of the log are.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	idemtest.Exec(t, db, `INSERT INTO devices SELECT 'device_id ' || i, 0, 0 FROM generate_series(1, 3) AS i ON CONFLICT DO NOTHING`)
	return Service{}
}

// editTestLog returns the records of a topic that the tests apply: log, which was generated from
// the spec, as it is or with records of your own.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	return log
}
