// Package clientlog logs what a client of franz-go says.
//
// It must not import any other package of this module.
package clientlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Log logs what clients say. What they say again and again, as while a broker is away, is logged
// once in a while.
type Log struct {
	to     *slog.Logger
	mu     sync.Mutex
	logged map[string]time.Time // when a line was logged last
}

// New returns a log.
func New(to *slog.Logger) *Log { return &Log{to: to, logged: map[string]time.Time{}} }

// repeatInterval is how long a line is not repeated.
const repeatInterval = 30 * time.Second

// Trace is the level of what clients say of themselves: LOG_LEVEL=debug-4 shows it, and debug does
// not.
const Trace = slog.LevelDebug - 4

// Level implements [kgo.Logger].
func (l *Log) Level() kgo.LogLevel {
	if l.to.Enabled(context.Background(), Trace) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelWarn
}

// Log implements [kgo.Logger]. What the clients call information is about themselves.
func (l *Log) Log(level kgo.LogLevel, text string, args ...any) {
	to := Trace
	if level <= kgo.LogLevelWarn && l.due(text) {
		to = slog.LevelWarn
	}
	l.to.Log(context.Background(), to, "kafka client: "+text, args...)
}

// due reports whether a line was not logged for a while.
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
