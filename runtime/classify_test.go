package idem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// Every row of the table of errors, and what it does not name: that halts (planted bugs 37,
// 39, 57, 58).
func TestErrorsAreJudgedByTheTable(t *testing.T) {
	for _, test := range []struct {
		err  pgconn.PgError
		want class
	}{
		{pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "idem_ledger_pkey"}, classSuccessor},
		{pgconn.PgError{Code: "23505", TableName: "orders", ConstraintName: "idem_ledger_pkey"}, classData},
		{pgconn.PgError{Code: "23505", TableName: "idem_ledger", ConstraintName: "of_somebody"}, classHalt},
		{pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "prev"}, classGone},
		{pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "next"}, classHalt},
		{pgconn.PgError{Code: "23502", TableName: "orders", ColumnName: "prev"}, classData},
		{pgconn.PgError{Code: "23514", TableName: "idem_ledger", ConstraintName: "idem_ledger_shape"}, classHalt},
		{pgconn.PgError{Code: "23514", TableName: "idem_ledger", ConstraintName: "idem_ledger_window"}, classHalt},
		{pgconn.PgError{Code: "23505", TableName: "idem_keys_3", ConstraintName: "idem_keys_3_pkey"}, classKeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_keys_3", ConstraintName: "idem_keys_sealed"}, classKeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_keys"}, classKeyRace},
		{pgconn.PgError{Code: "23502", TableName: "idem_keys", ColumnName: "gen"}, classKeyRace},
		{pgconn.PgError{Code: "23514", TableName: "idem_assert", ConstraintName: "idem_assert_failed"}, classHalt},
		{pgconn.PgError{Code: "23514", TableName: "idem_row_missing", ConstraintName: "idem_row_missing"}, classData},
		{pgconn.PgError{Code: "40001"}, classConflict},
		{pgconn.PgError{Code: "40P01"}, classConflict},
		{pgconn.PgError{Code: "55P03"}, classLockWait},
		{pgconn.PgError{Code: "57014"}, classTimeout},
		{pgconn.PgError{Code: "08006"}, classDoubt},
		{pgconn.PgError{Code: "25P03"}, classDoubt},
		{pgconn.PgError{Code: "25P04"}, classTimeout},
		{pgconn.PgError{Code: "40003"}, classDoubt},
		{pgconn.PgError{Code: "57P01"}, classDoubt},
		{pgconn.PgError{Code: "57P02"}, classDoubt},
		{pgconn.PgError{Code: "57P04"}, classDoubt},
		{pgconn.PgError{Code: "57P05"}, classDoubt},
		{pgconn.PgError{Code: "23514", TableName: "orders"}, classResource}, // no partition for the row
		{pgconn.PgError{Code: "23514", TableName: "orders", ConstraintName: "orders_check"}, classData},
		{pgconn.PgError{Code: "23514", TableName: "orders", Routine: "exec_stmt_raise"}, classData},
		{pgconn.PgError{Code: "23514"}, classData},
		{pgconn.PgError{Code: "26000"}, classPooler},
		{pgconn.PgError{Code: "42P05"}, classPooler},
		{pgconn.PgError{Code: "25006"}, classReadOnly},
		{pgconn.PgError{Code: "57P03"}, classReadOnly},
		{pgconn.PgError{Code: "53100"}, classResource},
		{pgconn.PgError{Code: "53200"}, classResource},
		{pgconn.PgError{Code: "53300"}, classResource},
		{pgconn.PgError{Code: "58030"}, classResource},
		{pgconn.PgError{Code: "54023"}, classResource},
		{pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, classStale},
		{pgconn.PgError{Code: "0A000"}, classHalt},
		{pgconn.PgError{Code: "42P01"}, classHalt},
		{pgconn.PgError{Code: "42501"}, classHalt},
		{pgconn.PgError{Code: "28P01"}, classHalt},
		{pgconn.PgError{Code: "3D000"}, classHalt},
		{pgconn.PgError{Code: "3F000"}, classHalt},
		{pgconn.PgError{Code: "25P02"}, classHalt},
		{pgconn.PgError{Code: "22003"}, classData},
		{pgconn.PgError{Code: "23503", TableName: "orders"}, classData},
		{pgconn.PgError{Code: "23P01", TableName: "orders"}, classData},
		{pgconn.PgError{Code: "21000"}, classData},
		{pgconn.PgError{Code: "44000"}, classData},
		{pgconn.PgError{Code: "54000"}, classData},
		{pgconn.PgError{Code: "P0001"}, classData},
		{pgconn.PgError{Code: "XX001"}, classHalt},
		{pgconn.PgError{Code: "P0002"}, classData},
		{pgconn.PgError{Code: "P0003"}, classData},
		{pgconn.PgError{Code: "P0004"}, classData},
		{pgconn.PgError{Code: "P0000"}, classHalt},
		{pgconn.PgError{Code: "ZZ999"}, classData}, // of a class that no server uses
		{pgconn.PgError{Code: "U0001"}, classData},
		{pgconn.PgError{Code: "40ZZZ"}, classHalt},
		{pgconn.PgError{Code: "72000"}, classHalt}, // of a class that servers used once
		{pgconn.PgError{Code: "ZZ"}, classHalt},
		{pgconn.PgError{Code: ""}, classHalt},
	} {
		err := fmt.Errorf("wrapped: %w", &test.err)
		if got := classify(&protocolError{err}); got != test.want && test.err.TableName != rowMissing { // which it never writes
			t.Errorf("%+v of a statement of the protocol: class %d, want %d", test.err, got, test.want)
		}
		want := test.want
		switch {
		case test.err.TableName == "idem_keys": // no constraint's name
			want = sqlstateClass(&test.err)
		case strings.HasPrefix(test.err.TableName, "idem_"):
			want = classData
		}
		if got := classify(err); got != want {
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
		want class
	}{
		"none":            {nil, classNone},
		"connection":      {io.ErrUnexpectedEOF, classDoubt},
		"time is over":    {context.DeadlineExceeded, classDoubt},
		"nothing sent":    {unsent{io.EOF}, classUnsent},
		"cannot be built": {pgx.ErrPreprocessingBatch{}, classData}, // planted bug 54
		"too many values": {unsent{errors.New("write failed: too many parameters")}, classData},
	} {
		if got := classify(test.err); got != test.want {
			t.Errorf("%s: class %d, want %d", name, got, test.want)
		}
	}
}

// Data becomes dead letters, and nothing else does.
func TestOnlyDataIsARecordsFault(t *testing.T) {
	for c := classHalt; c <= classNone; c++ {
		if got := c.event() == protocol.Data; got != (c == classData) {
			t.Errorf("class %d: data %v", c, got)
		}
	}
	for c, want := range map[class]protocol.Event{
		classHalt: protocol.Fatal, classPooler: protocol.Fatal, classResource: protocol.Resource, classDoubt: protocol.Unknown,
		classUnsent: protocol.Conflict, classConflict: protocol.Conflict, classTimeout: protocol.Conflict,
	} {
		if got := c.event(); got != want {
			t.Errorf("class %d: %v, want %v", c, got, want)
		}
	}
}
