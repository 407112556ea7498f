package engine

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What surely did not commit is forgotten, so that an outage costs time and not memory; what
// may have committed is not.
func TestOnlyAttemptsThatMayHaveCommittedAreKept(t *testing.T) {
	answer := func(code string) error { return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code}) }
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"disk full":           {answer("53100"), true},
		"lock":                {answer("55P03"), true},
		"deadlock":            {answer("40P01"), true},
		"refused":             {answer("23505"), true},
		"time is over":        {answer("25P04"), true},
		"handler":             {&verdict.HandlerError{Call: &wire.Call{}, Err: io.EOF}, true},
		"no answer":           {io.ErrUnexpectedEOF, false},
		"ended by a person":   {answer("57P01"), false},
		"crash":               {answer("57P02"), false},
		"starting up":         {answer("57P03"), false},
		"connection":          {answer("08006"), false},
		"completion unknown":  {answer("40003"), false},
		"two causes, one EOF": {errors.Join(io.ErrUnexpectedEOF, io.EOF), false},
	} {
		if got := rolledBack(test.err); got != test.want {
			t.Errorf("%s: rolled back %v, want %v", name, got, test.want)
		}
	}
}
