package verdict_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// However long the text of an error is, what is logged and kept of it is short, ends at the end of
// a character, and says that it was cut.
func TestLongTextsOfErrorsAreCut(t *testing.T) {
	for shift := range 3 {
		long := strings.Repeat("x", shift) + strings.Repeat("\u20ac", 1<<20)
		syntax := &pgconn.PgError{Severity: "ERROR", Code: "42601", Message: long}
		raised := &pgconn.PgError{Severity: "ERROR", Code: "P0001", Message: "no", TableName: long, Routine: "exec_stmt_raise"}
		call := &wire.Call{Event: "Test", Message: &wire.Message{}}
		for name, err := range map[string]error{
			"plain":     errors.New(long),
			"permanent": verdict.Permanent(errors.New(long)),
			"context":   verdict.OwnContext(fmt.Errorf("%s: %w", long, context.DeadlineExceeded), nil),
			"server":    syntax,
			"raised":    raised,
			"wrapped":   fmt.Errorf("%s: %w", long, raised),
		} {
			failed := verdict.Judge(&verdict.HandlerError{Call: call, Err: err}, 1)
			texts := []string{failed.Err.Error(), failed.Cause.Error(), verdict.Storable(err.Error()), verdict.Storable(failed.Cause.Error())}
			texts = append(texts, verdict.Judge(&verdict.Write{Err: err}, 1).Err.Error())
			for i, text := range texts {
				short := i >= 2 && len(text) < 100 // other texts
				if len(text) > 2100 || !utf8.ValidString(text) || !short && !strings.HasSuffix(text, " (cut)") {
					t.Errorf("%s: %d bytes, valid %t, which end with %q", name, len(text), utf8.ValidString(text), text[max(0, len(text)-20):])
				}
			}
			if name == "permanent" && failed.Fault != verdict.CallRefused {
				t.Errorf("%s: fault %d", name, failed.Fault)
			}
		}
	}
	if got := verdict.Storable("a\x00b\xff"); got != "ab\uFFFD" {
		t.Errorf("got %q", got)
	}
}
