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
