package verdict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Every row of the table of errors, and what it does not name: that halts.
func TestErrorsAreJudgedByTheTable(t *testing.T) {
	for _, test := range []struct {
		err  pgconn.PgError
		want Class
	}{
		{pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "idem_ledger_pkey"}, Successor},
		{pgconn.PgError{Code: "23505", TableName: "orders", ConstraintName: "idem_ledger_pkey"}, Data},
		{pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "of_somebody"}, Halting},
		{pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "prev"}, Gone},
		{pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "next"}, Halting},
		{pgconn.PgError{Code: "23502", TableName: "orders", ColumnName: "prev"}, Data},
		{pgconn.PgError{Code: "23514", TableName: "idem_ledger", ConstraintName: "idem_ledger_shape"}, Halting},
		{pgconn.PgError{Code: "23514", TableName: "idem_ledger", ConstraintName: "idem_ledger_window"}, Halting},
		{pgconn.PgError{Code: "23505", TableName: "idem_keys_3", ConstraintName: "idem_keys_3_pkey"}, KeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_keys_3", ConstraintName: "idem_keys_sealed"}, KeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_keys"}, KeyRace},
		{pgconn.PgError{Code: "23502", TableName: "idem_keys", ColumnName: "gen"}, KeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_assert", ConstraintName: "idem_assert_failed"}, Halting},
		{pgconn.PgError{Code: "23514", TableName: "idem_assert", ConstraintName: "idem_assert_letter"}, LetterMoved},
		{pgconn.PgError{Code: "23514", TableName: "idem_step_refused", ConstraintName: "idem_step_refused"}, Data},
		{pgconn.PgError{Code: "40001"}, Conflict},
		{pgconn.PgError{Code: "40P01"}, Conflict},
		{pgconn.PgError{Code: "55P03"}, LockWait},
		{pgconn.PgError{Code: "57014"}, Timeout},
		{pgconn.PgError{Code: "08006"}, Doubt},
		{pgconn.PgError{Code: "25P03"}, Doubt},
		{pgconn.PgError{Code: "25P04"}, Timeout},
		{pgconn.PgError{Code: "40003"}, Doubt},
		{pgconn.PgError{Code: "57P01"}, Doubt},
		{pgconn.PgError{Code: "57P02"}, Doubt},
		{pgconn.PgError{Code: "57P04"}, Doubt},
		{pgconn.PgError{Code: "57P05"}, Doubt},
		{pgconn.PgError{Code: "23514", TableName: "orders"}, Resource}, // no partition for the row
		{pgconn.PgError{Code: "23514", TableName: "orders", ConstraintName: "orders_check"}, Data},
		{pgconn.PgError{Code: "23514", TableName: "orders", Routine: "exec_stmt_raise"}, Data},
		{pgconn.PgError{Code: "23514"}, Data},
		{pgconn.PgError{Code: "26000"}, Pooler},
		{pgconn.PgError{Code: "42P05"}, Pooler},
		{pgconn.PgError{Code: "25006"}, ReadOnly},
		{pgconn.PgError{Code: "57P03"}, ReadOnly},
		{pgconn.PgError{Code: "53100"}, Resource},
		{pgconn.PgError{Code: "53200"}, Resource},
		{pgconn.PgError{Code: "53300"}, Resource},
		{pgconn.PgError{Code: "58030"}, Resource},
		{pgconn.PgError{Code: "54023"}, Resource},
		{pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, Stale},
		{pgconn.PgError{Code: "0A000"}, Halting},
		{pgconn.PgError{Code: "42P01"}, Halting},
		{pgconn.PgError{Code: "42501"}, Halting},
		{pgconn.PgError{Code: "28P01"}, Halting},
		{pgconn.PgError{Code: "3D000"}, Halting},
		{pgconn.PgError{Code: "3F000"}, Halting},
		{pgconn.PgError{Code: "25P02"}, Halting},
		{pgconn.PgError{Code: "23503", TableName: "orders"}, Data},
		{pgconn.PgError{Code: "23P01", TableName: "orders"}, Data},
		{pgconn.PgError{Code: "P0001"}, Data},
		{pgconn.PgError{Code: "XX001"}, Halting},
		{pgconn.PgError{Code: "P0002"}, Data},
		{pgconn.PgError{Code: "P0003"}, Data},
		{pgconn.PgError{Code: "P0004"}, Data},
		{pgconn.PgError{Code: "P0000"}, Halting},
		{pgconn.PgError{Code: "ZZ999"}, Data}, // of a class that no server uses
		{pgconn.PgError{Code: "U0001"}, Data},
		{pgconn.PgError{Code: "40ZZZ"}, Halting},
		{pgconn.PgError{Code: "72000"}, Halting}, // of a class that servers used once
		{pgconn.PgError{Code: "ZZ"}, Halting},
		{pgconn.PgError{Code: ""}, Halting},
	} {
		err := fmt.Errorf("wrapped: %w", &test.err)
		if got := Of(&Protocol{Err: err}); got != test.want && test.err.TableName != "idem_step_refused" { // which it never writes
			t.Errorf("%+v of a statement of the protocol: class %d, want %d", test.err, got, test.want)
		}
		want := test.want
		switch {
		case test.err.TableName == "idem_keys": // no constraint's name
			want = OfState(&test.err)
		case strings.HasPrefix(test.err.TableName, "idem_"):
			want = Data
		}
		if got := Of(err); got != want {
			t.Errorf("%+v of a statement of the user: class %d, want %d", test.err, got, want)
		}
	}
}

