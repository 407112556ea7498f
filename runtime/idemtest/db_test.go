package idemtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

func count(t *testing.T, db *pgxpool.Pool, sql string) int {
	t.Helper()
	var n int
	if err := db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDatabasesAreIsolated(t *testing.T) {
	a, b := DB(t), DB(t)
	Exec(t, a, "create table only_in_a (id int); insert into only_in_a values (1)")
	if n := count(t, a, "select count(*) from only_in_a"); n != 1 {
		t.Errorf("a has %d rows, want 1", n)
	}
	if n := count(t, b, "select count(*) from pg_tables where schemaname = 'public'"); n != 0 {
		t.Errorf("b has %d tables, want none", n)
	}
}

func TestDatabaseGoesWithItsTest(t *testing.T) {
	var name string
	t.Run("inner", func(t *testing.T) {
		db := DB(t)
		name = db.Config().ConnConfig.Database
		Exec(t, db, "select 1")
		// A connection of the test's own must not keep the database.
		if _, err := pgx.Connect(t.Context(), db.Config().ConnString()); err != nil {
			t.Fatal(err)
		}
	})
	db, left := DB(t), "select count(*) from pg_database where datname = '"+name+"'"
	for end := time.Now().Add(time.Minute); count(t, db, left) != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("database %s is still there", name)
		}
	}
}

// A copy has what its folders say, in their order, and nothing that another copy did.
func TestMigratedDatabasesAreIsolated(t *testing.T) {
	dir := t.TempDir()
	for name, sql := range map[string]string{"a/1.sql": "create table a (id int)", "b/1.sql": "insert into a values (1)"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(sql), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	Exec(t, Migrated(t, a, b), "insert into a values (2)")
	if n := count(t, Migrated(t, a, b), "select count(*) from a"); n != 1 {
		t.Errorf("%d rows, want that of the migrations", n)
	}
	if n := count(t, Migrated(t, a), "select count(*) from a"); n != 0 {
		t.Errorf("%d rows, want none: these are other migrations", n)
	}
}

func TestMigrate(t *testing.T) {
	write := func(t *testing.T, files map[string]string) string {
		dir := t.TempDir()
		for name, sql := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(sql), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	migrate := func(t *testing.T, db *pgxpool.Pool, dir string) error {
		files, err := migrations(dir)
		if err != nil {
			return err
		}
		return apply(t.Context(), db, files)
	}

	t.Run("by name, statements and other files", func(t *testing.T) {
		db := DB(t)
		Migrate(t, db, write(t, map[string]string{
			"0010_last.sql":  "insert into b values (7);",
			"0002_b.sql":     "create table b (a int references a (id));",
			"0001_a.sql":     "create table a (id int primary key); insert into a values (7);",
			"README.md":      "not SQL",
			"0003_fn.sql":    "create function f() returns int language sql as $$ select 1; $$;",
			"0004_empty.sql": "",
		}))
		if n := count(t, db, "select count(*) from b"); n != 1 {
			t.Errorf("b has %d rows, want 1", n)
		}
	})
	t.Run("an error names file and line and undoes the file", func(t *testing.T) {
		db := DB(t)
		err := migrate(t, db, write(t, map[string]string{
			"1.sql": "create table kept ();",
			"2.sql": "create table undone ();\n-- Grüße\ncreate tabel x ();\n",
		}))
		if _, ok := errors.AsType[*pgconn.PgError](err); !ok || !strings.Contains(err.Error(), "2.sql:3: ") {
			t.Errorf("got %v", err)
		}
		if n := count(t, db, "select count(*) from pg_tables where schemaname = 'public'"); n != 1 {
			t.Errorf("%d tables, want kept alone", n)
		}
	})
	t.Run("a folder without files", func(t *testing.T) {
		if err := migrate(t, nil, write(t, nil)); err == nil || !strings.Contains(err.Error(), "holds no .sql file") {
			t.Errorf("got %v", err)
		}
	})
}

func TestStartPostgresOnAServerThatRuns(t *testing.T) {
	server, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(postgres.EnvURL, server.admin.Config().ConnString())
	p, err := StartPostgres(t.Context(), PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), p.URL())
	if err != nil {
		t.Fatal(err)
	}
	name := conn.Config().Database
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n := count(t, DB(t), "select count(*) from pg_database where datname = '"+name+"'"); n != 0 || name == "postgres" {
		t.Errorf("database %s is still there", name)
	}
}

func TestMajorWanted(t *testing.T) {
	for _, test := range []struct {
		asked int
		env   string
		want  int
		ok    bool
	}{
		{0, "", 0, true},
		{0, "17", 17, true},
		{15, "17", 15, true},
		{0, "latest", 0, false},
		{0, "9", 0, false},
	} {
		t.Setenv(postgres.EnvMajor, test.env)
		got, err := majorWanted(test.asked)
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%d and %q: got %d, %v", test.asked, test.env, got, err)
		}
	}
}

func TestAddressOfAServerThatRuns(t *testing.T) {
	got, err := withDatabase("postgres://u:p@h:5433/postgres?sslmode=disable", "x")
	if err != nil || got != "postgres://u:p@h:5433/x?sslmode=disable" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := withDatabase("host=h password=secret", "x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
