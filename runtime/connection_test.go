package idem_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// What a handler sets for the session must not outlive its transaction: the next batch on that
// connection would write elsewhere.
func TestSessionOfAHandlerIsClean(t *testing.T) {
	db := database(t)
	idemtest.Exec(t, db, `CREATE SCHEMA tenant; CREATE TABLE tenant.t (LIKE public.t INCLUDING ALL)`)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SET search_path = tenant, public`)
		return err
	}}.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "call 1", "put 2 2"))
	apply(t, w, records(3, "put 3 3"))
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
	want(t, "rows elsewhere", query(t, db, `SELECT count(*)::text FROM tenant.t`), "0")
}

func TestSessionLocksOfAHandlerEnd(t *testing.T) {
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_lock(42)`)
		return err
	}}.consumer(t, db))
	apply(t, w, records(0, "call 1"))
	want(t, "advisory locks", query(t, db, `SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND objid = 42`), "0")
}

func TestTempTableOfAHandlerHidesNone(t *testing.T) {
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS t (id integer PRIMARY KEY, v integer)`)
		return err
	}}.consumer(t, db))
	apply(t, w, records(0, "call 1", "put 1 1"))
	apply(t, w, records(2, "put 2 2"))
	want(t, "rows", table(t, db), "1=1 2=2")
}

// What the service's own hook gave its connections stays, and so does what the runtime did.
func TestSettingsOfTheServiceOutliveAHandler(t *testing.T) {
	db := database(t)
	idemtest.Exec(t, db, `CREATE SCHEMA tenant; CREATE TABLE tenant.t (LIKE public.t INCLUDING ALL)`)
	cfg := db.Config()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SET search_path = tenant, public`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var interval string
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		if err := tx.QueryRow(ctx, `SHOW client_connection_check_interval`).Scan(&interval); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `SET search_path = public; SET client_connection_check_interval = 0; SET ROLE pg_monitor`)
		return err
	}}.consumer(t, pool))
	apply(t, w, records(0, "call 1", "put 1 1"))
	apply(t, w, records(2, "put 2 2", "call 1"))
	want(t, "rows", query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM tenant.t`), "1 2")
	want(t, "client_connection_check_interval", interval, "5s")
}
