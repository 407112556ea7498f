package verdict

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Fault is what is at fault for an error of a transaction.
type Fault uint8

// The faults.
const (
	Nobodys         Fault = iota // nothing in the batch: the same batch again
	Time                         // it took too long, or was canceled: fewer records may succeed
	Function                     // a function of the user raised it as if another transaction were at fault
	Plans                        // the schema changed under prepared statements
	Settings                     // a trigger or a function changed a setting of the session
	Record                       // the data of one of the records
	Unexplained                  // apparently not a record: an operator must act
	Connection                   // a pooler gave the session to others: an operator must act
	CallMissing                  // the handler is not implemented
	CallCut                      // the connection was lost while the handler ran
	CallLate                     // the transaction timed out while the handler ran
	CallDisturbed                // a deadlock or similar in the handler: nothing is at fault
	CallUnexplained              // an error in the handler for which no record is at fault
	CallFailed                   // the handler failed: it may be called again
	CallRefused                  // the handler failed permanently
)

// Verdict is what an error of a transaction means.
type Verdict struct {
	Fault  Fault
	Event  protocol.Event // the event of the protocol, unless a record is searched for
	Err    error          // what may be shown of the error
	Cause  error          // of a call: Err without the call's name
	Call   *wire.Call     // of the handler; nil for other faults
	Doubt  bool           // it is unknown whether the transaction committed
	Locked bool           // it gave up waiting for a lock
	Theirs bool           // the user's tables and triggers may have raised it
	Letter bool           // a constraint on dead letters rejected one
}

// Judge returns the verdict on the error of a transaction with a number of records.
func Judge(err error, records int) Verdict {
	if h, ok := errors.AsType[*HandlerError](err); ok {
		return judgeCall(h)
	}
	class := Of(err)
	v := Verdict{Event: class.Event(), Err: Describe(err), Locked: class == LockWait}
	_, v.Theirs = errors.AsType[*Write](err)
	if errors.Is(err, ErrRolledBack) {
		class = Data
	}
	if class == Data && records == 0 { // no record can be at fault
		class = Halting
	}
	v.Doubt = class == Doubt
	switch class {
	case Data:
		v.Fault, v.Letter = Record, letterRefused(err)
	case Pooler:
		v.Fault = Connection
	case Halting:
		v.Fault = Unexplained
	case Stale:
		v.Fault, v.Err = Plans, outage.InWords(v.Err)
	case Timeout:
		v.Fault = Time
	case Chosen:
		if v.Theirs { // and not a trigger on the runtime's tables
			v.Fault = Function
		}
	case SettingMoved:
		v.Fault = Settings
	default:
		v.Err = outage.InWords(v.Err)
	}
	return v
}

// ErrRolledBack means that the server replied to COMMIT with ROLLBACK.
var ErrRolledBack = errors.New("an error in it was ignored")

// letterRefused reports whether a constraint added by others rejected a dead letter.
func letterRefused(err error) bool {
	_, own := errors.AsType[*Protocol](err)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return own && ok && pg.TableName == "idem_dead_letter"
}

// judgeCall returns the verdict on an error of a handler, which names its record.
func judgeCall(h *HandlerError) Verdict {
	v := Verdict{Fault: CallFailed, Event: protocol.Conflict, Err: h, Cause: Describe(h.Err), Call: h.Call}
	pg, _ := errors.AsType[*pgconn.PgError](h.Err)
	switch {
	case errors.Is(h.Err, ErrNotImplemented):
		v.Fault = CallMissing
	case h.Outage:
		v.Fault, v.Event, v.Doubt = CallCut, protocol.Unknown, true
	case h.Late: // the server may not have noticed yet
		v.Fault, v.Doubt = CallLate, true
	case pg != nil && disturbed(pg) != Data:
		v.Fault, v.Event = CallDisturbed, Of(pg).Event()
		if Away(pg) { // not the call's alone
			v.Err = Describe(pg)
		}
		if disturbed(pg) == Halting {
			v.Fault = CallUnexplained
		}
	case IsPermanent(h.Err):
		v.Fault = CallRefused
	}
	return v
}

// disturbed classifies an error of the database in a handler's call. It returns Data if the event
// is at fault, Halting if an operator must act, and Conflict if nothing is at fault.
func disturbed(pg *pgconn.PgError) Class {
	if pg.Code == "08P01" && pg.Severity == "ERROR" { // a message that the server cannot read; it reads on
		return Data
	}
	switch Of(pg) {
	case Data, Timeout, Chosen:
		return Data
	case Halting, Pooler, Successor, Gone:
		return Halting
	}
	return Conflict
}

// Away reports whether err is an outage, which ends once the database can be connected to.
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

// Unusable reports whether err, of a statement, says that the database takes no work now: an
// outage, or a lack of resources. It is for the words of logs.
func Unusable(err error) bool { return Away(err) || Of(err) == Resource }
