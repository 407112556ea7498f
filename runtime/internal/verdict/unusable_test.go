package verdict_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

func TestUnusable(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return fmt.Errorf("write: %w", &pgconn.PgError{Code: code}) }
	_, refused := pgx.Connect(t.Context(), "host="+t.TempDir()) // no server has its socket there
	for name, tc := range map[string]struct {
		err      error
		unusable bool
	}{
		"none":                 {nil, false},
		"no server":            {refused, true},
		"a refused connection": {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"a lost connection":    {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"no answer":            {fmt.Errorf("read: %w", context.DeadlineExceeded), true},
		"a shutdown":           {state("57P01"), true},
		"a standby":            {state("25006"), true},
		"a full disk":          {state("53100"), true},
		"a missing right":      {state("42501"), false},
		"a missing table":      {state("42P01"), false},
		"a lock":               {state("55P03"), false},
		"a limit of time":      {state("57014"), false},
	} {
		if got := verdict.Unusable(tc.err); got != tc.unusable {
			t.Errorf("%s: %v", name, got)
		}
	}
}
