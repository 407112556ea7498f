package verdict

import (
	"context"
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
