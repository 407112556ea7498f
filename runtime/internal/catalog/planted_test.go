package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// plant makes functions and operators that fit built-in types better than the server's own: each
// name with every pair of types that the server lacks. Each notes that it was called.
const plant = `
CREATE TABLE called (what text, as_role text);
GRANT ALL ON called TO PUBLIC;
DO $$
DECLARE
    types text[] := ARRAY['int4', 'int8', 'text', 'name', 'oid', 'uuid', 'interval', 'timestamptz', 'regclass', 'regprocedure', '"char"', 'bool'];
    f text; a text; b text; body text;
BEGIN
    FOREACH f IN ARRAY ARRAY['hashtextextended', 'pg_advisory_xact_lock', 'format', 'min', 'max', 'substr', 'substring', 'to_regclass', 'coalesce',
        'clock_timestamp', 'gen_random_uuid', 'current_setting', 'set_config', 'concat'] LOOP
        FOREACH a IN ARRAY types LOOP
            body := pg_catalog.format('BEGIN INSERT INTO public.called VALUES (%L, current_user); RETURN NULL; END', f || ' ' || a);
            EXECUTE pg_catalog.format('CREATE FUNCTION %I(%s) RETURNS text LANGUAGE plpgsql AS %L', f, a, body);
            FOREACH b IN ARRAY types LOOP
                EXECUTE pg_catalog.format('CREATE FUNCTION %I(%s, %s) RETURNS text LANGUAGE plpgsql AS %L', f, a, b, body);
            END LOOP;
        END LOOP;
    END LOOP;
    FOREACH a IN ARRAY types LOOP
        FOREACH b IN ARRAY types LOOP
            EXECUTE pg_catalog.format('CREATE FUNCTION planted(%s, %s) RETURNS bool LANGUAGE plpgsql AS %L', a, b,
                pg_catalog.format('BEGIN INSERT INTO public.called VALUES (%L, current_user); RETURN NULL; END', 'operator ' || a || ' ' || b));
            FOREACH f IN ARRAY ARRAY['=', '<>', '<', '>', '<=', '>=', '||', '~', '+', '-'] LOOP
                EXECUTE pg_catalog.format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = planted)', f, a, b);
            END LOOP;
        END LOOP;
    END LOOP;
END $$`

// Nobody who may create objects in the schema of the runtime has them called with the rights of
// the role that owns the functions of the keys, or that applies the migrations.
func TestPlantedObjectsAreNotCalled(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, plant)
	for _, sql := range []string{
		`SELECT idem_keys_open('c', '0')`,
		`SELECT idem_keys_seal('c', (SELECT max(gen) FROM idem_key_gen), idem_keys_prepare(), '0')`,
		`SELECT idem_keys_forget('c', 1)`,
		`SELECT idem_keys_open('d', '1 hour')`,
	} {
		sql = strings.ReplaceAll(sql, "max(", "pg_catalog.max(")
		if _, err := db.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	files := allMigrations(t)
	for _, name := range []string{"core", "keys", "effects", "debezium", "debezium", "relay", "dead letters", "dead letters"} { // some for a second time
		if err := applyAs(t, db, files[name]); err != nil {
			t.Errorf("migration %s: %v", name, err)
		}
	}
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('c', 't', '00000000-0000-0000-0000-000000000000', 0);
		INSERT INTO idem_dead_letter_topic (consumer, topic) VALUES ('c', 'dead');
		INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason) SELECT stream, 7, 1, 'w', 'Order', 'decode: Order: no' FROM idem_stream;
		UPDATE idem_dead_letter SET state = 'd'; UPDATE idem_dead_letter SET record = '\x01'`)
	rig.Want(t, "events", rig.Query(t, db, `SELECT pg_catalog.count(*)::text FROM idem_outbox`), "1")
	rig.Want(t, "planted objects that were called", rig.Query(t, db, `SELECT coalesce(pg_catalog.string_agg(what, ', '), '') FROM called`), "")
}

// A service does not start where its own statements would call what somebody planted, whichever
// function or operator of them it is, and says which.
func TestPlantedObjectsAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	refused := func(what, path string) {
		t.Helper()
		cfg := db.Config()
		if path != "" {
			cfg.ConnConfig.RuntimeParams["search_path"] = path
		}
		conn, err := pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		found, err := pgtable.Planted(t.Context(), conn)
		if err != nil || (found == nil) != (what == "") || found != nil && !strings.Contains(found.Text, what) {
			t.Errorf("planted %q: got %v, %v", what, found, err)
		}
	}
	refused("", "")
	refused("", `"$user", public, pg_temp`)
	idemtest.Exec(t, db, `CREATE SCHEMA own; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	refused("", "own, pg_catalog, public")
	idemtest.Exec(t, db, `GRANT CREATE ON SCHEMA public TO PUBLIC`)
	refused("everything in schema public", "own, public, pg_catalog")
	for _, name := range pgtable.Functions {
		idemtest.Exec(t, db, fmt.Sprintf(`CREATE FUNCTION %s(macaddr, lseg) RETURNS int LANGUAGE sql AS 'SELECT 1'`, name))
		refused("function "+name, "")
		idemtest.Exec(t, db, fmt.Sprintf(`DROP FUNCTION %s(macaddr, lseg)`, name))
	}
	idemtest.Exec(t, db, `CREATE FUNCTION planted(macaddr, lseg) RETURNS bool LANGUAGE sql AS 'SELECT true'`)
	for _, name := range slices.Backward(pgtable.Operators) {
		idemtest.Exec(t, db, fmt.Sprintf(`CREATE OPERATOR %s (LEFTARG = macaddr, RIGHTARG = lseg, FUNCTION = planted)`, name))
		refused("operator "+name, "")
		if name != "=" { // which stays for the service
			idemtest.Exec(t, db, fmt.Sprintf(`DROP OPERATOR %s (macaddr, lseg)`, name))
		}
	}
	_, err := rig.Service{}.Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0)
	if err == nil || !strings.Contains(err.Error(), "operator =(macaddr,lseg) is found by search_path") {
		t.Errorf("the service started: %v", err)
	}
	idemtest.Exec(t, db, `DROP OPERATOR = (macaddr, lseg)`)
	rig.Own(t, rig.Service{}.Consumer(t, db))
}
