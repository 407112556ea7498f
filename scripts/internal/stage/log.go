package stage

import (
	"bytes"
	"sync"
)

// Log is what a process wrote; of a long one, the last part.
type Log struct {
	mu  sync.Mutex
	buf []byte
}

const (
	logBytes  = 1 << 20
	tailBytes = 4 << 10
)

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if len(l.buf) > 2*logBytes {
		l.buf = append(l.buf[:0], l.buf[len(l.buf)-logBytes:]...)
	}
	return len(b), nil
}

// has reports whether the process wrote text.
func (l *Log) has(text string) bool { return l.Count(text) > 0 }

// Count is how often it did.
func (l *Log) Count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.buf, []byte(text))
}

// All is what is kept of the log.
func (l *Log) All() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.buf)
}

// String is its last lines.
func (l *Log) String() string {
	all := l.All()
	return string(bytes.TrimSpace(all[max(0, len(all)-tailBytes):]))
}
