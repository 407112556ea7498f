package clientlog

import (
	"errors"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

// NoToken is the cause if the client asks the application for a token.
var NoToken = &refusal.Denied{Code: refusal.Credentials, Cause: "sasl.oauthbearer.method=default asks the application for a token: set it to oidc"}

// CauseOf returns why brokers cannot be used, as an error event tells; nil if it is about
// something else.
func (l *Log) CauseOf(e kafka.Error) error {
	switch e.Code() {
	case kafka.ErrTransport, kafka.ErrResolve, kafka.ErrSsl, kafka.ErrAuthentication:
		return Cause(e.Code(), e.Error())
	case kafka.ErrAllBrokersDown:
		if text := l.Failed(); text != "" {
			return Cause(kafka.ErrTransport, text)
		}
	}
	return nil
}

// Cause returns what an error of a connection means. The client says in which state of the
// connection it occurred.
func Cause(code kafka.ErrorCode, text string) error {
	_, state, _ := strings.Cut(text, " in state ")
	state, _, _ = strings.Cut(strings.TrimRight(state, ")"), ",")
	text = reason(text)
	closed := strings.HasPrefix(text, "Disconnected") || strings.HasSuffix(text, "failed: Broken pipe") || strings.HasSuffix(text, "failed: Connection reset by peer")
	switch {
	case closed && state == "SSL_HANDSHAKE", strings.Contains(text, "PLAINTEXT broker"):
		return refusal.InHandshake
	case closed && state == "APIVERSION_QUERY":
		return refusal.AtFirst
	case closed && strings.HasPrefix(state, "AUTH_"), strings.HasSuffix(text, "SaslAuthenticateRequest failed: Local: Broker transport failure"):
		return refusal.InSASL
	case code == kafka.ErrAuthentication, strings.HasPrefix(text, "SASL "):
		return &refusal.Denied{Code: refusal.Credentials, Cause: text}
	case closed:
		return refusal.Later
	case code == kafka.ErrSsl, strings.Contains(text, "SSL"):
		return &refusal.Denied{Code: refusal.TLS, Cause: text}
	}
	return errors.New(text)
}

// reason returns the text of a broker's error without the parts that differ from one attempt to
// the next: the broker's name, how long it took, how often it happened.
func reason(text string) string {
	text, _, _ = strings.Cut(text, " (after ")
	if _, rest, found := strings.Cut(text, ": "); found {
		text = rest
	}
	return text
}
