package idem

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// class says what an error of a transaction means for the batch (PROTOCOL 6.5).
type class int

const (
	classHalt      class = iota // anything not named: a person must look
	classSuccessor              // a row stands at our seq: perhaps our own
	classGone                   // the row we append to is gone or another
	classKeyRace                // a key was claimed meanwhile, or the generation rotated
	classTransient              // the same batch again
	classResource               // pause: disk, memory, connections
	classDoubt                  // committed or not: append again
	classData                   // a record's fault
)

// classify is the one place where errors of the database are judged. Table, constraint and
// column are compared before an error counts as the protocol's own.
func classify(err error) class {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return classDoubt // no answer: timeouts, closed connections
	}
	if c, own := protocolClass(pg); own {
		return c
	}
	return sqlstateClass(pg)
}

// protocolClass knows the errors that the protocol's own tables raise on purpose.
func protocolClass(pg *pgconn.PgError) (class, bool) {
	switch {
	case pg.TableName == "idem_ledger":
		switch {
		case pg.Code == "23505" && pg.ConstraintName == "idem_ledger_pkey":
			return classSuccessor, true
		case pg.Code == "23502" && pg.ColumnName == "prev":
			return classGone, true
		}
		return classHalt, true // shape or window: a bug
	case pg.TableName == "idem_keys" || strings.HasPrefix(pg.TableName, "idem_keys_"):
		switch pg.Code {
		case "23505", "23514", "23502", "42P01": // claimed by another; sealed; no such generation
			return classKeyRace, true
		}
	case pg.TableName == rowMissing:
		return classData, true
	case strings.HasPrefix(pg.TableName, "idem_"):
		return classHalt, true
	}
	return classHalt, false
}

// stalePlan reports whether a prepared statement no longer fits the schema: the connection
// must be closed, so that its statements are prepared anew.
func stalePlan(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "0A000" && pg.Routine == "RevalidateCachedQuery"
}

func sqlstateClass(pg *pgconn.PgError) class {
	if stalePlan(pg) {
		return classTransient
	}
	switch pg.Code {
	case "40001", "40P01", "55P03", "57014":
		return classTransient
	case "25P03", "25P04", "40003", "57P01", "57P02", "57P04", "57P05":
		return classDoubt
	case "25006", "57P03": // read-only, starting up
		return classTransient
	case "23514":
		if pg.ConstraintName == "" {
			return classResource // no partition for the row
		}
		return classData
	case "54023":
		return classResource
	case "21000", "44000", "54000", "P0001":
		return classData
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "08":
		return classDoubt
	case "53", "58":
		return classResource
	case "22", "23":
		return classData
	}
	return classHalt
}
