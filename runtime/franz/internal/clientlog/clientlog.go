// Package clientlog forwards the log of a franz-go client, and tells why its connections fail.
//
// It must not import any package of this module but refusal.
package clientlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Log logs the lines of clients. A line that repeats, for example while a broker is down, is
// logged only from time to time.
type Log struct {
	to     *slog.Logger
	mu     sync.Mutex
	logged map[string]time.Time // when a line was logged last
}

// New returns a log.
func New(to *slog.Logger) *Log { return &Log{to: to, logged: map[string]time.Time{}} }

// repeatInterval is the shortest interval between two equal lines.
const repeatInterval = 30 * time.Second

// Trace is the level of the clients' internal messages: LOG_LEVEL=debug-4 shows them, but debug
// does not.
const Trace = slog.LevelDebug - 4

// Level implements [kgo.Logger].
func (l *Log) Level() kgo.LogLevel {
	if l.to.Enabled(context.Background(), Trace) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelWarn
}

// Log implements [kgo.Logger]. The clients' messages of level info are about their internals.
func (l *Log) Log(level kgo.LogLevel, text string, args ...any) {
	to := Trace
	if level <= kgo.LogLevelWarn && l.due(text) {
		to = slog.LevelWarn
	}
	l.to.Log(context.Background(), to, "kafka client: "+text, args...)
}

// due reports whether a line has not been logged for repeatInterval.
func (l *Log) due(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.logged[text]) < repeatInterval {
		return false
	}
	l.logged[text] = now
	return true
}
