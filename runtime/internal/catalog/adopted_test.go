package catalog_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/templates"
)

// migrateAs applies the migrations of the runtime until one fails.
func migrateAs(t *testing.T, db *pgxpool.Pool) error {
	t.Helper()
	for _, part := range []string{"core", "keys", "effects"} {
		text, err := templates.SQL.ReadFile("sql/idem_" + part + "_1.sql")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), string(text), pgx.QueryExecModeSimpleProtocol)
		_ = conn.Conn().Close(t.Context()) // a transaction that failed is open
		conn.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// What another role made under the name of one of the runtime's tables is not taken for it: the
// migrations fail, whoever applies them, and call nothing of it.
func TestMigrationsRefuseTablesOfOthers(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	role, planter := stranger(t, db, "planter")
	first, owner := stranger(t, db, "owner")
	for name, sql := range map[string]string{
		"idem_schema": `CREATE TABLE idem_schema (part text COLLATE "C" NOT NULL, version int NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (part, version));
CREATE FUNCTION bait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.called VALUES ('trigger', current_user); RETURN NEW; END $$;
CREATE TRIGGER bait BEFORE INSERT ON idem_schema FOR EACH ROW EXECUTE FUNCTION bait()`,
		"idem_step_refused": `CREATE TABLE idem_step_refused (reason text, in_table text)`,
		"idem_operator":     `CREATE VIEW idem_operator AS SELECT 1 AS stream`,
		"idem_fence":        `CREATE SEQUENCE idem_fence`,
		"idem_key_gen_open": `CREATE TABLE idem_key_gen_open ()`,
		"idem_outbox":       `CREATE TABLE idem_outbox (seq bigint)`,
	} {
		idemtest.Exec(t, planter, sql+`; GRANT ALL ON `+name+` TO PUBLIC`)
		for _, by := range []*pgxpool.Pool{owner, db} { // db's role is a superuser
			if err := migrateAs(t, by); err == nil || !strings.Contains(err.Error(), name+" belongs to role "+role) {
				t.Errorf("%s: %v", name, err)
			}
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(sql, "CREATE "), " ")
		idemtest.Exec(t, planter, `DROP `+kind+` `+name)
	}
	rig.Want(t, "called", called(t, db), "")
	for range 2 {
		if err := migrateAs(t, owner); err != nil {
			t.Error(err)
		}
	}
	if err := migrateAs(t, db); err == nil || !strings.Contains(err.Error(), " belongs to role "+first) { // who this is, a superuser must say
		t.Errorf("a superuser applied again what another role had applied: %v", err)
	}
	if err := applyAs(t, db, `SET ROLE `+first+`; `+allMigrations(t)["core"]); err != nil {
		t.Error(err)
	}
	idemtest.Exec(t, db, `ALTER SCHEMA public OWNER TO `+first)
	if err := migrateAs(t, db); err != nil {
		t.Error(err)
	}
}

// A service does not start if a table of the runtime belongs to another role, or lacks what the
// guarantee rests on.
func TestAdoptedTablesAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	role, planter := stranger(t, db, "planter")
	refused := func(text string) {
		t.Helper()
		if _, err := (rig.Service{}).Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	for _, name := range []string{"idem_schema", "idem_stream", "idem_ledger", "idem_operator", "idem_dead_letter", "idem_assert", "idem_step_refused", "idem_fence", "idem_key_gen", "idem_keys", "idem_process"} {
		kind := "TABLE"
		if name == "idem_fence" {
			kind = "SEQUENCE"
		}
		idemtest.Exec(t, db, `ALTER `+kind+` `+name+` OWNER TO `+role)
		refused(" belongs to role " + role)
		idemtest.Exec(t, db, `ALTER `+kind+` `+name+` OWNER TO CURRENT_USER`)
	}
	idemtest.Exec(t, db, `ALTER TABLE idem_schema RENAME TO kept`)
	idemtest.Exec(t, planter, `CREATE FUNCTION bait() RETURNS text LANGUAGE sql AS $$ INSERT INTO public.called VALUES ('view', current_user); SELECT 'core'::text $$;
CREATE VIEW idem_schema AS SELECT bait() AS part, 1 AS version; GRANT ALL ON idem_schema TO PUBLIC`)
	refused("idem_schema belongs to role " + role)
	rig.Want(t, "called", called(t, db), "")
	idemtest.Exec(t, db, `DROP VIEW idem_schema; ALTER TABLE kept RENAME TO idem_schema`)
	idemtest.Exec(t, db, `SELECT idem_keys_prepare()`)
	for _, c := range []struct{ drop, undo, text string }{
		{`ALTER TABLE idem_step_refused DROP CONSTRAINT idem_step_refused`, `ALTER TABLE idem_step_refused ADD CONSTRAINT idem_step_refused CHECK (false)`, "idem_step_refused lacks its constraint idem_step_refused"},
		{`ALTER TABLE idem_ledger DISABLE TRIGGER idem_ledger_commit`, `ALTER TABLE idem_ledger ENABLE TRIGGER idem_ledger_commit`, "idem_ledger lacks its trigger idem_ledger_commit"},
		{`DROP INDEX idem_key_gen_open`, `CREATE UNIQUE INDEX idem_key_gen_open ON idem_key_gen (consumer) WHERE sealed_at IS NULL`, "idem_key_gen lacks its unique index idem_key_gen_open"},
		{`ALTER TABLE idem_stream DROP CONSTRAINT idem_stream_identity`, `ALTER TABLE idem_stream ADD CONSTRAINT idem_stream_identity UNIQUE (consumer, topic, topic_id, partition)`, "idem_stream lacks its constraint idem_stream_identity"},
		{`ALTER TABLE idem_operator DROP CONSTRAINT idem_operator_pkey`, `ALTER TABLE idem_operator ADD PRIMARY KEY (stream, seq)`, "idem_operator lacks its primary key"},
		{`ALTER TABLE idem_keys_1 DROP CONSTRAINT idem_keys_1_pkey`, `ALTER TABLE idem_keys_1 ADD PRIMARY KEY (key)`, "ALTER TABLE idem_keys_1 ADD PRIMARY KEY (key)"},
		{`ALTER TABLE idem_keys_1 DROP CONSTRAINT idem_keys_1_pkey, ADD PRIMARY KEY (key) DEFERRABLE`, `ALTER TABLE idem_keys_1 DROP CONSTRAINT idem_keys_1_pkey, ADD PRIMARY KEY (key)`, "idem_keys_1 lacks its primary key"},
		{`GRANT EXECUTE ON FUNCTION idem_keys_forget TO PUBLIC`, `REVOKE EXECUTE ON FUNCTION idem_keys_forget FROM PUBLIC`, "REVOKE EXECUTE ON FUNCTION idem_keys_forget(text,integer) FROM PUBLIC"},
	} {
		idemtest.Exec(t, db, c.drop)
		refused(c.text)
		idemtest.Exec(t, db, c.undo)
	}
	rig.Own(t, rig.Service{}.Consumer(t, db))
}
