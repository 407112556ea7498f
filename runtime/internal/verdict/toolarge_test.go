package verdict_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// unsent is an error of the driver before anything was sent.
type unsent struct{ error }

func (unsent) SafeToRetry() bool { return true }

// Only a message that the driver cannot build is too large: a lost connection, also while a batch
// is prepared, is not the statement's fault.
func TestTooLarge(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{unsent{errors.New("write failed: message body too large")}, true},
		{unsent{errors.New("write failed: too many parameters")}, true},
		{unsent{errors.New("write failed: broken pipe")}, false},
		{errors.New("write failed: message body too large"), false}, // by a handler
		{fmt.Errorf("batch: %w", pgx.ErrPreprocessingBatch{}), false},
	} {
		if got := verdict.TooLarge(test.err); got != test.want {
			t.Errorf("%v: got %t", test.err, got)
		}
	}
}
