package verdict

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// Class is what an error of a transaction means for the batch (docs/protocol.md).
type Class int

const (
	Halting      Class = iota // everything else: an operator must act
	Pooler                    // the prepared statements are gone: an operator must act
	Successor                 // there already is a row with our seq: perhaps our own
	Gone                      // the row to append to is gone or another one
	KeyRace                   // a key was claimed meanwhile, or the generation rotated
	Conflict                  // deadlock, serialization failure: the same batch again
	LockWait                  // a lock wait timed out: the same batch again
	Chosen                    // a function of the user raised one of these two: the same, as often as on_failure says
	Timeout                   // canceled, or a statement took too long: half the batch
	ReadOnly                  // not a primary, or not yet: reconnect, then the same batch
	Stale                     // the schema changed: prepare again, once, then the same batch
	Unsent                    // nothing was sent: the same batch again
	Resource                  // pause: disk, memory, connections
	Doubt                     // committed or not: append again
	LeaseMoved                // an effect's lease has changed: the same batch again
	LetterMoved               // a dead letter has changed: it is read again
	SettingMoved              // a setting of the session was changed: the same batch again, on another connection
	Data                      // a record is at fault
	None                      // no error
)

// Event returns the protocol's event for the class. A row with our seq becomes Own or Foreign once
// it has been read.
func (c Class) Event() protocol.Event {
	switch c {
	case None:
		return protocol.Acked
	case Successor:
		return protocol.Foreign
	case Gone:
		return protocol.Gone
	case Conflict, KeyRace, LockWait, Chosen, Timeout, ReadOnly, Stale, Unsent, LeaseMoved, LetterMoved, SettingMoved:
		return protocol.Conflict // also a key race that was lost too often to decide again immediately
	case Resource:
		return protocol.Resource
	case Doubt:
		return protocol.Unknown
	case Data:
		return protocol.Data
	}
	return protocol.Fatal
}

// Protocol is an error of one of the protocol's own statements. Names of tables and constraints
// alone prove nothing: a trigger of the user can raise any of them.
type Protocol struct{ Err error }

func (e *Protocol) Error() string { return e.Err.Error() }

// Unwrap returns the error of the statement.
func (e *Protocol) Unwrap() error { return e.Err }

// Write is an error that the user's tables and triggers may have raised. SQL is that of the step;
// "" if the statement is a handler's, or the error that of the end of the transaction.
type Write struct {
	Err error
	SQL string
}

func (e *Write) Error() string { return e.Err.Error() }

// Unwrap returns the error of the statement.
func (e *Write) Unwrap() error { return e.Err }

// ErrKeyMemory means that there is no memory for the keys of a partition.
var ErrKeyMemory = errors.New("the memory for keys is full")

// ErrUnreplicated means that a commit is not known to be durable: the server has committed, but
// stopped waiting for its synchronous standby.
var ErrUnreplicated = errors.New("the transaction is committed on this server only: its synchronous standby has not confirmed it " +
	"(see pg_stat_replication and synchronous_standby_names)")

// MayBeSettings reports whether a statement may have failed because of a changed search_path or
// role.
func MayBeSettings(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return Of(err) == SettingMoved || ok && (pg.Code == "42P01" || pg.Code == "42883" || pg.Code == "42703" || pg.Code == "42501" || pg.Code == "3F000") && !Raised(pg)
}

// Of classifies an error of the database by itself. The error counts as the protocol's own only if
// a statement of the protocol raised it, and its table, constraint and column match. Of does not
// consider what only the caller knows: whether a handler is at fault (package handler, and
// explicit.go of package engine), and whether the transaction certainly did not commit
// (answer.go).
func Of(err error) Class {
	if err == nil {
		return None
	}
	if loginRefused(err) {
		return Unsent
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if _, ok := errors.AsType[*Protocol](err); ok {
			if c, own := protocolClass(pg); own {
				return c
			}
			return withoutRecord(pg)
		}
		return OfState(pg)
	}
	if _, ok := errors.AsType[*session.Error](err); ok {
		return Pooler
	}
	switch {
	case errors.Is(err, ErrKeyMemory), errors.Is(err, ErrUnreplicated):
		return Resource
	case neverEncoded(err):
		return Data
	case pgconn.SafeToRetry(err):
		return Unsent
	}
	return Doubt // no reply: timeouts, closed connections
}

