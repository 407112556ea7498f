//go:build unix

package outbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest/pgbouncer"
)

// A pooler in transaction mode would give the session that holds the lock to others: Run says
// so at once. One in session mode works.
func TestRelayThroughAPooler(t *testing.T) {
	for name, conf := range map[string]map[string]string{
		"in a circle": {"pool_mode": "transaction", "server_round_robin": "1"},
		"one server":  {"pool_mode": "transaction", "default_pool_size": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newRelay(pgbouncer.Start(t, database(t), conf).Pool(nil), &memory{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := r.Run(ctx); err == nil || !strings.Contains(err.Error(), "pool_mode = session") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("session mode", func(t *testing.T) {
		t.Parallel()
		db, kafka := database(t), &memory{}
		r, _ := newRelay(pgbouncer.Start(t, db, map[string]string{"pool_mode": "session"}).Pool(nil), kafka)
		start(t, t.Context(), r)
		insert(t, db, "t", "a", []byte("1"))
		wantValues(t, kafka, "1")
	})
}
