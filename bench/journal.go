package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// journal keeps what a consumer logs. It is a hook, too.
type journal struct {
	mu     sync.Mutex
	lines  []slog.Record
	upkeep time.Duration // that the last run took
}

// OnUpkeep is a method of package hook.
func (j *journal) OnUpkeep(took time.Duration, _ error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.upkeep = took
}

// Enabled implements slog.Handler.
func (j *journal) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle implements slog.Handler.
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		fmt.Fprintln(os.Stderr, r.Level, r.Message)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, r)
	return nil
}

// WithAttrs implements slog.Handler.
func (j *journal) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup implements slog.Handler.
func (j *journal) WithGroup(string) slog.Handler { return j }

// wait waits for a line, and returns it. Meanwhile it calls do.
func (j *journal) wait(message string, do func() error) (slog.Record, error) {
	for end := time.Now().Add(longest); time.Now().Before(end); {
		j.mu.Lock()
		for _, r := range j.lines {
			if r.Message == message {
				j.mu.Unlock()
				return r, nil
			}
		}
		j.mu.Unlock()
		if err := do(); err != nil {
			return slog.Record{}, err
		}
		time.Sleep(time.Millisecond)
	}
	return slog.Record{}, fmt.Errorf("the consumer did not log %q in %v", message, longest)
}
