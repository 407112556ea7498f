package handler_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// What a handler sets for the session must not outlive its transaction: the next batch on that
// connection would write elsewhere.
func TestSessionOfAHandlerIsClean(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE SCHEMA tenant; CREATE TABLE tenant.t (LIKE public.t INCLUDING ALL)`)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SET search_path = tenant, public`)
		return err
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1", "put 2 2"))
	rig.Apply(t, w, rig.Records(3, "put 3 3"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
	rig.Want(t, "rows elsewhere", rig.Query(t, db, `SELECT count(*)::text FROM tenant.t`), "0")
}

// rewriter makes any statement of a text.
type rewriter struct{}

func (rewriter) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	return setPath, nil, nil
}

// onItsConnection is a rewriter that sets something on the connection that it gets, and leaves the
// text as it is.
type onItsConnection struct{}

func (onItsConnection) RewriteQuery(ctx context.Context, conn *pgx.Conn, sql string, args []any) (string, []any, error) {
	_, err := conn.Exec(ctx, setPath)
	return sql, args, err
}

const setPath = `SELECT set_config('search_path', 'tenant, public', false)`

// ways are the ways in which a handler can send a statement that leaves something behind.
// Plain statements stand in front and behind, which leave nothing.
var ways = map[string]func(ctx context.Context, tx idem.Tx, sql string) error{
	"by Exec": func(ctx context.Context, tx idem.Tx, sql string) error {
		_, err := tx.Exec(ctx, sql)
		return err
	},
	"by Query": func(ctx context.Context, tx idem.Tx, sql string) error {
		rows, err := tx.Query(ctx, sql)
		if err == nil {
			rows.Close()
			err = rows.Err()
		}
		return err
	},
	"by QueryRow": func(ctx context.Context, tx idem.Tx, sql string) error {
		if err := tx.QueryRow(ctx, sql).Scan(new(string)); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	},
	"by SendBatch": func(ctx context.Context, tx idem.Tx, sql string) error {
		var b pgx.Batch
		b.Queue(`SELECT 1 + 1`)
		b.Queue(sql)
		return tx.SendBatch(ctx, &b).Close()
	},
	"by Queue": func(_ context.Context, tx idem.Tx, sql string) error {
		tx.Queue(`SELECT 1 + 1`)
		tx.Queue(sql).QueryRow(func(row pgx.Row) error {
			if err := row.Scan(new(string)); !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			return nil
		})
		return nil
	},
	"by Conn": func(ctx context.Context, tx idem.Tx, sql string) error {
		_, err := idem.PgxTx(tx).Conn().Exec(ctx, sql)
		return err
	},
	"by the rows of a query": func(ctx context.Context, tx idem.Tx, sql string) error {
		rows, err := tx.Query(ctx, `SELECT 1 + 1 AS two`)
		if err != nil {
			return err
		}
		rows.Close()
		_, err = rows.Conn().Exec(ctx, sql)
		return err
	},
	"by the rows of a batch": func(ctx context.Context, tx idem.Tx, sql string) error {
		var b pgx.Batch
		var conn *pgx.Conn
		b.Queue(`SELECT 1 + 1 AS two`).Query(func(rows pgx.Rows) error {
			conn = rows.Conn()
			return nil
		})
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, sql)
		return err
	},
	"in a savepoint": func(ctx context.Context, tx idem.Tx, sql string) error {
		return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, sql)
			return err
		})
	},
	"under a name": func(ctx context.Context, tx idem.Tx, sql string) error {
		if _, err := idem.PgxTx(tx).Prepare(ctx, "select it", sql); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "select it")
		return err
	},
}

func TestWhatAHandlerSetsIsTakenBackHoweverItIsSent(t *testing.T) {
	rig.Lengthy(t)
	sent := maps.Clone(ways)
	sent["by a rewriter"] = func(ctx context.Context, tx idem.Tx, _ string) error {
		_, err := tx.Exec(ctx, `SELECT 1 + 1`, pgx.QueryExecModeExec, rewriter{})
		return err
	}
	sent["on the connection of a rewriter"] = func(ctx context.Context, tx idem.Tx, _ string) error {
		_, err := tx.Exec(ctx, `SELECT 1 + 1`, onItsConnection{})
		return err
	}
	for name, send := range sent {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			idemtest.Exec(t, db, `CREATE SCHEMA tenant; CREATE TABLE tenant.t (LIKE public.t INCLUDING ALL)`)
			w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if row == 1 {
					return send(ctx, tx, setPath)
				}
				return rig.AddOne(ctx, tx, row)
			}}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 2 2", "call 2", "call 1", "call 2", "put 3 3", "call 1", "put 4 4", "call 2"))
			rig.Apply(t, w, rig.Records(8, "put 5 5", "call 2"))
			rig.Want(t, "rows", rig.Table(t, db), "2=6 3=3 4=4 5=5")
			rig.Want(t, "rows elsewhere", rig.Query(t, db, `SELECT count(*)::text FROM tenant.t`), "0")
		})
	}
}

func TestSessionLocksOfAHandlerEnd(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_lock(42)`)
		return err
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1"))
	rig.Want(t, "advisory locks", rig.Query(t, db, `SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`), "0")
}

func TestTempTableOfAHandlerHidesNone(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS t (id integer PRIMARY KEY, v integer)`)
		return err
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1", "put 1 1"))
	rig.Apply(t, w, rig.Records(2, "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// What the service's own hook gave its connections stays, and so does what the runtime did.
func TestSettingsOfTheServiceOutliveAHandler(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
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
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		if err := tx.QueryRow(ctx, `SHOW client_connection_check_interval`).Scan(&interval); err != nil {
			return err
		}
		return ending(`SET search_path = public`, `SET client_connection_check_interval = 0`, `SET ROLE pg_monitor`)(ctx, tx)
	}}.Consumer(t, pool))
	rig.Apply(t, w, rig.Records(0, "call 1", "put 1 1"))
	rig.Apply(t, w, rig.Records(2, "put 2 2", "call 1"))
	rig.Want(t, "rows", rig.Query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM tenant.t`), "1 2")
	rig.Want(t, "client_connection_check_interval", interval, "5s")
}
