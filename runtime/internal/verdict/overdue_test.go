package verdict

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// The server may be the first to see that a transaction takes too long, from PostgreSQL 17 on.
func TestServersOwnTimeOutsNameTheirLimit(t *testing.T) {
	limits := &wire.Limits{BatchTimeout: 30 * time.Second, StatementTimeout: 8 * time.Second}
	event := Limit{Name: "the time of a call", Most: time.Hour}
	for code, limit := range map[string]string{"25P04": "limits.batch_timeout (30s) was exceeded", "57014": "statement_timeout (8s) was exceeded"} {
		if err := Overdue(t.Context(), &pgconn.PgError{Code: code}, event, limits); !strings.HasPrefix(err.Error(), limit) {
			t.Errorf("%s is told as %v, want %s", code, err, limit)
		}
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel() // a call has no more time than its batch
	if err := Overdue(over, &pgconn.PgError{Code: "25P04"}, event, limits); !strings.HasPrefix(err.Error(), "limits.batch_timeout (30s)") {
		t.Errorf("25P04 of a call that is over is told as %v", err)
	}
}

// TestOwnContextNamesTheHandlersContext: an error of a context is the handler's own, whether the
// driver returned it or the server canceled the statement; other errors stay as they are.
func TestOwnContextNamesTheHandlersContext(t *testing.T) {
	canceled, other := &pgconn.PgError{Code: "57014"}, &pgconn.PgError{Code: "23505"}
	plain := errors.New("plain")
	for _, c := range []struct {
		err, by error
		want    string // "" if the error stays as it is
	}{
		{context.DeadlineExceeded, nil, "passed its deadline"},
		{fmt.Errorf("send: %w", context.Canceled), nil, "canceled a context of its own"},
		{canceled, context.DeadlineExceeded, "passed its deadline"},
		{canceled, context.Canceled, "canceled a context of its own"},
		{canceled, nil, ""},
		{other, context.Canceled, ""},
		{plain, context.Canceled, ""},
	} {
		got := OwnContext(c.err, c.by)
		if c.want == "" && got != c.err || c.want != "" && !strings.Contains(got.Error(), c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v by %v: got %v, want %q", c.err, c.by, got, c.want)
		}
	}
}

// Only what a limit may have caused names one: that of the context if it has expired, else the
// server's. What names a limit already stays as it is.
func TestWhatALimitMayHaveCaused(t *testing.T) {
	limits := &wire.Limits{BatchTimeout: 30 * time.Second, StatementTimeout: 8 * time.Second}
	limit := Limit{Name: "limits.batch_timeout", Most: 30 * time.Second, Of: "by offsets 3 to 5"}
	expired, stop := context.WithDeadline(t.Context(), time.Now())
	defer stop()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	timeout, data, lost := &pgconn.PgError{Code: "57014"}, &pgconn.PgError{Code: "22003"}, errors.New("connection reset")
	const ours, theirs = "limits.batch_timeout (30s) was exceeded by offsets 3 to 5: ", "statement_timeout (8s) was exceeded, or somebody canceled the statement by offsets 3 to 5: "
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want string // before the error; "" if it stays
	}{
		"time is over":             {expired, timeout, ours},
		"no reply, time is over":   {expired, lost, ours},
		"data, time is over":       {expired, data, ""},
		"canceled":                 {canceled, timeout, theirs},
		"no reply, canceled":       {canceled, lost, ""},
		"time is left":             {t.Context(), timeout, theirs},
		"no reply, time is left":   {t.Context(), lost, ""},
		"the limit is named":       {expired, Overdue(expired, timeout, Limit{Name: "another", Most: 1}, limits), ""},
		"no error, time is over":   {expired, nil, ""},
		"of another, time is left": {t.Context(), data, ""},
	} {
		got := Overdue(c.ctx, c.err, limit, limits)
		if c.want == "" && got != c.err || c.want != "" && got.Error() != c.want+Describe(c.err).Error() {
			t.Errorf("%s: %v", name, got)
		}
		if c.want != "" && !errors.Is(got, c.err) {
			t.Errorf("%s: the error is not in the chain", name)
		}
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want bool
	}{
		"expired": {expired, true}, "canceled": {canceled, false}, "without a deadline": {t.Context(), false},
	} {
		if got := OutOfTime(c.ctx); got != c.want {
			t.Errorf("%s: out of time %t", name, got)
		}
	}
}
