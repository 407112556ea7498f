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
	case kafka.ErrTransport, kafka.ErrResolve:
		r.member.BrokerFailed(errors.New(reason(e.Error())))
	case kafka.ErrSsl, kafka.ErrAuthentication:
		r.member.BrokerFailed(&member.Denied{Cause: reason(e.Error())})
	case kafka.ErrAllBrokersDown:
		r.member.AllBrokersDown()
	}
	r.log.Report(e, r.member.Unreachable())
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
