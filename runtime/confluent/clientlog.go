package confluent

import (
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// clientError handles an error event. All but fatal ones are left to the client, which goes on
// trying.
func (r *run) clientError(e kafka.Error) {
	if e.IsFatal() {
		r.fetcher.check(fmt.Errorf("confluent: the client cannot go on: %w", e))
		return
	}
	switch e.Code() {
	case kafka.ErrAutoOffsetReset, kafka.ErrLogTruncation, kafka.ErrOffsetOutOfRange:
		r.comparison.positionLost = true
	}
	if allDown := r.group.brokerError(e); allDown {
		r.comparison.next = time.Now()
		r.tellGroup()
	}
	r.log.Report(e, r.group.unreachable != nil)
}
