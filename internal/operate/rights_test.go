package operate_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// as returns connections of a role that has just these rights.
func as(t *testing.T, db *pgxpool.Pool, role, grants string) *pgxpool.Pool {
	t.Helper()
	idemtest.Exec(t, db, `CREATE ROLE `+role+`; `+grants)
	t.Cleanup(func() { // the role is the server's, not the database's
		if _, err := db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role); err != nil {
			t.Error(err)
		}
	})
	cfg := db.Config()
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SET ROLE `+role)
		return err
	}
	limited, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limited.Close)
	return limited
}

// The rights that docs/operations.md names are enough.
func TestCommandsNeedFewRights(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	operator := as(t, db, "idemgen_test_operator", `
GRANT SELECT ON idem_stream, idem_ledger, idem_dead_letter, idem_operator, idem_process TO idemgen_test_operator;
GRANT INSERT ON idem_ledger TO idemgen_test_operator`)
	n := orders
	n.TopicID = newID
	_, err := operate.Set(t.Context(), operator, n, operate.Target{From: halt.NoLedger, To: 1}, ann)
	refused(t, err, "docs/operations.md lists the rights")
	if _, err := operate.Release(t.Context(), operator, orders, operate.Leave{}, ann); err != nil {
		t.Error(err)
	}
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) VALUES ($1, 11, 1, 'd', 'decode')`, w.stream)
	letters, _, err := operate.Meant(t.Context(), operator, operate.Selection{Consumer: orders.Consumer, Topic: orders.Topic}, "discard")
	if err != nil {
		t.Fatal(err)
	}
	_, err = operate.Ask(t.Context(), operator, letters[:1], "discard", nil, ann)
	refused(t, err, "docs/operations.md lists the rights")
	idemtest.Exec(t, db, `GRANT UPDATE (asked, asked_at, asked_by, asked_number, asked_result, asked_with_result, answer, answered_at) ON idem_dead_letter TO idemgen_test_operator`)
	idemtest.Exec(t, db, `GRANT USAGE ON SEQUENCE idem_fence TO idemgen_test_operator`)
	if _, err := operate.Ask(t.Context(), operator, letters[:1], "discard", nil, ann); err != nil {
		t.Error(err)
	}
	idemtest.Exec(t, db, `GRANT INSERT ON idem_stream TO idemgen_test_operator`)
	if _, err := operate.Set(t.Context(), operator, n, operate.Target{From: halt.NoLedger, To: 1}, ann); err != nil {
		t.Error(err)
	}
	idemtest.Exec(t, db, `GRANT SELECT ON idem_keys TO idemgen_test_operator; GRANT DELETE ON idem_ledger TO idemgen_test_operator`)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE stream = $1`, w.stream)
	n.TopicID = oldID
	if _, err := operate.Set(t.Context(), operator, n, operate.Target{From: halt.NoLedger, To: 1}, ann); err != nil {
		t.Error(err)
	}
}
