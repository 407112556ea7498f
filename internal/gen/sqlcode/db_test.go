package sqlcode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// load resolves a spec that must be right.
func load(t testing.TB, spec string) *model.Service {
	t.Helper()
	read, ds := syntax.Load("idemgen.yaml", []byte(spec))
	s, more := resolve.Resolve(read)
	if s != nil {
		return s
	}
	ds.Append(more)
	var b strings.Builder
	if err := ds.Print(&b, "idemgen.yaml", []byte(spec)); err != nil {
		t.Fatal(err)
	}
	t.Fatal(b.String())
	return nil
}

// database returns a database with the runtime's tables and those of the service.
func database(t *testing.T, s *model.Service) *pgxpool.Pool {
	t.Helper()
	db := withRuntime(t)
	hasTables(t, db, s)
	return db
}

// withRuntime returns a database with the runtime's tables. They are in a schema of their own, so
// that the others can be removed at once.
func withRuntime(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	name := pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize()
	idemtest.Exec(t, db, "CREATE SCHEMA own; ALTER DATABASE "+name+" SET search_path = own")
	db.Reset()
	idemtest.Exec(t, db, strings.Join(runtimeTables(), "\n"))
	idemtest.Exec(t, db, "ALTER DATABASE "+name+" SET search_path = public, own")
	return db
}

// runtimeTables are the migrations of all parts of the runtime's tables.
func runtimeTables() (all []string) {
	for _, p := range sqlcode.RuntimeParts() {
		all = append(all, p.Migrations...)
	}
	return all
}

// hasTables leaves the tables of the service in a database withRuntime, and no others: to empty
// one takes less than to make one for each case. external are statements that make tables of
// others.
func hasTables(t *testing.T, db *pgxpool.Pool, s *model.Service, external ...string) {
	t.Helper()
	own := slices.DeleteFunc(slices.Clone(s.Tables), func(t *model.Table) bool { return t.External })
	tables, err := sqlcode.CreateTables(own)
	if err != nil {
		t.Fatal(err)
	}
	db.Reset() // no connection remembers statements on tables that are gone
	idemtest.Exec(t, db, "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"+strings.Join(append(external, tables), "\n"))
}

// rows returns the result of a query as one line per row: Postgres' own text of a row.
func rows(t *testing.T, db *pgxpool.Pool, query string) []string {
	t.Helper()
	res, err := db.Query(t.Context(), "SELECT q::text FROM ("+query+") AS q")
	if err != nil {
		t.Fatalf("%v\nin: %s", err, query)
	}
	defer res.Close()
	var lines []string
	for res.Next() {
		var line string
		if err := res.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func statement(t testing.TB, s *model.Step) string {
	t.Helper()
	sql, err := sqlcode.Step(s)
	if err != nil {
		t.Fatal(err)
	}
	return sql
}
