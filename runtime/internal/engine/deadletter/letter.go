// Package deadletter implements dead letters, the records that a batch skips without effect:
// their reasons, the rows that store them, and operators' requests about them. It decides
// nothing. It must not import any package of this module but idemtype, ledger, pipeline, process,
// record, session, verdict and wire.
package deadletter

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Letter is one dead letter.
type Letter struct {
	Message  *wire.Message
	Event    string
	Reason   string // class word, ": ", and the rest; the only value is an unknown event type
	SQLState *string
	Key      *wire.UUID // idempotency key of a conflict, or of an effect; otherwise nil
	Returned []byte     // recorded result of its effect; nil if there is none
	Response []byte     // the beginning of what the other side answered to its call; nil if that is not known
	Conflict bool
	Effect   bool // its effect was rejected: a duplicate of it may have taken effect meanwhile
	Stop     bool // on_failure says stop: the record must not become a dead letter
	Waits    bool // it was not rejected, but is parked behind a dead letter of its record key
	Policy   *wire.FailurePolicy
}

// parks reports whether later records of the record key are parked behind the letter.
func (l *Letter) parks() bool { return l.Message.Key != nil && (l.Waits || l.Policy.Park) }

// NoResult is the recorded result of an effect without a result.
var NoResult = []byte("null")

// Called keeps the result of the record's effect.
func (l *Letter) Called(r wire.EffectResult) {
	if l.Returned = r.Result; r.Result == nil {
		l.Returned = NoResult
	}
	if l.Key == nil {
		key := wire.UUID(r.Key)
		l.Key = &key
	}
}

// Behind returns the letter of a record that is parked behind a dead letter of its record key.
func Behind(m *wire.Message, policy *wire.FailurePolicy) Letter {
	return Letter{Message: m, Policy: policy, Waits: true, Reason: wire.ReasonParked + ": waits behind a dead letter of its record key"}
}

// Of returns the dead letter of a record that was rejected after it was decoded.
func Of(m *wire.Message, policy *wire.FailurePolicy, class, event string, err error) Letter {
	l := Letter{Message: m, Event: event, Policy: policy, Reason: class + ": "}
	if event != "" {
		l.Reason += event + ": "
	}
	l.Reason += verdict.Storable(err.Error())
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		l.SQLState = &pg.Code
	}
	l.Response = ResponseOf(err)
	return l
}

// mostResponse is how many bytes of a response are kept.
const mostResponse = 500

// ResponseOf returns the beginning of the response that an error holds; nil if it holds none. It
// may quote the record, so texts of errors leave it out.
func ResponseOf(err error) []byte {
	if with, ok := errors.AsType[interface {
		error
		Response() []byte
	}](err); ok {
		response := with.Response()
		return response[:min(len(response), mostResponse)]
	}
	return nil
}

// Undecided returns the dead letter of a record that the plan rejected.
func Undecided(m *wire.Message, policy *wire.FailurePolicy, err error) Letter {
	l := Letter{Message: m, Policy: policy, Reason: wire.ReasonDecode + ": " + err.Error()}
	if d, ok := errors.AsType[*wire.DecodeError](err); ok {
		l.Event, l.Reason = d.Event, d.Error()
	}
	if c, ok := errors.AsType[*wire.ConflictError](err); ok {
		key := wire.UUID(c.Key)
		l.Event, l.Reason, l.Key, l.Conflict = c.Event, c.Error(), &key, true
	}
	l.Reason = verdict.Storable(l.Reason)
	return l
}

// eventName returns the name of the event, or nil if it is unknown.
func (l *Letter) eventName() *string {
	if l.Event == "" {
		return nil
	}
	return &l.Event
}
