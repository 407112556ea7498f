// Package clientlog forwards the log of a confluent-kafka-go client, logs the errors after which
// the client retries, and tells why its connections fail.
//
// It must not import any package of this module but refusal.
package clientlog

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// Log logs the messages of one client.
type Log struct {
	*slog.Logger
	brokers string
	logged  map[kafka.ErrorCode]time.Time // when an error was logged last
	failed  atomic.Pointer[string]        // why a connection failed last; nil if none did
}

// New returns the log of a client of brokers.
func New(to *slog.Logger, brokers string) *Log {
	return &Log{Logger: to, brokers: brokers, logged: map[kafka.ErrorCode]time.Time{}}
}

// repeatInterval is the shortest interval between two log lines about the same error.
const repeatInterval = 30 * time.Second

// Report logs an error after which the client retries. An error that was reported to the sink is
// not logged again.
func (l *Log) Report(e kafka.Error, told bool) {
	const text = "the Kafka client reports an error and keeps trying"
	if told {
		l.Debug(text, "err", e.Error(), "code", int(e.Code()))
		return
	}
	if now := time.Now(); now.Sub(l.logged[e.Code()]) >= repeatInterval {
		l.logged[e.Code()] = now
		l.Warn(text, "err", e.Error(), "code", int(e.Code()), "brokers", l.brokers)
	}
}

// Failed returns why a connection failed last; "" if none did. The client has no error event for a
// connection that a broker closed.
func (l *Log) Failed() string {
	text := l.failed.Load()
	if text == nil {
		return ""
	}
	return *text
}

// trace is the level of the client's internal messages: LOG_LEVEL=debug-4 shows them, but debug
// does not.
const trace = slog.LevelDebug - 4

// Forward copies the client's own log until lines is closed. Its syslog levels 0 to 4 are
// errors and warnings, 5 is a notice; connection failures also come as error events.
func (l *Log) Forward(ctx context.Context, lines <-chan kafka.LogEvent) {
	for line := range lines {
		level := trace
		switch {
		case line.Tag == "FAIL":
			_, text, _ := strings.Cut(line.Message, "]: ") // after the thread's name
			l.failed.Store(&text)
		case line.Tag == "ERROR":
		case line.Level <= 4:
			level = slog.LevelWarn
		case line.Level == 5:
			level = slog.LevelInfo
		}
		l.Log(ctx, level, "kafka client", "tag", line.Tag, "text", line.Message)
	}
}
