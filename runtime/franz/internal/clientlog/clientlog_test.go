package clientlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What a client says again and again is a warning once, and what it says of itself is none.
func TestLinesAreNotRepeated(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := New(slog.New(slog.NewTextHandler(&out, nil)))
	for range 3 {
		l.Log(kgo.LogLevelWarn, "unable to dial", "broker", 1)
		l.Log(kgo.LogLevelError, "group lost")
		l.Log(kgo.LogLevelInfo, "joined")
	}
	if n := strings.Count(out.String(), "level=WARN"); n != 2 || strings.Count(out.String(), "\n") != 2 || l.Level() != kgo.LogLevelWarn {
		t.Errorf("at %v it says\n%s", l.Level(), out.String())
	}
	all := New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: Trace})))
	if all.Level() != kgo.LogLevelInfo {
		t.Errorf("a log of all is at %v", all.Level())
	}
}
