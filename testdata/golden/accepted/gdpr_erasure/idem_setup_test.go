package profiles

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// The set-up of the generated tests. This file is yours: idemgen does not touch it again.

// newTestHandler returns the handler under test, for a database of the test's own.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return Service{Open: func(_ idem.UUID, sealed []byte) (string, error) {
		if len(sealed) == 0 {
			return "", errors.New("no key opens it")
		}
		return string(sealed) + "@example.com", nil
	}}
}

// editTestLog returns the records of a topic that the tests apply: those made from the
// spec, as they are or with some of your own.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	return log
}
