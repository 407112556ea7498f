package confluent

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// complaints are the client's errors by code, with the time each was last logged.
type complaints map[kafka.ErrorCode]time.Time

// quiet is how long an error is not repeated in the log.
const quiet = 30 * time.Second

// complain handles an error event. All but fatal ones are left to the client, which goes on
// trying.
func (r *run) complain(e kafka.Error) {
	if e.IsFatal() {
		r.check(fmt.Errorf("confluent: the client cannot go on: %w", e))
		return
	}
	switch e.Code() {
	case kafka.ErrAutoOffsetReset, kafka.ErrLogTruncation, kafka.ErrOffsetOutOfRange:
		r.doubt.Store(true)
	}
	r.alarm(e)
	if r.group.broker != nil { // the sink was told
		r.log.Debug("the Kafka client reports an error and goes on trying", "err", e.Error(), "code", int(e.Code()))
		return
	}
	if now := time.Now(); now.Sub(r.told[e.Code()]) >= quiet {
		r.told[e.Code()] = now
		r.log.Warn("the Kafka client reports an error and goes on trying", "err", e.Error(), "code", int(e.Code()),
			"brokers", r.addresses)
	}
}

// forwardLogs copies the client's own log until the client is closed. Its syslog levels 0 to
// 4 are errors and warnings, 5 is a notice; connection failures also come as error events.
func (r *run) forwardLogs() {
	for l := range r.lines {
		level := slog.LevelDebug
		switch {
		case l.Tag == "FAIL" || l.Tag == "ERROR":
		case l.Level <= 4:
			level = slog.LevelWarn
		case l.Level == 5:
			level = slog.LevelInfo
		}
		r.log.Log(r.ctx, level, "kafka client", "tag", l.Tag, "text", l.Message)
	}
}
