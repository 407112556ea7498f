package confluent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// clientLog logs what the client says.
type clientLog struct {
	*slog.Logger
	brokers string
	logged  map[kafka.ErrorCode]time.Time // when an error was logged last
}

// repeatInterval is how long an error is not repeated in the log.
const repeatInterval = 30 * time.Second

// error logs an error after which the client goes on trying. One that the sink was told of,
// in other words, is no news.
func (l *clientLog) error(e kafka.Error, told bool) {
	const text = "the Kafka client reports an error and goes on trying"
	if told {
		l.Debug(text, "err", e.Error(), "code", int(e.Code()))
		return
	}
	if now := time.Now(); now.Sub(l.logged[e.Code()]) >= repeatInterval {
		l.logged[e.Code()] = now
		l.Warn(text, "err", e.Error(), "code", int(e.Code()), "brokers", l.brokers)
	}
}

// forward copies the client's own log until lines is closed. Its syslog levels 0 to 4 are
// errors and warnings, 5 is a notice; connection failures also come as error events.
func (l *clientLog) forward(ctx context.Context, lines <-chan kafka.LogEvent) {
	for line := range lines {
		level := slog.LevelDebug
		switch {
		case line.Tag == "FAIL" || line.Tag == "ERROR":
		case line.Level <= 4:
			level = slog.LevelWarn
		case line.Level == 5:
			level = slog.LevelInfo
		}
		l.Log(ctx, level, "kafka client", "tag", line.Tag, "text", line.Message)
	}
}

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
	r.log.error(e, r.group.unreachable != nil)
}

// needsTokens is the error of a client that asks the program for tokens.
var needsTokens = kafka.NewError(kafka.ErrAuthentication,
	"sasl.oauthbearer.method=default needs the application's help: use oidc", false)
