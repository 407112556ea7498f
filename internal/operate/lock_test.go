package operate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Who holds a table against a service is found while the service waits, and after it gave up. Who
// holds up others alone is not named: nobody should end that session.
func TestLocksOfAServiceAreFound(t *testing.T) {
	db := database(t)
	idemtest.Exec(t, db, `CREATE TABLE orders (id int PRIMARY KEY); CREATE SCHEMA other; CREATE TABLE other.t (id int)`)
	session := func(name string) *pgx.Conn {
		config := db.Config().ConnConfig.Copy()
		config.RuntimeParams["application_name"] = name
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	exec := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	found := func() (all string) {
		t.Helper()
		locks, err := operate.Locks(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range locks {
			for _, s := range l.Sessions {
				all += fmt.Sprintf("%s by %s; ", l.On, s.Application)
			}
		}
		return all
	}
	until := func(what, want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); found() != want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: got %q, want %q", what, found(), want)
			}
		}
	}
	migration, stranger := session("a migration"), session("a stranger")
	exec(stranger, `BEGIN; LOCK TABLE other.t`)
	exec(migration, `BEGIN; INSERT INTO orders VALUES (1)`)
	want(t, "before anybody waits", found(), "")

	ended := make(chan error, 1)
	worker := session("idemgen")
	go func() {
		_, err := worker.Exec(context.Background(), `INSERT INTO orders VALUES (1)`)
		ended <- err
	}()
	until("a row that a service waits for", "transactionid by a migration; ")
	exec(migration, `ROLLBACK`)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	exec(migration, `BEGIN; LOCK TABLE orders`)
	until("a table, although nobody waits", "table orders by a migration; ")
	exec(migration, `ROLLBACK`)

	report := session("a report")
	exec(report, `BEGIN; SELECT FROM orders`)
	go func() {
		_, err := migration.Exec(context.Background(), `ALTER TABLE orders ADD COLUMN v int`)
		ended <- err
	}()
	until("who holds up the one that waits before a service", "table orders by a report; table orders by a migration; ")
	exec(report, `ROLLBACK`)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
