package confluent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/internal/member"
)

// clientError handles an error event. All but fatal ones are left to the client, which goes on
// trying.
func (r *run) clientError(e kafka.Error) {
	if e.IsFatal() {
		r.member.Fail(fmt.Errorf("confluent: the client cannot go on: %w", e))
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

// reason is what a broker's error says without what differs from one try to the next: the
// broker's name, how long it took, how often it happened.
func reason(text string) string {
	text, _, _ = strings.Cut(text, " (after ")
	if _, rest, found := strings.Cut(text, ": "); found {
		text = rest
	}
	return text
}
