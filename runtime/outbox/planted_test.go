package outbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const planted = `
CREATE TABLE called (what text);
CREATE FUNCTION note(text) RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES ($1)';
CREATE FUNCTION cat(text, integer) RETURNS text LANGUAGE sql AS 'SELECT note(''operator ||''); SELECT $1';
CREATE OPERATOR || (LEFTARG = text, RIGHTARG = integer, FUNCTION = cat);
CREATE FUNCTION concat_ws(text, text, text, text, text) RETURNS text LANGUAGE sql AS 'SELECT note(''concat_ws''); SELECT $1';
CREATE FUNCTION unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT note(''unnest''); SELECT $1[1]'`

// A relay that runs calls nothing that somebody planted after its start.
func TestRelayCallsNothingPlanted(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	relay(t, db, to, nil)
	write(t, db, "1", "a")
	until(t, "it is sent", func() bool { return left(t, db) == "0" })
	idemtest.Exec(t, db, planted)
	write(t, db, "1", "b")
	until(t, "the next one is sent", func() bool { return left(t, db) == "0" })
	if got := query(t, db, `SELECT coalesce(string_agg(DISTINCT what, ', '), '') FROM called`); got != "" {
		t.Errorf("called: %s", got)
	}
}

// A relay leads on no connection that is opened when something is planted, and Health says so.
func TestRelayLooksForPlantedObjects(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, planted)
	write(t, db, "1", "a")
	r, _ := relay(t, db, to, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 10*time.Second) })
	until(t, "Health says so", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "is found by search_path")
	})
	if got := query(t, db, `SELECT coalesce(string_agg(DISTINCT what, ', '), '') FROM called`); got != "" || left(t, db) != "1" {
		t.Errorf("called: %s; left: %s", got, left(t, db))
	}
	idemtest.Exec(t, db, `DROP FUNCTION cat, concat_ws(text, text, text, text, text), unnest(text[]) CASCADE`)
	until(t, "it is sent", func() bool { return left(t, db) == "0" && r.Health() == nil })
}

// stranger makes a role that may create objects in the schema of the outbox, and connects as it.
func stranger(t *testing.T, db *pgxpool.Pool, name string) (role string, conn *pgxpool.Pool) {
	t.Helper()
	cfg := db.Config()
	role = cfg.ConnConfig.Database + "_" + name
	idemtest.Exec(t, db, `CREATE ROLE `+role+` LOGIN; GRANT CREATE ON SCHEMA public TO `+role)
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+` CASCADE; DROP ROLE `+role) })
	cfg.ConnConfig.User = role
	if password := cfg.ConnConfig.Password; password != "" {
		idemtest.Exec(t, db, `ALTER ROLE `+role+` PASSWORD '`+password+`'`)
	}
	conn, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return role, conn
}

// What another role made under a name of the outbox before its migration is not taken for it: the
// migration fails, whichever role applies it.
func TestMigrationsOfTheOutboxRefuseObjectsOfOthers(t *testing.T) {
	t.Parallel()
	const returns = `() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`
	db := letterTables(t)
	idemtest.Exec(t, db, `DROP TABLE idem_outbox; DROP FUNCTION idem_outbox_wake, idem_dead_letter_changed, idem_dead_letter_send CASCADE; DROP TABLE idem_dead_letter_topic;
GRANT CREATE ON DATABASE `+db.Config().ConnConfig.Database+` TO PUBLIC`)
	role, planter := stranger(t, db, "planter")
	_, owner := stranger(t, db, "owner")
	for _, c := range []struct{ name, make, drop string }{
		{"idem_outbox", `CREATE TABLE idem_outbox (seq bigint PRIMARY KEY); GRANT ALL ON idem_outbox TO PUBLIC`, `TABLE idem_outbox`},
		{"idem_outbox_wake()", `CREATE FUNCTION idem_outbox_wake` + returns, `FUNCTION idem_outbox_wake`},
		{"idem_outbox_empty()", `CREATE FUNCTION idem_outbox_empty` + returns, `FUNCTION idem_outbox_empty`},
		{"idem_dead_letter_changed()", `CREATE FUNCTION idem_dead_letter_changed` + returns, `FUNCTION idem_dead_letter_changed`},
		{"idem_dead_letter_topic", `CREATE TABLE idem_dead_letter_topic ()`, `TABLE idem_dead_letter_topic`},
		{"idem_outbox_letter", `CREATE TABLE idem_outbox_letter ()`, `TABLE idem_outbox_letter`},
		{"publication idem_outbox", `CREATE PUBLICATION idem_outbox`, `PUBLICATION idem_outbox`},
	} {
		idemtest.Exec(t, planter, c.make)
		for _, by := range []*pgxpool.Pool{owner, db} { // db's role is a superuser
			for _, sql := range []string{outbox.Migration(outbox.ByRelay), outbox.Migration(outbox.ByDebezium), outbox.DeadLetterMigration()} {
				_, err := by.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
				if err == nil || !strings.Contains(err.Error(), c.name+" belongs to role "+role) {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		}
		idemtest.Exec(t, planter, `DROP `+c.drop)
	}
	idemtest.Exec(t, db, outbox.Migration(outbox.ByDebezium)+outbox.Migration(outbox.ByRelay)+outbox.DeadLetterMigration())
}

// A relay does not lead where another role owns the table or a function of its triggers, which
// that role could replace at any time.
func TestRelayRefusesObjectsOfOthers(t *testing.T) {
	t.Parallel()
	for _, object := range []string{"TABLE idem_outbox", "FUNCTION idem_outbox_wake()"} {
		t.Run(object, func(t *testing.T) {
			t.Parallel()
			db, to := table(t, outbox.ByRelay), &log{}
			role, _ := stranger(t, db, "planter")
			idemtest.Exec(t, db, `ALTER `+object+` OWNER TO `+role)
			write(t, db, "1", "a")
			r, _ := relay(t, db, to, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 10*time.Second) })
			until(t, "Health says so", func() bool {
				err := r.Health()
				return err != nil && strings.Contains(err.Error(), "belongs to role "+role)
			})
			if left(t, db) != "1" {
				t.Errorf("left: %s", left(t, db))
			}
			idemtest.Exec(t, db, `ALTER `+object+` OWNER TO CURRENT_USER`)
			until(t, "it is sent", func() bool { return left(t, db) == "0" && r.Health() == nil })
		})
	}
}