// loginRefused reports whether the server rejected the login. A password that is changed on one
// side first is an outage like any other: nothing was sent.
func loginRefused(err error) bool {
	_, own := errors.AsType[*outage.Unreachable](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return own && connecting && ok && (strings.HasPrefix(pg.Code, "28") || strings.HasPrefix(pg.Code, "3D"))
}

// neverEncoded reports whether the driver could not encode the values of a statement, so nothing
// was sent.
func neverEncoded(err error) bool {
	_, batch := errors.AsType[pgx.ErrPreprocessingBatch](err)
	return batch || TooLarge(err)
}

// TooLarge reports whether a statement has more parameters, or larger ones, than a message can
// hold: nothing was sent, although the driver may have closed the connection. Its errors for that
// have no type.
func TooLarge(err error) bool {
	if err == nil || !pgconn.SafeToRetry(err) {
		return false
	}
	text := err.Error()
	return strings.HasPrefix(text, "write failed: too many parameters") || strings.HasPrefix(text, "write failed: message body too large")
}

// protocolClass recognizes the errors that the protocol's own tables raise on purpose.
func protocolClass(pg *pgconn.PgError) (Class, bool) {
	switch {
	case pg.TableName == "idem_ledger":
		switch {
		case pg.Code == "23505" && pg.ConstraintName == "idem_ledger_pkey":
			return Successor, true
		case pg.Code == "23502" && pg.ColumnName == "prev":
			return Gone, true
		}
		return Halting, true // shape or window: a bug
	case pg.TableName == "idem_keys" || strings.HasPrefix(pg.TableName, "idem_keys_"):
		switch pg.Code {
		case "23505", "23514", "23502", "42P01": // claimed by another; sealed; no such generation
			return KeyRace, true
		}
	case pg.TableName == "idem_dead_letter" && strings.HasPrefix(pg.Code, "23"):
		return Data, true // a constraint added by others: it rejects this letter, perhaps not all
	case pg.TableName == "idem_assert" && pg.ConstraintName == "idem_assert_lease":
		return LeaseMoved, true
	case pg.TableName == "idem_assert" && pg.ConstraintName == "idem_assert_letter":
		return LetterMoved, true
	case session.Changed(pg) != "":
		return SettingMoved, true
	case strings.HasPrefix(pg.TableName, "idem_"):
		return Halting, true
	}
	return Halting, false
}

// withoutRecord returns the class of an error of a statement whose values are the protocol's, not
// a record's. A trigger that was added to the table may still raise an error for which a record is
// at fault.
func withoutRecord(pg *pgconn.PgError) Class {
	c := OfState(pg)
	switch {
	case c != Data || Raised(pg) || ownClass(pg.Code):
		return c
	case strings.HasPrefix(pg.Code, "54"):
		return Resource
	case strings.HasPrefix(pg.Code, "21"), strings.HasPrefix(pg.Code, "22"), strings.HasPrefix(pg.Code, "44"):
		return Halting
	}
	return c
}

// noPartition reports whether the table of an error has no partition for the row.
func noPartition(pg *pgconn.PgError) bool {
	return pg.Code == "23514" && pg.ConstraintName == "" && pg.TableName != "" && !Raised(pg)
}

// OfState implements the table of docs/protocol.md for all other errors.
func OfState(pg *pgconn.PgError) Class {
	switch pg.Code {
	case "40001", "40P01", "55P03":
		switch {
		case Raised(pg):
			return Chosen
		case pg.Code == "55P03":
			return LockWait
		}
		return Conflict
	case "57014", "25P04": // the second also ends the session
		return Timeout
	case "25006", "57P03": // read-only, starting up
		return ReadOnly
	case "25P03", "40003", "57P01", "57P02", "57P04", "57P05":
		return Doubt
	case "23514":
		if noPartition(pg) {
			return Resource
		}
		return Data
	case "2200H", "54023": // a sequence is exhausted; too many arguments: the server was built with less
		return Resource
	case "54000":
		if wraparound(pg) {
			return Resource
		}
		return Data
	case "54011": // too many columns
		return Halting
	case "21000", "P0001", "P0002", "P0003", "P0004": // RAISE, SELECT INTO STRICT, ASSERT
		return Data
	case "26000", "42P05":
		return Pooler
	case "0A000":
		if pg.Routine == "RevalidateCachedQuery" {
			return Stale
		}
		return Halting
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "08":
		return Doubt
	case "53", "58":
		return Resource
	case "22", "23", "44", "54":
		return Data
	}
	if ownClass(pg.Code) {
		return Data
	}
	return Halting
}

// wraparound reports whether the server assigns no more transaction ids until a VACUUM.
func wraparound(pg *pgconn.PgError) bool {
	return pg.Routine == "GetNewTransactionId" || pg.Routine == "GetNewMultiXactId"
}

// serverClasses are the first two characters of every SQLSTATE that a server raises itself
// (errcodes.txt of Postgres).
const serverClasses = " 00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX "

// ownClass reports whether a trigger or a function chose the SQLSTATE of its error: the server
// itself never raises one of that class.
func ownClass(code string) bool {
	return len(code) == 5 && !strings.Contains(serverClasses, " "+code[:2]+" ")
}

// Raised reports whether a function in PL/pgSQL raised the error, not the server.
func Raised(pg *pgconn.PgError) bool { return pg.Routine == "exec_stmt_raise" }
