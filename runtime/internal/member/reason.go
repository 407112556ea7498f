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

// What a closed connection means, depending on when the broker closed it. Clients report it as an
// end of file.
const (
	ClosedHandshake = "the broker closed the connection during the TLS handshake: it may not use TLS"
	ClosedFirst     = "the broker closed the connection at the first request: it may require TLS"
	ClosedSASL      = "the broker closed the connection during SASL authentication"
)

// ErrClosed is a connection that a broker closed later. Any other cause is more specific.
var ErrClosed = errors.New("the broker closed the connection: it may require SASL")

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
	if errors.Is(err, ErrClosed) {
		says = unanswered
	}
	return cause{err.Error(), says, outage.Unavailable}
}

func joining(format string, args ...any) error {
	return reason("joining", fmt.Errorf(format, args...))
}

func (m *membership) noAnswer() error {
	if m.cause.says == denied {
		return reason(m.cause.code, fmt.Errorf("no connection to the brokers %s: %s", m.brokers, m.cause.text))
	}
	return reason(outage.Unavailable, fmt.Errorf("no broker of %s responds: %s", m.brokers, cmp.Or(m.cause.text, "all are down")))
}

func missing(topic string) error {
	return reason("topic-missing", fmt.Errorf("topic %s does not exist", topic))
}
