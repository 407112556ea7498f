package sqlcode_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Statements of two partitions that change the same rows lock them in one order, whatever the plan
// is, and so never wait for each other: one that waits for the first row has locked none yet.
func TestContendedRowsAreLockedInOrder(t *testing.T) {
	db := withRuntime(t)
	for verb, write := range map[string]string{
		"add":               "add: t1, plus: {n: n}",
		"add, maybe insert": "add: t1, plus: {n: n}, if_missing: insert",
		"update":            "update: t1, set: {n: n}, if_newer: n",
		"delete":            "delete: t1, if_newer: n",
		"upsert":            "upsert: t1, if_newer: n",
	} {
		t.Run(verb, func(t *testing.T) {
			c := stepCase{table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: write}
			s := load(t, c.spec())
			step := s.Topics[0].Events[0].Steps[0]
			step.Contended = true
			sql := statement(t, step)
			hasTables(t, db, s)
			// A plan that reads the whole table finds the rows in the order in which they are stored.
			idemtest.Exec(t, db, "INSERT INTO t1 SELECT 10 - i, 0 FROM generate_series(1, 9) AS i; ANALYZE t1")
			first, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = first.Rollback(context.Background()) }()
			if _, err := first.Exec(t.Context(), "SELECT FROM t1 WHERE id = 1 FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := db.Exec(t.Context(), sql, ints{9, 5, 1}, []int64{7, 7, 7})
				done <- err
			}()
			untilOneWaits(t, db)
			if _, err := first.Exec(t.Context(), "SELECT FROM t1 WHERE id IN (5, 9) FOR UPDATE NOWAIT"); err != nil {
				t.Errorf("while it waits for the first row it has locked others: %v\n%s", err, sql)
			}
			if err := first.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// untilOneWaits waits until a session of the database waits for another one's row.
func untilOneWaits(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for n := 0; n == 0; {
		if err := db.QueryRow(t.Context(), waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}