// culprits are the SQLSTATEs of the classes that a statement can meet (errcodes.txt of PostgreSQL
// 18), by what is to blame: values or rows of a record, the schema or code of the service, the
// server, or the moment.
var culprits = map[string]string{
	"values": `22000 2202E 22021 22008 22012 22005 2200B 22022 22015 2201E 22014 22016 2201F 2201G 22018 22007 22019 2200D
		22025 22P06 22010 22023 22013 2201B 2201W 2201X 2202H 2202G 22009 2200C 2200G 22004 22002 22003 22026 22001 22011 22027
		22024 2200F 22P01 22P02 22P03 22P04 22P05 2200L 2200M 2200N 2200S 2200T 22030 22031 22032 22033 22034 22035 22036 22037
		22038 22039 2203A 2203B 2203C 2203D 2203E 2203F 2203G 54000 54001`,
	"rows":   `23000 23001 23502 23503 23505 23514 23P01`,
	"schema": `25000 25001 25002 25008 25003 25004 25005 25007 25P01 25P02 54011 55000 55006 55P02 55P04 57000`,
	"server": `2200H 53000 53100 53200 53300 53400 54023 58000 58030 58P01 58P02 58P03`,
	"broken": `XX000 XX001 XX002`,
	"moment": `25006 25P03 25P04 55P03 57014 57P01 57P02 57P03 57P04 57P05`,
}

// Nothing that no record can cause makes a dead letter, whosever statement meets it: every
// SQLSTATE of these classes is to blame on one thing, and only values and rows of a record are a
// record's.
func TestWhoIsToBlameForEachState(t *testing.T) {
	for what, codes := range culprits {
		for _, code := range strings.Fields(codes) {
			pg := &pgconn.PgError{Code: code, TableName: "orders", ConstraintName: "c"}
			ours, theirs := Of(&Protocol{Err: pg}), Of(&Write{Err: pg})
			call := Judge(&HandlerError{Call: &wire.Call{Message: &wire.Message{}}, Err: pg}, 1).Fault
			record := what == "values" || what == "rows"
			if got := theirs == Data; got != record {
				t.Errorf("%s of %s, statement of a step: class %d", code, what, theirs)
			}
			if got := call == CallFailed || call == CallRefused; got != (record || code == "57014" || code == "25P04") { // a time of its own
				t.Errorf("%s of %s, statement of a handler: fault %d", code, what, call)
			}
			if got := ours == Data; got != (what == "rows") { // of somebody's trigger
				t.Errorf("%s of %s, statement of the protocol: class %d", code, what, ours)
			}
			if got := theirs.Event() == protocol.Fatal; got != (what == "schema" || what == "broken") {
				t.Errorf("%s of %s, statement of a step: %v", code, what, theirs.Event())
			}
			if got := theirs == Resource; got != (what == "server") {
				t.Errorf("%s of %s, statement of a step: class %d", code, what, theirs)
			}
			if got := OfState(&pgconn.PgError{Code: code, Routine: "exec_stmt_raise"}) == Data; record && !got {
				t.Errorf("%s of %s, raised by a trigger: class %d", code, what, theirs)
			}
		}
	}
	for _, routine := range []string{"GetNewTransactionId", "GetNewMultiXactId"} {
		pg := &pgconn.PgError{Code: "54000", Routine: routine}
		for _, err := range []error{pg, &Protocol{Err: pg}, &Write{Err: pg}} {
			if got := Of(err); got != Resource {
				t.Errorf("no number of a transaction, %T: class %d", err, got)
			}
		}
		if !strings.Contains(Describe(pg).Error(), "wraparound") {
			t.Errorf("got %v", Describe(pg))
		}
	}
}

// unsent is an error of the driver before the first byte.
type unsent struct{ error }

func (unsent) SafeToRetry() bool { return true }

func TestErrorsWithoutASQLSTATE(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want Class
	}{
		"none":            {nil, None},
		"connection":      {io.ErrUnexpectedEOF, Doubt},
		"time is over":    {context.DeadlineExceeded, Doubt},
		"nothing sent":    {unsent{io.EOF}, Unsent},
		"cannot be built": {pgx.ErrPreprocessingBatch{}, Data},
		"too many values": {unsent{errors.New("write failed: too many parameters")}, Data},
	} {
		if got := Of(test.err); got != test.want {
			t.Errorf("%s: class %d, want %d", name, got, test.want)
		}
	}
}

// Data becomes dead letters, and nothing else does.
func TestOnlyDataIsARecordsFault(t *testing.T) {
	for c := Halting; c <= None; c++ {
		if got := c.Event() == protocol.Data; got != (c == Data) {
			t.Errorf("class %d: data %v", c, got)
		}
	}
	for c, want := range map[Class]protocol.Event{
		Halting: protocol.Fatal, Pooler: protocol.Fatal, Resource: protocol.Resource, Doubt: protocol.Unknown,
		Unsent: protocol.Conflict, Conflict: protocol.Conflict, Timeout: protocol.Conflict,
	} {
		if got := c.Event(); got != want {
			t.Errorf("class %d: %v, want %v", c, got, want)
		}
	}
}
