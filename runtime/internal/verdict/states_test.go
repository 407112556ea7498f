package verdict

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
)

// Whose an error of the protocol's own statements is follows from its table and code; only what a
// trigger of others raises is a record's.
func TestErrorsOfTheProtocolsStatements(t *testing.T) {
	const raise = "exec_stmt_raise"
	for name, test := range map[string]struct {
		pg   pgconn.PgError
		want Class
	}{
		"a row of ours":                 {pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "idem_ledger_pkey"}, Successor},
		"another constraint":            {pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "c"}, Halting},
		"no row before":                 {pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "prev"}, Gone},
		"another null":                  {pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "next"}, Halting},
		"another error of that column":  {pgconn.PgError{Code: "23514", TableName: "idem_ledger", ColumnName: "prev"}, Halting},
		"a sealed generation":           {pgconn.PgError{Code: "23514", TableName: "idem_keys_7"}, KeyRace},
		"another table":                 {pgconn.PgError{Code: "23505", TableName: "idem_assert", ConstraintName: "c"}, Halting},
		"a lease":                       {pgconn.PgError{Code: "23514", TableName: "idem_assert", ConstraintName: "idem_assert_lease"}, LeaseMoved},
		"a letter":                      {pgconn.PgError{Code: "23514", TableName: "idem_assert", ConstraintName: "idem_assert_letter"}, LetterMoved},
		"a limit of the server":         {pgconn.PgError{Code: "54001"}, Resource},
		"a limit that a trigger raises": {pgconn.PgError{Code: "54001", Routine: raise}, Data},
		"a value":                       {pgconn.PgError{Code: "22003"}, Halting},
		"a value that a trigger raises": {pgconn.PgError{Code: "22003", Routine: raise}, Data},
		"two rows":                      {pgconn.PgError{Code: "21000"}, Halting},
		"a view":                        {pgconn.PgError{Code: "44000"}, Halting},
		"a class of an extension":       {pgconn.PgError{Code: "ZX001"}, Data},
		"a limit of an extension":       {pgconn.PgError{Code: "54"}, Resource},
		"a foreign key":                 {pgconn.PgError{Code: "23503", TableName: "t"}, Data},
	} {
		if got := Of(&Protocol{Err: &test.pg}); got != test.want {
			t.Errorf("%s: class %d, want %d", name, got, test.want)
		}
	}
	for err, want := range map[error]Class{ErrUnreplicated: Resource, ErrKeyMemory: Resource, errors.New("no"): Doubt, &pgconn.PgError{Code: "23514", TableName: "t"}: Resource} {
		if got := Of(err); got != want {
			t.Errorf("%v: class %d, want %d", err, got, want)
		}
	}
}

// Every class is an event of the protocol.
func TestEventsOfClasses(t *testing.T) {
	for class, want := range map[Class]protocol.Event{
		None: protocol.Acked, Successor: protocol.Foreign, Gone: protocol.Gone, Conflict: protocol.Conflict, KeyRace: protocol.Conflict,
		LockWait: protocol.Conflict, Chosen: protocol.Conflict, Timeout: protocol.Conflict, ReadOnly: protocol.Conflict, Stale: protocol.Conflict,
		Unsent: protocol.Conflict, LeaseMoved: protocol.Conflict, LetterMoved: protocol.Conflict, SettingMoved: protocol.Conflict,
		Resource: protocol.Resource, Doubt: protocol.Unknown, Data: protocol.Data, Halting: protocol.Fatal, Pooler: protocol.Fatal,
	} {
		if got := class.Event(); got != want {
			t.Errorf("class %d: event %v, want %v", class, got, want)
		}
	}
}

// In a handler's call, an error of the database is the event's fault, an operator's, or nobody's.
func TestErrorsThatDisturbACall(t *testing.T) {
	for name, test := range map[string]struct {
		pg   pgconn.PgError
		want Class
	}{
		"a value":              {pgconn.PgError{Code: "22003"}, Data},
		"a time-out":           {pgconn.PgError{Code: "57014"}, Data},
		"a chosen conflict":    {pgconn.PgError{Code: "40001", Routine: "exec_stmt_raise"}, Data},
		"a conflict":           {pgconn.PgError{Code: "40001"}, Conflict},
		"a lock":               {pgconn.PgError{Code: "55P03"}, Conflict},
		"a full disk":          {pgconn.PgError{Code: "53100"}, Conflict},
		"a lost statement":     {pgconn.PgError{Code: "26000"}, Halting},
		"no table":             {pgconn.PgError{Code: "42P01"}, Halting},
		"a bad message":        {pgconn.PgError{Code: "08P01", Severity: "ERROR"}, Data},
		"the end of a session": {pgconn.PgError{Code: "08P01", Severity: "FATAL"}, disturbed(&pgconn.PgError{Code: "08006"})},
	} {
		if got := disturbed(&test.pg); got != test.want {
			t.Errorf("%s: class %d, want %d", name, got, test.want)
		}
	}
}

// A text that is no UTF-8 is cut near the limit, and its error keeps its cause.
func TestTextWithoutCharactersIsCut(t *testing.T) {
	text := strings.Repeat("a", reasonBytes-100) + strings.Repeat("\x80", 200)
	if got := cut(text); got != text[:reasonBytes-4]+" ... (cut)" {
		t.Errorf("%d bytes are left", len(got))
	}
	cause := errors.New(text)
	if err := shorten(cause); err.Error() != cut(text) || !errors.Is(err, cause) {
		t.Errorf("%d bytes, the cause is in the chain: %t", len(err.Error()), errors.Is(err, cause))
	}
}
