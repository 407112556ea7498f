package dev

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A fresh place has the tables of the service and those of others, which its migrations may refer
// to or make themselves, and a broker with its topics. It is kept as long as migrations and
// topics are only added to.
func TestFreshPlace(t *testing.T) {
	postgres, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	first, external := filepath.Join(dir, "migrations", "0001_first.sql"), filepath.Join(dir, "testdata", "idem_external.sql")
	out := &output{}
	r := &run{Service: Service{Dir: dir}, Options: Options{Out: out, Partitions: 2}, place: &place{database: postgres.URL(), postgres: postgres}}
	r.parts = Parts{Migrations: filepath.Join(dir, "migrations"), Topics: []Topic{{Names: []string{"a", "b"}}, {Names: []string{"c"}}}}
	defer func() {
		if err := r.place.close(); err != nil {
			t.Error(err)
		}
	}()
	seen := 0
	said := func(what, want string) {
		t.Helper()
		text := out.String()
		if got := strings.ReplaceAll(text[seen:], r.place.broker.Addr(), "BROKER"); got != want {
			t.Errorf("%s: it says\n%s\nwant\n%s", what, got, want)
		}
		seen = len(text)
	}
	fresh := func(what string, stays bool, want string) {
		t.Helper()
		if err := r.fresh(t.Context(), stays); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		said(what, want)
	}
	column := func(what, sql, want string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), postgres.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		var got string
		if err := conn.QueryRow(t.Context(), sql).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s is %q, %v; want %q", what, sql, got, err, want)
		}
	}
	keep := func(what string, want bool, words string) {
		t.Helper()
		if kept, err := r.keep(t.Context()); kept != want || err != nil {
			t.Errorf("%s: %v, %v", what, kept, err)
		}
		said(what, words)
	}

	const refers = "CREATE TABLE a (id int REFERENCES theirs);\n"
	write(t, first, refers)
	if kept, err := r.keep(t.Context()); kept || err != nil {
		t.Errorf("nothing is there yet, and kept: %v, %v", kept, err)
	}
	write(t, external, "CREATE TABLE theirs (id int PRIMARY KEY)")
	fresh("migrations refer to tables of others", true, "dev: Kafka     kcat -b BROKER -L\n")
	if want := map[string]int32{"a": 2, "b": 2, "c": 2}; !maps.Equal(r.place.topics, want) {
		t.Errorf("topics %v, want %v", r.place.topics, want)
	}
	if want := map[string]string{"0001_first.sql": refers}; !maps.Equal(r.place.applied, want) {
		t.Errorf("applied %v, want %v", r.place.applied, want)
	}
	keep("nothing has changed", true, "")
	write(t, filepath.Join(dir, "migrations", "0002_second.sql"), "ALTER TABLE a ADD COLUMN b int;\n")
	write(t, filepath.Join(dir, "migrations", "0003_third.sql"), "ALTER TABLE a ADD COLUMN c int DEFAULT 7;\nINSERT INTO a DEFAULT VALUES;\n")
	keep("new migrations", true, "dev: 0002_second.sql was applied\ndev: 0003_third.sql was applied\n")
	column("new migrations", "SELECT string_agg(c::text, '') FROM a", "7")
	keep("again", true, "")
	r.Partitions = 3
	keep("other partitions", false, "dev: the topics changed: starting with an empty database\n")
	r.Partitions = 2

	was := r.place.broker
	write(t, first, "CREATE TABLE theirs (id int PRIMARY KEY, more int DEFAULT 8); CREATE TABLE a (id int);\n")
	keep("another migration", false, "dev: 0001_first.sql changed after it was applied: starting with an empty database\n")
	write(t, external, "CREATE TABLE IF NOT EXISTS theirs (id int PRIMARY KEY); INSERT INTO theirs VALUES (1)")
	fresh("migrations make tables of others", false, "")
	column("migrations make tables of others", "SELECT concat(id, more) FROM theirs", "18")
	if r.place.broker == was {
		t.Error("the broker is the one before")
	}

	write(t, external, "CREATE nonsense")
	if err := r.fresh(t.Context(), true); err == nil || !strings.HasPrefix(err.Error(), external+": ERROR: syntax error") {
		t.Errorf("a mistake in the tables of others: %v", err)
	}
	if err := os.Remove(external); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(external, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.fresh(t.Context(), true); err == nil {
		t.Error("the tables of others cannot be read, and nothing says so")
	}
	said("mistakes", "")
	theirs := &run{place: &place{}}
	if err := theirs.fresh(t.Context(), true); err != nil || theirs.place.broker != nil {
		t.Errorf("a place of somebody else's is made: %v", err)
	}
	if kept, err := theirs.keep(t.Context()); kept || err != nil {
		t.Errorf("a place of somebody else's is kept: %v, %v", kept, err)
	}
}
