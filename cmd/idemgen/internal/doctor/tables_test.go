package doctor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Each part of the examination of a database says what it finds: the tables of the runtime and of
// the service, the role, the ledgers, and the rights that handlers and relays may need.
func TestPartsOfADatabase(t *testing.T) {
	db := idemtest.Migrated(t, "../../../../templates/sql")
	role := "doctor_" + db.Config().ConnConfig.Database
	idemtest.Exec(t, db, `CREATE ROLE `+role+`; GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role+`;
CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE notes (id int PRIMARY KEY); GRANT SELECT, INSERT ON orders, notes TO `+role)
	t.Cleanup(func() {
		_, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role, pgx.QueryExecModeSimpleProtocol)
	})
	config := db.Config()
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SET ROLE `+role)
		return err
	}
	limited, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limited.Close)
	have, _, err := pgtable.Versions(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	columns := []pgtable.WantColumn{{Name: "id", Type: "integer"}}
	orders := pgtable.Want{SQL: "orders", Columns: columns, Rights: []string{"INSERT"}, Handled: true}
	notes := pgtable.Want{SQL: "notes", Columns: columns, Rights: []string{"INSERT"}}
	none := pgtable.Want{SQL: "none", Handled: true}
	type part = func(*examination) error
	ctx := t.Context()
	tables, role1, relay := func(e *examination) error { return e.tables(ctx) }, func(e *examination) error { return e.role(ctx) }, func(e *examination) error { _, err := e.relayRights(ctx); return err }
	unfit := func(e *examination) error { return e.unfit(ctx) }
	migrations := func(e *examination) error { return e.runtimeTables(ctx) }
	ledgers := func(e *examination) error {
		err := e.positions(ctx)
		for topic, of := range e.ledgers {
			for p, l := range of {
				e.add(OK, fmt.Sprint(topic, "/", p), "", "%d of %s", l.Position, l.topicID[35:])
			}
		}
		return err
	}
	const manualRoles = ` | read "Roles and rights" in idemgen's docs/operations.md: it has the statements for a role of the service's own`
	for _, c := range []struct {
		about  string
		before string // SQL
		db     *pgxpool.Pool
		part   part
		tables []pgtable.Want
		want   string
	}{
		{"tables", "", db, tables, []pgtable.Want{orders, notes}, "ok tables: 2 tables in the database as in the spec"},
		{"one that is not there", "", db, tables, []pgtable.Want{none, notes}, "FAIL tables: there is no table none in the database | apply the migrations, or give its place in the spec with schema: and name:"},
		{"rights of handlers", "", limited, tables, []pgtable.Want{notes, orders}, "ok tables: 2 tables in the database as in the spec\n" +
			"warn tables: role ROLE may not UPDATE, DELETE orders, and a handler might | GRANT UPDATE, DELETE ON orders TO \"ROLE\", or what handlers need of it"},
		{"a superuser", "", db, role1, nil, "warn role: USER is a superuser: give the service a role with fewer rights" + manualRoles},
		{"a role", "", limited, role1, nil, "ok role: ROLE is not a superuser, and may not create tables"},
		{"a role that creates", "GRANT CREATE ON SCHEMA public TO ROLE", limited, role1, nil, "warn role: ROLE may create tables, which a service does not need" + manualRoles},
		{"no ledger", "", db, ledgers, nil, ""},
		{"ledgers", `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('c', 't', '00000000-0000-4000-8000-000000000001', 0), ('c', 't', '00000000-0000-4000-8000-000000000002', 0),
	('c', 't', '00000000-0000-4000-8000-000000000002', 1), ('other', 't', '00000000-0000-4000-8000-000000000003', 0);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at) SELECT stream, 0, gen_random_uuid(), 7 + stream, 7 + stream, 'g', -1, 3, 1, 0, timestamptz '2026-01-01' + stream * interval '1 hour' FROM idem_stream WHERE stream <> 3`,
			db, ledgers, nil, `FAIL ledger t/1: the database knows this partition, and its ledger has no rows: they were deleted, or the database was restored to an earlier state | read "ledger-gone" in idemgen's docs/operations.md` + "\nok t/0: 9 of 2"},
		{"hidden ledgers", "REVOKE SELECT ON idem_ledger FROM ROLE", limited, ledgers, nil, ""},
		{"no outbox", "", limited, relay, nil, ""},
		{"an outbox", "CREATE TABLE idem_outbox (id int); GRANT SELECT, UPDATE ON idem_outbox TO ROLE", limited, relay, nil, "warn outbox: role ROLE may not DELETE idem_outbox, and a relay must | GRANT DELETE ON idem_outbox TO \"ROLE\", unless relays run as another role"},
		{"that of a relay", "", db, relay, nil, ""},
		{"that of Debezium", "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER idem_outbox_empty AFTER INSERT ON idem_outbox FOR EACH ROW EXECUTE FUNCTION nothing()", limited, relay, nil, ""},
		{"the runtime's", "", db, migrations, nil, "ok migrations: the tables of the runtime are there: core, keys"},
		{"rights to them", "", limited, migrations, nil, "LINES of FAIL migrations: role ROLE may not "},
		{"older ones", "UPDATE idem_schema SET version = version - 1 WHERE part = 'keys'", db, migrations, nil, fmt.Sprintf("FAIL migrations: the database lacks tables of the runtime that this service needs, or has older ones | "+
			"apply, in their order, all migrations up to those whose names end with _idem_keys_%d.sql", have["keys"])},
		{"incomplete ones", "ALTER TABLE idem_ledger DROP CONSTRAINT idem_ledger_shape", db, migrations, nil, "FAIL migrations: idem_ledger lacks its constraint idem_ledger_shape | restore what is missing: the migrations of the runtime have the statement"},
		{"a database that is fit", "", limited, unfit, nil, ""},
		{"an unlogged one", "ALTER TABLE idem_dead_letter SET UNLOGGED", limited, unfit, nil, "FAIL database: the runtime's table public.idem_dead_letter is unlogged | " +
			"ALTER TABLE public.idem_dead_letter SET LOGGED; the protocol needs it after a crash"},
		{"a view", "ALTER TABLE idem_dead_letter SET LOGGED; ALTER TABLE idem_lease RENAME TO lease; CREATE VIEW idem_lease AS SELECT 1 AS id", limited, unfit, nil, "FAIL database: idem_lease is not a table | " +
			"apply the runtime's migrations to the schema that search_path finds first"},
		{"one of Citus", "DROP VIEW idem_lease; SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY); " +
			"INSERT INTO pg_catalog.pg_dist_partition VALUES ('idem_assert'); GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC", limited, unfit, nil,
			"FAIL database: the runtime's table public.idem_assert is a table of Citus (pg_dist_partition lists it): its rows may be on other servers, which do not commit atomically with the position, " +
				"so events may be lost, or miss rows of earlier events | SELECT undistribute_table('public.idem_assert'), or use a database without Citus"},
	} {
		if c.before != "" {
			idemtest.Exec(t, db, strings.ReplaceAll(c.before, "ROLE", role))
		}
		e := &examination{Service: Service{Consumer: "c", Schema: map[string]int{"core": have["core"], "keys": have["keys"]}, Tables: c.tables}, Around: Around{Database: c.db}}
		err := c.part(e)
		got := strings.NewReplacer(role, "ROLE", db.Config().ConnConfig.User+" is", "USER is").Replace(found(e))
		if begin, is := strings.CutPrefix(c.want, "LINES of "); err == nil && is {
			if len(e.checks) == 0 || strings.Count("\n"+got, "\n"+begin) != len(e.checks) {
				t.Errorf("%s:\n%s", c.about, got)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.about, err, got, c.want)
		}
	}
}
