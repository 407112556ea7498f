package rig

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Clocks are those of a database and of a process, both set by the test.
type Clocks struct {
	db    *pgxpool.Pool
	ahead atomic.Int64 // of the real time, in both
	Skew  atomic.Int64 // of the process, beyond that
}

// FakeClocks must be called before the database is used by a consumer: connections opened
// later see another clock_timestamp().
func FakeClocks(t *testing.T, db *pgxpool.Pool) *Clocks {
	t.Helper()
	idemtest.Exec(t, db, `
REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- of Postgres 14, where no schema before pg_catalog is trusted otherwise
CREATE SCHEMA fake;
CREATE TABLE fake.clock (ahead interval);
INSERT INTO fake.clock VALUES ('0');
CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() + (SELECT ahead FROM fake.clock)';
ALTER TABLE idem_ledger ALTER written_at SET DEFAULT fake.clock_timestamp();
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = fake, public, pg_catalog', current_database()); END $$`)
	return &Clocks{db: db}
}

// Pass lets time pass for both.
func (c *Clocks) Pass(t *testing.T, d time.Duration) {
	t.Helper()
	idemtest.Exec(t, c.db, `UPDATE fake.clock SET ahead = $1`, time.Duration(c.ahead.Add(int64(d))))
}

// Now is the process's clock.
func (c *Clocks) Now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load() + c.Skew.Load()))
}

// WaitFor waits until a condition holds.
func WaitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Soon); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", what)
		}
	}
}

// Database sets the database's clock alone.
func (c *Clocks) Database(t *testing.T, ahead time.Duration) {
	t.Helper()
	idemtest.Exec(t, c.db, `UPDATE fake.clock SET ahead = $1`, ahead)
}
