package balances

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// newTestHandler returns the handler under test: the service's own, or one that a test below asks
// for.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	switch os.Getenv(handlerVariable) {
	case "overwrites":
		return overwrites{}
	case "outside":
		return outside{db: db}
	case "idle":
		return idle{}
	case "twice":
		return twice{outside{db: db}}
	}
	return Service{}
}

// editTestLog returns the records of a topic that the tests apply.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	return log
}
