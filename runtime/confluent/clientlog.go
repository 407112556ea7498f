package confluent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/internal/member"
)

// clientError handles an error event. Errors that are not fatal are left to the client, which
// keeps retrying.
func (r *run) clientError(e kafka.Error) {
	if e.IsFatal() {
		r.member.Fail(fmt.Errorf("confluent: fatal client error: %w", e))
		return
	}
	switch e.Code() {
	case kafka.ErrAutoOffsetReset, kafka.ErrLogTruncation, kafka.ErrOffsetOutOfRange:
		r.member.PositionLost(nil)
	case kafka.ErrTransport, kafka.ErrResolve, kafka.ErrSsl, kafka.ErrAuthentication:
		r.failed = true
		r.member.BrokerFailed(cause(e.Code(), e.Error()))
	case kafka.ErrAllBrokersDown:
		r.allDown()
	}
	r.log.Report(e, r.member.Unreachable())
}

// allDown reports that all brokers are down. An alarm without a cause is ignored, because the next
// one comes soon, and the client logs the cause at about the same time.
func (r *run) allDown() {
	if text := r.log.Failed(); text != "" && !r.failed {
		why := cause(kafka.ErrTransport, text)
		r.member.BrokerFailed(why)
		r.failed = why != member.Later
	}
	if !r.failed && !r.alarmed {
		r.alarmed = true
		return
	}
	r.failed, r.alarmed = false, false
	r.member.AllBrokersDown()
}

// cause returns what an error of a connection means. The client says in which state of the
// connection it occurred.
func cause(code kafka.ErrorCode, text string) error {
	_, state, _ := strings.Cut(text, " in state ")
	state, _, _ = strings.Cut(strings.TrimRight(state, ")"), ",")
	text = reason(text)
	closed := strings.HasPrefix(text, "Disconnected")
	switch {
	case closed && state == "SSL_HANDSHAKE", strings.Contains(text, "PLAINTEXT broker"):
		return member.InHandshake
	case closed && state == "APIVERSION_QUERY":
		return member.AtFirst
	case code == kafka.ErrAuthentication:
		return &member.Denied{Code: member.Credentials, Cause: text}
	case closed && strings.HasPrefix(state, "AUTH_"), strings.HasPrefix(text, "SASL authentication error"):
		return member.InSASL
	case closed:
		return member.Later
	case code == kafka.ErrSsl, strings.Contains(text, "SSL"):
		return &member.Denied{Code: member.TLS, Cause: text}
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
