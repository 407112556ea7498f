// Package transcript keeps what programs and loggers write, for tests that read it while they run.
// It must not import any other package of this module.
package transcript

import (
	"strings"
	"sync"
)

// A Buffer is an io.Writer that may be written and read by several goroutines at once. Its zero
// value is empty and ready to use.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends p. It returns no error.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written until now.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
