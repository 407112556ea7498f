// Package deadletter is a record that a batch passes without effect: why, what people may read
// of it, the rows that keep it, and what operators ask about them. It decides nothing. It must not
// import any package of this module but idemtype, ledger, pipeline, record, session, verdict and
// wire.
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
	Key      *wire.UUID // idempotency key of a conflict, or of an effect; else nil
	Returned []byte     // what the call of its effect returned; nil if none was made and recorded
	Conflict bool
	Effect   bool // its effect was refused: a copy of it may have taken effect meanwhile
	Stop     bool // the spec refuses the record itself: it must not become one
	Waits    bool // it is not refused, but waits behind one of its record key
	Policy   *wire.FailurePolicy
}

// parks reports whether later records of the record key wait behind the letter.
func (l *Letter) parks() bool { return l.Message.Key != nil && (l.Waits || l.Policy.Park) }

// NoResult is what the call of an effect returned that has no result.
var NoResult = []byte("null")

// Called keeps what the call of the record's effect returned.
func (l *Letter) Called(r wire.EffectResult) {
	if l.Returned = r.Result; r.Result == nil {
		l.Returned = NoResult
	}
	if l.Key == nil {
		key := wire.UUID(r.Key)
		l.Key = &key
	}
}

// Behind is the letter of a record that waits behind a dead one of its record key.
func Behind(m *wire.Message, policy *wire.FailurePolicy) Letter {
	return Letter{Message: m, Policy: policy, Waits: true, Reason: wire.ReasonParked + ": waits behind a dead letter of its record key"}
}

// Of is the dead letter of a record that was refused after it was decoded.
func Of(m *wire.Message, policy *wire.FailurePolicy, class, event string, err error) Letter {
	l := Letter{Message: m, Event: event, Policy: policy, Reason: class + ": "}
	if event != "" {
		l.Reason += event + ": "
	}
	l.Reason += verdict.Storable(err.Error())
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		l.SQLState = &pg.Code
	}
	return l
}

// Undecided is the dead letter of a record that the plan did not take.
func Undecided(m *wire.Message, policy *wire.FailurePolicy, err error) Letter {
	l := Letter{Message: m, Policy: policy, Reason: wire.ReasonDecode + ": " + err.Error()}
	if d, ok := errors.AsType[*wire.DecodeError](err); ok {
		l.Event, l.Reason = d.Event, d.Error()
	}
	if c, ok := errors.AsType[*wire.ConflictError](err); ok {
		key := wire.UUID(c.Key)
		l.Event, l.Reason, l.Key, l.Conflict = c.Event, c.Error(), &key, true
	}
	return l
}

// eventName is the name of the event, nil if it is not known.
func (l *Letter) eventName() *string {
	if l.Event == "" {
		return nil
	}
	return &l.Event
}
