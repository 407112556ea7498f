package verdict

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRefusedStepSaysWhy: the words of a step that cannot do what it says are read out of the
// server's detail, whose own words are in any language.
func TestRefusedStepSaysWhy(t *testing.T) {
	for detail, want := range map[string]string{
		"Failing row contains (no row with this key, orders).":            "no row with this key in table orders",
		"Fehlgeschlagene Zeile enthält (no row with this key, accounts).": "no row with this key in table accounts",
		"something else": "a step could not do what the spec says",
	} {
		if got := Describe(&pgconn.PgError{Code: "23514", TableName: "idem_step_refused", Detail: detail}).Error(); got != want {
			t.Errorf("%s: %q, want %q", detail, got, want)
		}
	}
}

// The server calls a row without a partition a violated check, of no constraint.
func TestARowWithoutAPartition(t *testing.T) {
	for pg, want := range map[*pgconn.PgError]string{
		{Code: "23514", TableName: "accounts"}:                             "no partition of the table accepts the row: SQLSTATE 23514, table accounts",
		{Code: "23514", TableName: "accounts", ConstraintName: "positive"}: "a check is violated: SQLSTATE 23514, table accounts, constraint positive",
	} {
		if got := Describe(pg).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
