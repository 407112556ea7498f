package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// stranger makes a role that may create objects in the schema of the service, and connects as it.
// What it makes can note in the table called that it was called.
func stranger(t *testing.T, db *pgxpool.Pool, name string) (role string, conn *pgxpool.Pool) {
	t.Helper()
	cfg := db.Config()
	role = cfg.ConnConfig.Database + "_" + name
	idemtest.Exec(t, db, `CREATE TABLE IF NOT EXISTS called (what text, as_role text); GRANT ALL ON called TO PUBLIC; CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+` CASCADE; DROP ROLE `+role) })
	idemtest.Exec(t, db, `GRANT CREATE ON SCHEMA public TO `+role)
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

// called is what was called of what a stranger made.
func called(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	return rig.Query(t, db, `SELECT coalesce(pg_catalog.string_agg(DISTINCT what OPERATOR(pg_catalog.||) ' as ' OPERATOR(pg_catalog.||) as_role, ', '), '') FROM called`)
}

const plantedUnnest = `CREATE FUNCTION unnest(integer[]) RETURNS SETOF integer LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.called VALUES ('unnest', current_user); RETURN QUERY SELECT 42; END $$`

// What is planted while a service runs is not called by connections that are opened then, not even
// in the first second, and an upkeep finds it for those that are open. The service continues when
// it is dropped.
func TestPlantedObjectsStopARunningService(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, db *pgxpool.Pool, upkeep func()){
		"a new connection": func(t *testing.T, db *pgxpool.Pool, _ func()) {
			idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
		},
		"an upkeep": func(_ *testing.T, _ *pgxpool.Pool, upkeep func()) { upkeep() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			_, planter := stranger(t, db, "planter")
			c := rig.Service{}.Consumer(t, db)
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "put 1 1"))
			idemtest.Exec(t, planter, plantedUnnest)
			open(t, db, func() {
				if err := c.Upkeep(t.Context()); err == nil || !strings.Contains(err.Error(), "function unnest(integer[])") {
					t.Errorf("upkeep: %v", err)
				}
				idemtest.Exec(t, db, `ANALYZE t`) // statements are parsed again
			})
			var err error
			for range 3 {
				_, err = w.Apply(t.Context(), rig.Records(1, "put 2 2"))
			}
			if err == nil || !strings.Contains(err.Error(), "function unnest(integer[]) is found by search_path") {
				t.Errorf("apply: %v", err)
			}
			rig.Want(t, "called", called(t, db), "")
			idemtest.Exec(t, planter, `DROP FUNCTION unnest(integer[])`)
			for err != nil && t.Context().Err() == nil {
				_, err = w.Apply(t.Context(), rig.Records(1, "put 2 2"))
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
		})
	}
}

// A start finds what another role plants for the types of a service's columns, and for arrays.
// What the owners of the tables or of the types made, or an extension, is not planted.
func TestPlantedForOtherTypes(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, planter := stranger(t, db, "planter")
	owner, owns := stranger(t, db, "owner")
	idemtest.Exec(t, db, `CREATE DOMAIN acct AS integer; CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN tags AS text[]`)
	const eq = `CREATE FUNCTION eq(%, integer) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR = (LEFTARG = %, RIGHTARG = integer, FUNCTION = eq)`
	for sql, names := range map[string]string{
		strings.ReplaceAll(eq, "%", "acct"): "operator =(acct,integer)",
		strings.ReplaceAll(eq, "%", "mood"): "operator =(mood,integer)",
		`CREATE FUNCTION eq(mood, mood) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = eq)`:                                  "operator =(mood,mood)",
		`CREATE FUNCTION eq(mood[], anyarray) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR <> (LEFTARG = mood[], RIGHTARG = anyarray, FUNCTION = eq)`:                     "operator <>(mood[],anyarray)",
		`CREATE FUNCTION eq(text[], text[]) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR = (LEFTARG = text[], RIGHTARG = text[], FUNCTION = eq)`:                          "operator =(text[],text[])",
		`CREATE TYPE bait AS (a int); CREATE FUNCTION eq(text[], bait) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR = (LEFTARG = text[], RIGHTARG = bait, FUNCTION = eq)`: "operator =(text[],bait)",
		`CREATE FUNCTION unnest(mood[]) RETURNS SETOF mood LANGUAGE sql AS 'SELECT NULL::mood'`:                                                                                          "function unnest(mood[])",
		`CREATE FUNCTION max(mood) RETURNS mood LANGUAGE sql AS 'SELECT NULL::mood'`:                                                                                                     "function max(mood)",
	} {
		idemtest.Exec(t, planter, sql)
		found, err := pgtable.Planted(t.Context(), db)
		if err != nil || found == nil || !strings.Contains(found.Text, names+" is found by search_path") {
			t.Errorf("%s: found %v, %v", sql, found, err)
		}
		idemtest.Exec(t, planter, `DROP FUNCTION IF EXISTS eq(acct, integer), eq(mood, integer), eq(mood, mood), eq(mood[], anyarray), eq(text[], text[]), unnest(mood[]), max(mood) CASCADE;
DROP TYPE IF EXISTS bait CASCADE`)
	}
	idemtest.Exec(t, db, `CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION pg_trgm; CREATE EXTENSION intarray`)
	for _, o := range ownObjects(t, db) {
		idemtest.Exec(t, db, `ALTER `+o+` OWNER TO `+owner)
	}
	idemtest.Exec(t, db, strings.ReplaceAll(eq, "%", "acct")) // by a superuser
	idemtest.Exec(t, owns, strings.ReplaceAll(eq, "%", "mood"))
	idemtest.Exec(t, planter, `CREATE TYPE own AS (a int);
CREATE FUNCTION eq(own, own) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR = (LEFTARG = own, RIGHTARG = own, FUNCTION = eq)`)
	if found, err := pgtable.Planted(t.Context(), db); found != nil || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

// Whatever others make under names of tables of keys, there is a next table, and what they made is
// not touched.
func TestNamesThatOthersTookAreSteppedOver(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, planter := stranger(t, db, "planter")
	idemtest.Exec(t, planter, `CREATE TABLE idem_keys_999999999 (); CREATE TABLE idem_keys_1 (); CREATE TYPE idem_keys_2 AS ENUM ()`)
	idemtest.Exec(t, db, `SELECT idem_keys_open('a', '0'); SELECT idem_keys_open('b', '0')`)
	idemtest.Exec(t, db, `SELECT idem_keys_seal('a', (SELECT gen FROM idem_key_gen WHERE consumer = 'a'), idem_keys_prepare(), '0')`)
	rig.Want(t, "generations", rig.Query(t, db, `SELECT string_agg(gen::text, ' ' ORDER BY gen) FROM idem_key_gen`), "3 4 5")
	idemtest.Exec(t, db, `SELECT idem_keys_forget('a', (SELECT gen FROM idem_key_gen WHERE consumer = 'a' AND sealed_at IS NOT NULL))`)
	rig.Want(t, "the free table", rig.Query(t, db, `SELECT (idem_keys_prepare() IN (3, 4))::text`), "true")
}
