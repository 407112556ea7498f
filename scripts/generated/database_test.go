package generated_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// newDatabase returns a database with the runtime's tables. A service's tables are in the schema
// that emptied makes.
func newDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../templates/sql")
	name := pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize()
	idemtest.Exec(t, db, "ALTER DATABASE "+name+" SET search_path = service, public")
	return db
}

// emptied makes a database as good as new: without rows of the runtime and tables of a service.
// That takes less than to make one for each case.
func emptied(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	db.Reset() // no connection remembers statements on tables that are gone
	idemtest.Exec(t, db, `DROP SCHEMA IF EXISTS service CASCADE; CREATE SCHEMA service;
DO $$ DECLARE own regclass; BEGIN
	FOR own IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'idem_schema' LOOP
		EXECUTE format('DELETE FROM %s', own);
	END LOOP;
END $$`)
}

// createTables makes the tables of a service in a database that is empty.
func createTables(t *testing.T, db *pgxpool.Pool, s *model.Service) {
	t.Helper()
	tables, err := sqlcode.CreateTables(s.Tables)
	if err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, tables)
}

// withoutRows connects to a database whose tables of the service it empties. For a few rows that
// takes less than TRUNCATE.
func withoutRows(t *testing.T, db *pgxpool.Pool, s *model.Service) *pgxpool.Conn {
	t.Helper()
	sql := []string{"BEGIN; SET LOCAL session_replication_role = replica"} // no foreign key has a say
	for _, table := range s.Tables {
		sql = append(sql, "DELETE FROM "+table.Name)
	}
	sql = append(sql, "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'service'::regnamespace", "COMMIT")
	idemtest.Exec(t, db, strings.Join(sql, ";"))
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
