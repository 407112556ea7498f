package idem

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// class says what an error of a transaction means for the batch (docs/protocol.md).
type class int

const (
	classHalt      class = iota // anything not named: a person must look
	classPooler                 // the prepared statements are gone: a person must look
	classSuccessor              // a row stands at our seq: perhaps our own
	classGone                   // the row we append to is gone or another
	classKeyRace                // a key was claimed meanwhile, or the generation rotated
	classConflict               // deadlock, serialization: the same batch again
	classLockWait               // a lock was waited for in vain: the same batch again
	classTimeout                // cancelled, or a statement took too long: half the batch
	classReadOnly               // no primary, or not yet: connect again, then the same batch
	classStale                  // the schema changed: prepare again, once, then the same batch
	classUnsent                 // nothing was sent: the same batch again
	classResource               // pause: disk, memory, connections
	classDoubt                  // committed or not: append again
	classData                   // a record's fault
	classNone                   // no error
)

// event is the class as the protocol's table knows it. A row at our seq is the table's Own
// or Foreign once it is read.
func (c class) event() protocol.Event {
	switch c {
	case classNone:
		return protocol.Acked
	case classSuccessor:
		return protocol.Foreign
	case classGone:
		return protocol.Gone
	case classConflict, classKeyRace, classLockWait, classTimeout, classReadOnly, classStale, classUnsent:
		return protocol.Conflict // a key race is one if it is lost time and again
	case classResource:
		return protocol.Resource
	case classDoubt:
		return protocol.Unknown
	case classData:
		return protocol.Data
	}
	return protocol.Fatal
}

// protocolError is an error of a statement of the protocol's own. Names of tables and
// constraints alone prove nothing: a trigger of the user can raise any of them.
type protocolError struct{ error }

func (e *protocolError) Unwrap() error { return e.error }

// writeError is an error that the user's tables and triggers can have raised.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// classify is the one place where errors of the database are judged. The statement must be
// the protocol's, and table, constraint and column are compared, before an error counts as
// the protocol's own.
func classify(err error) class {
	if err == nil {
		return classNone
	}
	if loginRefused(err) {
		return classUnsent
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if _, ok := errors.AsType[*protocolError](err); ok {
			if c, own := protocolClass(pg); own {
				return c
			}
		}
		return sqlstateClass(pg)
	}
	if _, ok := errors.AsType[*session.Error](err); ok {
		return classPooler
	}
	switch {
	case errors.Is(err, errKeyMemory):
		return classResource
	case neverEncoded(err):
		return classData
	case pgconn.SafeToRetry(err):
		return classUnsent
	}
	return classDoubt // no answer: timeouts, closed connections
}

// neverEncoded reports whether the driver could not put the values of a statement into
// bytes, so that nothing was sent. Its errors for messages that are too large have no type.
func neverEncoded(err error) bool {
	if _, ok := errors.AsType[pgx.ErrPreprocessingBatch](err); ok {
		return true
	}
	text := err.Error()
	return pgconn.SafeToRetry(err) && (strings.HasPrefix(text, "write failed: too many parameters") || strings.HasPrefix(text, "write failed: message body too large"))
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
	case pg.TableName == "idem_dead_letter" && strings.HasPrefix(pg.Code, "23"):
		return classData, true // somebody else's constraint: this letter is refused, others may not be
	case strings.HasPrefix(pg.TableName, "idem_"):
		return classHalt, true
	}
	return classHalt, false
}

// sqlstateClass is the table of docs/protocol.md for everything else.
func sqlstateClass(pg *pgconn.PgError) class {
	switch pg.Code {
	case "40001", "40P01":
		return classConflict
	case "55P03":
		return classLockWait
	case "57014", "25P04": // the second ends the session, too
		return classTimeout
	case "25006", "57P03": // read-only, starting up
		return classReadOnly
	case "25P03", "40003", "57P01", "57P02", "57P04", "57P05":
		return classDoubt
	case "23514":
		if pg.ConstraintName == "" && pg.TableName != "" && !raised(pg) {
			return classResource // no partition for the row
		}
		return classData
	case "54023": // too many arguments: the server was built with less
		return classResource
	case "21000", "P0001", "P0002", "P0003", "P0004": // RAISE, SELECT INTO STRICT, ASSERT
		return classData
	case "26000", "42P05":
		return classPooler
	case "0A000":
		if pg.Routine == "RevalidateCachedQuery" {
			return classStale
		}
		return classHalt
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "08":
		return classDoubt
	case "53", "58":
		return classResource
	case "22", "23", "44", "54":
		return classData
	}
	if ownClass(pg.Code) {
		return classData
	}
	return classHalt
}

// serverClasses are the first two characters of every SQLSTATE that a server raises itself
// (errcodes.txt of Postgres).
const serverClasses = " 00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX "

// ownClass reports whether a trigger or a function chose the SQLSTATE for an error of its
// own: the server raises none of that class.
func ownClass(code string) bool {
	return len(code) == 5 && !strings.Contains(serverClasses, " "+code[:2]+" ")
}

// raised reports whether a function in PL/pgSQL raised the error, and not the server.
func raised(pg *pgconn.PgError) bool { return pg.Routine == "exec_stmt_raise" }
