// Package refusal describes why brokers do not serve a client, and what to do about it, in the
// same words for each client.
//
// It must not import any other package of this module.
package refusal

import "errors"

// The codes of refusals.
const (
	Unavailable = "unavailable" // no broker responds
	Credentials = "credentials" // the brokers reject the SASL mechanism, the user or the password
	TLS         = "tls"         // one side uses TLS and the other does not, or one rejects the other's certificate
)

// Denied is the error of brokers to which this client cannot connect as it is set up.
type Denied struct{ Code, Cause string }

func (e *Denied) Error() string { return e.Cause }

// Closed is a connection that a broker closed, which clients report as an end of file. When it did
// so shows what it may require; a broker that ends does the same.
type Closed struct{ code, when string }

func (e *Closed) Error() string { return "the broker closed the connection " + e.when }

// When a broker closes a connection.
var (
	InHandshake = &Closed{TLS, "during the TLS handshake: it may not use TLS"}
	AtFirst     = &Closed{TLS, "at the first request: it may require TLS"}
	InSASL      = &Closed{Credentials, "during SASL authentication"}
	Later       = &Closed{Unavailable, "after a request: it may require SASL"}
)

// Code returns the code of an error.
func Code(err error) string {
	if d, is := errors.AsType[*Denied](err); is {
		return d.Code
	}
	if c, is := errors.AsType[*Closed](err); is {
		return c.code
	}
	return Unavailable
}

// Advice says what to do about a refusal with a code.
func Advice(code string) string {
	switch code {
	case Credentials:
		return "correct the SASL mechanism, the user or the password in the client's settings, or at the brokers; the runtime keeps retrying"
	case TLS:
		return "use TLS on both sides or on neither; in the client's settings, give the authority of the brokers' certificate, " +
			"and a client certificate if they require one; the runtime keeps retrying"
	}
	return "see whether the brokers run, whether their addresses are right, and whether this machine reaches them; the runtime keeps retrying"
}
