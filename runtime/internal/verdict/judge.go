package verdict

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Fault says whose fault an error of a transaction is.
type Fault uint8

// Whose fault an error is.
const (
	Nobodys         Fault = iota // nobody's: the same batch again
	Time                         // it took too long, or was cancelled: fewer records may fit
	Plans                        // the schema changed under prepared statements
	Settings                     // a trigger or a function changed a setting of the session
	Record                       // the data of one of the records
	Unexplained                  // no record's as far as anybody knows: a person must act
	Connection                   // a pooler handed the session to others: a person must act
	CallMissing                  // the handler is not implemented
	CallCut                      // the connection went away under the handler
	CallLate                     // the transaction's time was over while the handler worked
	CallDisturbed                // a deadlock or the like in the handler: nobody's
	CallUnexplained              // an error in the handler that is no record's fault
	CallFailed                   // the handler failed: it may be called again
	CallRefused                  // the handler failed for good
)

// Verdict is what an error of a transaction means.
type Verdict struct {
	Fault  Fault
	Event  protocol.Event // what the protocol's table calls it, if no record is searched for
	Err    error          // what may be told of it
	Cause  error          // of a call: the same without the call's name
	Call   *wire.Call     // of the handler; nil for other faults
	Doubt  bool           // whether the transaction committed is open
	Locked bool           // it gave up waiting for a lock
	Theirs bool           // the user's tables and triggers can have raised it
	Letter bool           // a constraint on dead letters refused one
}

// Judge is the verdict on the error of a transaction over a number of records.
func Judge(err error, records int) Verdict {
	if h, ok := errors.AsType[*HandlerError](err); ok {
		return judgeCall(h)
	}
	class := Of(err)
	v := Verdict{Event: class.Event(), Err: Describe(err), Doubt: class == Doubt, Locked: class == LockWait}
	_, v.Theirs = errors.AsType[*Write](err)
	if errors.Is(err, ErrRolledBack) {
		class = Data
	} else if class == Data && records == 0 { // no record can be to blame
		class = Halting
	}
	switch class {
	case Data:
		v.Fault, v.Letter, v.Doubt = Record, letterRefused(err), false
	case Pooler:
		v.Fault = Connection
	case Halting:
		v.Fault = Unexplained
	case Stale:
		v.Fault, v.Err = Plans, outage.InWords(v.Err)
	case Timeout:
		v.Fault = Time
	case SettingMoved:
		v.Fault = Settings
	default:
		v.Err = outage.InWords(v.Err)
	}
	return v
}

// ErrRolledBack says that COMMIT was answered with ROLLBACK.
var ErrRolledBack = errors.New("an error in it was ignored")

// letterRefused reports whether somebody's constraint refused a dead letter.
func letterRefused(err error) bool {
	_, own := errors.AsType[*Protocol](err)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return own && ok && pg.TableName == "idem_dead_letter"
}

// judgeCall is the verdict on an error of a handler, which names its record.
func judgeCall(h *HandlerError) Verdict {
	v := Verdict{Fault: CallFailed, Event: protocol.Conflict, Err: h, Cause: Describe(h.Err), Call: h.Call}
	pg, _ := errors.AsType[*pgconn.PgError](h.Err)
	switch {
	case errors.Is(h.Err, ErrNotImplemented):
		v.Fault = CallMissing
	case h.Outage:
		v.Fault, v.Event, v.Doubt = CallCut, protocol.Unknown, true
	case h.Late: // the server may not have heard of it yet
		v.Fault, v.Doubt = CallLate, true
	case pg != nil && disturbed(pg) != Data:
		v.Fault, v.Event, v.Err = CallDisturbed, Of(pg).Event(), Describe(pg)
		if disturbed(pg) == Halting {
			v.Fault = CallUnexplained
		}
	case IsPermanent(h.Err):
		v.Fault = CallRefused
	}
	return v
}

// disturbed is Data if an error of the database in a handler's call is the event's fault,
// Halting if a person must act, and Conflict if it is nobody's fault.
func disturbed(pg *pgconn.PgError) Class {
	switch Of(pg) {
	case Data, Timeout:
		return Data
	case Halting, Pooler, Successor, Gone:
		return Halting
	}
	return Conflict
}

// Away reports whether err ends when the database can be connected to.
func Away(err error) bool {
	if _, ok := errors.AsType[*outage.Unreachable](err); ok {
		return Of(err).Event() != protocol.Fatal
	}
	switch Of(err) {
	case Doubt, ReadOnly, Unsent:
		return true
	}
	return false
}
