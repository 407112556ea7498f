package member

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/runtime/internal/outage"
)

// Denied is the error of brokers to which this client cannot connect as it is set up. Code is
// Credentials or TLS.
type Denied struct{ Code, Cause string }

func (e *Denied) Error() string { return e.Cause }

// The codes of problems that an operator solves in the settings of the Source.
const (
	Credentials = "credentials" // the brokers reject the SASL mechanism, the user or the password
	TLS         = "tls"         // one side uses TLS and the other does not, or one rejects the other's certificate
)

// Closed is a connection that a broker closed, which clients report as an end of file. When it did
// so shows what it may require; a broker that ends does the same.
type Closed struct{ code, when string }

func (e *Closed) Error() string { return "the broker closed the connection " + e.when }

// When a broker closes a connection.
var (
	InHandshake = &Closed{TLS, "during the TLS handshake: it may not use TLS"}
	AtFirst     = &Closed{TLS, "at the first request: it may require TLS"}
	InSASL      = &Closed{Credentials, "during SASL authentication"}
	Later       = &Closed{outage.Unavailable, "after a request: it may require SASL"}
)

// advice says what to do about a problem, by its code.
var advice = map[string]string{
	outage.Unavailable: "see whether the brokers run, whether their addresses are right, and whether this machine reaches them; the runtime keeps retrying",
	Credentials:        "correct the SASL mechanism, the user or the password in the settings of the Source, or at the brokers; the runtime keeps retrying",
	TLS: "use TLS on both sides or on neither; in the settings of the Source, give the authority of the brokers' certificate, " +
		"and a client certificate if they require one; the runtime keeps retrying",
	"topic-missing": "create the topic, or correct its name in the spec; the runtime waits until it exists",
	"joining":       outage.JoinAdvice,
}

func reason(code string, err error) *outage.Reason {
	return &outage.Reason{Code: code, Do: advice[code], Waits: code == "joining", Err: err}
}

// causeOf returns the cause that an error of the client tells, and how specific it is.
func causeOf(err error, says int) cause {
	if d, is := errors.AsType[*Denied](err); is {
		return cause{d.Cause, denied, d.Code}
	}
	if c, is := errors.AsType[*Closed](err); is {
		return cause{c.Error(), closed, c.code}
	}
	return cause{err.Error(), says, outage.Unavailable}
}

func joining(format string, args ...any) error {
	return reason("joining", fmt.Errorf(format, args...))
}

func (m *membership) noAnswer() error {
	if m.cause.code == Credentials || m.cause.code == TLS {
		return reason(m.cause.code, fmt.Errorf("no connection to the brokers %s: %s", m.brokers, m.cause.text))
	}
	return reason(outage.Unavailable, fmt.Errorf("no broker of %s responds: %s", m.brokers, cmp.Or(m.cause.text, "all are down")))
}

func missing(topic string) error {
	return reason("topic-missing", fmt.Errorf("topic %s does not exist", topic))
}
