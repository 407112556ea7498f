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
)

// Every row of the table of errors, and what it does not name: that halts (planted bugs 37,
// 39, 57, 58).
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
		{pgconn.PgError{Code: "22003"}, Data},
		{pgconn.PgError{Code: "23503", TableName: "orders"}, Data},
		{pgconn.PgError{Code: "23P01", TableName: "orders"}, Data},
		{pgconn.PgError{Code: "21000"}, Data},
		{pgconn.PgError{Code: "44000"}, Data},
		{pgconn.PgError{Code: "54000"}, Data},
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
		"cannot be built": {pgx.ErrPreprocessingBatch{}, Data}, // planted bug 54
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
