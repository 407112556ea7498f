package confluent

import (
	"errors"
	"fmt"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
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
		r.member.BrokerFailed(clientlog.Cause(e.Code(), e.Error()))
	case kafka.ErrAllBrokersDown:
		r.allDown()
	default:
		r.member.JoinFailed(errors.New(e.Error()))
	}
	r.log.Report(e, r.member.Unreachable())
}

// allDown reports that all brokers are down. An alarm without a cause is ignored, because the next
// one comes soon, and the client logs the cause at about the same time.
func (r *run) allDown() {
	if text := r.log.Failed(); text != "" && !r.failed {
		why := clientlog.Cause(kafka.ErrTransport, text)
		r.member.BrokerFailed(why)
		r.failed = why != refusal.Later
	}
	if !r.failed && !r.alarmed {
		r.alarmed = true
		return
	}
	r.failed, r.alarmed = false, false
	r.member.AllBrokersDown()
}
