package member

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

// The codes of problems that are not refusals of brokers.
const (
	notJoined    = "joining"
	topicMissing = "topic-missing"
)

// refusedAdvice is what to do if a process cannot join its group.
const refusedAdvice = "remove the cause; if it is a missing right, grant READ on the group; the runtime keeps retrying"

// reason returns what an operator needs to know of an error.
func reason(code string, err error) *outage.Reason {
	do := refusal.Advice(code)
	switch code {
	case topicMissing:
		do = "create the topic, or correct its name in the spec; the runtime waits until it exists"
	case notJoined:
		do = outage.JoinAdvice
	}
	return &outage.Reason{Code: code, Do: do, Waits: code == notJoined, Err: err}
}

// causeOf returns the cause that an error of the client tells, and how specific it is.
func causeOf(err error, says int) cause {
	if _, is := errors.AsType[*refusal.Denied](err); is {
		says = denied
	} else if _, is := errors.AsType[*refusal.Closed](err); is {
		says = closed
	}
	return cause{err.Error(), says, refusal.Code(err)}
}

// joining returns the problem of a process that is not a member of the group. It includes why the
// process cannot join, if that is known.
func (m *membership) joining(format string, args ...any) error {
	why := reason(notJoined, fmt.Errorf(format, args...))
	if m.refused != nil {
		why.Do, why.Err = refusedAdvice, fmt.Errorf("%w: %w", why.Err, m.refused)
	}
	return why
}

func (m *membership) noAnswer() error {
	if m.cause.code == refusal.Credentials || m.cause.code == refusal.TLS {
		return reason(m.cause.code, fmt.Errorf("no connection to the brokers %s: %s", m.brokers, m.cause.text))
	}
	return reason(refusal.Unavailable, fmt.Errorf("no broker of %s responds: %s", m.brokers, cmp.Or(m.cause.text, "all are down")))
}

func missing(topic string) error {
	return reason(topicMissing, fmt.Errorf("topic %s does not exist", topic))
}
