package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// opposites are other values of all settings that the runtime relies on.
var opposites = map[string]string{
	"client_encoding": "LATIN1", "standard_conforming_strings": "off", "DateStyle": "SQL, DMY", "IntervalStyle": "iso_8601", "bytea_output": "escape",
	"extra_float_digits": "-10", "array_nulls": "off", "default_transaction_isolation": "serializable", "default_transaction_deferrable": "on",
	"synchronous_commit": "off", "session_replication_role": "replica", "row_security": "off", "exit_on_error": "on",
	"lock_timeout": "1h", "statement_timeout": "1h", "transaction_timeout": "1h", "idle_in_transaction_session_timeout": "1h", "idle_session_timeout": "1h",
	"application_name": "other",
}

// defaults makes all opposites the database's defaults.
func defaults(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	for name, value := range opposites {
		if rig.Query(t, db, `SELECT count(*)::text FROM pg_settings WHERE name = $1`, name) == "0" {
			continue // of a later server
		}
		idemtest.Exec(t, db, fmt.Sprintf(`ALTER DATABASE %s SET %s = %s`, pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize(), name,
			"'"+strings.ReplaceAll(value, ", ", "', '")+"'"))
	}
}

// bestEffort are settings that have an effect on some servers and connections only.
func bestEffort(name string) bool {
	return strings.HasPrefix(name, "tcp_") || name == "client_connection_check_interval"
}

// Whatever the database has for defaults, a session has the runtime's settings, in batches and
// in handlers, and texts, literals, constraints and times are what they are.
func TestOppositeDefaultsChangeNothing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE note (id int REFERENCES parent, v text, at interval, d date, f float8, b bytea, a text[])`)
	defaults(t, db)
	relied := session.Relied(session.Limits{Lock: 2500 * time.Millisecond, Statement: 8 * time.Second, Idle: 10 * time.Second, Transaction: 10 * time.Second})
	for _, s := range relied {
		if _, ok := opposites[s.Name]; !ok && !bestEffort(s.Name) {
			t.Errorf("the test has no opposite for %s", s.Name)
		}
	}
	var v string
	handle := func(ctx context.Context, tx idem.Tx, id int32) error {
		for _, s := range relied {
			if bestEffort(s.Name) {
				continue
			}
			var got string
			err := tx.QueryRow(ctx, `SELECT setting FROM pg_settings WHERE name = $1`, s.Name).Scan(&got)
			if err == pgx.ErrNoRows {
				continue // of a later server
			}
			if err != nil {
				return err
			}
			if name, _, _ := strings.Cut(got, ","); name != s.Value {
				t.Errorf("%s is %s, not %s", s.Name, got, s.Value)
			}
		}
		if id == 2 { // without its parent
			_, err := tx.Exec(ctx, `INSERT INTO note (id) VALUES ($1)`, id)
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO parent VALUES ($1)`, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO note VALUES ($1, 'C:\temp ' || $2, $3, $4, 0.1::float8 + 0.2, $5, $6)`, id, "Müller",
			time.Hour, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), []byte("a\\\x00"), []*string{nil}); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT v || ' ' || length(v) || ' ' || at || ' ' || d || ' ' || f || ' ' || b || ' ' || (a[1] IS NULL) FROM note`).Scan(&v)
	}
	w := rig.Own(t, rig.Service{Handle: handle}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "a: put 2 2", "call 1", "put 3 3"))
	rig.Apply(t, w, rig.Records(4, "put 4 4", "call 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4")
	rig.Want(t, "texts", v, `C:\temp Müller 14 01:00:00 2026-03-04 0.30000000000000004 \x615c00 true`)
	rig.Want(t, "dead letters", rig.Letters(t, db), "5 handler")
}

// A role that may not set a setting is told which default to take back, once and not for ever.
func TestSettingThatTheRoleMayNotMakeIsAnError(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	name := db.Config().ConnConfig.Database
	role := name + "_role"
	idemtest.Exec(t, db, fmt.Sprintf(`CREATE ROLE %s`, role))
	t.Cleanup(func() {
		if _, err := db.Exec(context.Background(), `DROP ROLE `+role); err != nil {
			t.Error(err)
		}
	})
	cfg := db.Config()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { // as a login of the role would
		_, err := conn.Exec(ctx, `SET session_replication_role = replica; SET ROLE `+role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	err = rig.Service{}.Consumer(t, pool).Run(t.Context(), rig.NewSource(nil))
	for _, says := range []string{"session_replication_role", "reset that default"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error lacks %q: %v", says, err)
		}
	}
}

// A database that is read-only by default is waited for, with its reason, and not overruled.
func TestReadOnlyDefaultIsWaitedFor(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	name := pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize()
	idemtest.Exec(t, db, `ALTER DATABASE `+name+` SET default_transaction_read_only = on`)
	_, err := rig.Service{}.Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0)
	if err == nil || !strings.Contains(err.Error(), "default_transaction_read_only is on") {
		t.Errorf("got %v", err)
	}
	idemtest.Exec(t, db, `ALTER DATABASE `+name+` RESET default_transaction_read_only`)
	rig.Apply(t, rig.Own(t, rig.Service{}.Consumer(t, db)), rig.Records(0, "put 1 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}
