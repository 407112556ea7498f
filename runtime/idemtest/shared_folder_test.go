package idemtest

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder of migrations may make the tables that the spec calls external, because the team keeps
// all of its migrations there; and it may need them to be there before.
func TestMigrationsMayMakeTablesOfOthers(t *testing.T) {
	t.Parallel()
	external := filepath.Join(t.TempDir(), "idem_external.sql")
	write(t, external, `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pay') THEN CREATE SCHEMA pay; END IF; END $$;
		CREATE TABLE IF NOT EXISTS pay.accounts (id int PRIMARY KEY);`)
	for name, own := range map[string]string{
		"makes them": `CREATE SCHEMA pay; CREATE TABLE pay.accounts (id int PRIMARY KEY, more text); CREATE TABLE own (id int REFERENCES pay.accounts)`,
		"needs them": `CREATE TABLE own (id int REFERENCES pay.accounts)`,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "0001_own.sql"), own)
		c := &runner{Service: Service{Migrations: dir, External: external}}
		first, second, err := c.before()
		if err != nil {
			t.Fatal(err)
		}
		db := prepared(t, first, second)
		var n int
		if err := db.QueryRow(t.Context(), `SELECT count(*) FROM own JOIN pay.accounts USING (id)`).Scan(&n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
