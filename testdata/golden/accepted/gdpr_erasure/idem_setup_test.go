package profiles

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Setup of the generated tests. This file is yours: idemgen will not change it.

// newTestHandler returns the handler under test. Each test has its own database, db.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return Service{Open: func(_ idem.UUID, sealed []byte) (string, error) {
		if len(sealed) == 0 {
			return "", errors.New("no key opens it")
		}
		return string(sealed) + "@example.com", nil
	}}
}

// editTestLog returns the records of a topic that the tests apply: log, which was generated from
// the spec, as it is or with records of your own.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	return log
}
