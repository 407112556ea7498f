package idem_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A lock that is held for long is no fault of the event (docs/guarantees.md: an outage never
// becomes a dead letter), with lock_timeout and event_timeout equal, as they are by default.
func TestHeldLockIsNoDeadLetterOfAHandler(t *testing.T) {
	lengthy(t)
	db := database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `UPDATE t SET v = 100 WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	c := service{handle: addOne, edit: func(s *wire.Service) {
		s.Limits.LockTimeout, s.Limits.EventTimeout = 2*time.Second, 2*time.Second
	}}.consumer(t, db)
	w := own(t, c)
	for range 2 {
		if _, err := w.Apply(t.Context(), records(0, "call 1")); err == nil {
			break
		}
	}
	want(t, "dead letters while a lock is held", letters(t, db), "")
}

// The same with lock_timeout and statement_timeout equal, which the spec allows: the server
// must give the lock up first, since a statement that takes too long counts for its record.
func TestHeldLockIsNoDeadLetterOfAStatement(t *testing.T) {
	for _, record := range []string{"put 1 1", "call 1"} {
		t.Run(record, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
			w := own(t, service{policy: impatient, handle: addOne, edit: func(s *wire.Service) {
				s.Limits.LockTimeout, s.Limits.StatementTimeout = 600*time.Millisecond, 600*time.Millisecond
			}}.consumer(t, db))
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.Background()) }()
			if _, err := tx.Exec(t.Context(), `LOCK TABLE t IN SHARE MODE`); err != nil {
				t.Fatal(err)
			}
			for range impatient.Retries + 3 {
				if _, err := w.Apply(t.Context(), records(0, record)); err == nil || !strings.Contains(err.Error(), "55P03") {
					t.Errorf("while the lock is held: %v", err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			apply(t, w, records(0, record))
			want(t, "rows", table(t, db), "1=1")
			want(t, "dead letters", letters(t, db), "")
		})
	}
}

// While a start waits for a table that somebody has locked, Health names the table.
func TestTableThatIsLockedAtTheStartIsNamed(t *testing.T) {
	t.Parallel()
	db := database(t)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `LOCK TABLE t IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	c := service{edit: func(s *wire.Service) { s.Limits.LockTimeout = 100 * time.Millisecond }}.consumer(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, make(hand)) }()
	within(t, "Health names the table", func() bool {
		err := c.Health().Err()
		return err != nil && strings.Contains(err.Error(), "table t is locked by another session") && strings.Contains(err.Error(), "55P03") &&
			!strings.Contains(err.Error(), "no connection") && strings.Contains(c.Health()[0].Do, "end the session that holds the lock")
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What a handler says of an error of the database stays, with the condition in words, and without
// the server's own message, which may quote values.
func TestHandlersErrorKeepsWhatItSaid(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 2147483647::bigint + 1)`, row)
		return fmt.Errorf("book row %d: %w", row, err)
	}}.consumer(t, db))
	apply(t, w, records(0, "call 7"))
	want(t, "reason", query(t, db, `SELECT reason FROM idem_dead_letter`), "handler: Test: book row 7: a number is out of range: SQLSTATE 22003")
}
