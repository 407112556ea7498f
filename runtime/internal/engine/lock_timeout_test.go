package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A lock that is held for long is no fault of the event (docs/guarantees.md: an outage never
// becomes a dead letter), with lock_timeout and event_timeout equal, as they are by default.
func TestHeldLockIsNoDeadLetterOfAHandler(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `UPDATE t SET v = 100 WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	c := rig.Service{Handle: rig.AddOne, Edit: func(s *wire.Service) {
		s.Limits.LockTimeout, s.Limits.EventTimeout = 8*time.Second, 8*time.Second // a busy machine takes part of the half
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	for range 2 {
		if _, err := w.Apply(t.Context(), rig.Records(0, "call 1")); err == nil {
			break
		}
	}
	rig.Want(t, "dead letters while a lock is held", rig.Letters(t, db), "")
}

// The same with lock_timeout and statement_timeout equal, which the spec allows: the server
// must give the lock up first, since a statement that takes too long counts for its record.
func TestHeldLockIsNoDeadLetterOfAStatement(t *testing.T) {
	for _, record := range []string{"put 1 1", "call 1"} {
		t.Run(record, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
			w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: rig.AddOne, Edit: func(s *wire.Service) {
				s.Limits.LockTimeout, s.Limits.StatementTimeout = 600*time.Millisecond, 600*time.Millisecond
			}}.Consumer(t, db))
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.Background()) }()
			if _, err := tx.Exec(t.Context(), `LOCK TABLE t IN SHARE MODE`); err != nil {
				t.Fatal(err)
			}
			for range rig.Impatient.Retries + 3 {
				if _, err := w.Apply(t.Context(), rig.Records(0, record)); err == nil || !strings.Contains(err.Error(), "55P03") {
					t.Errorf("while the lock is held: %v", err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			rig.Apply(t, w, rig.Records(0, record))
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}

// While a start waits for a table that somebody has locked, Health names the table.
func TestTableThatIsLockedAtTheStartIsNamed(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `LOCK TABLE t IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	c := rig.Service{Edit: func(s *wire.Service) { s.Limits.LockTimeout = 100 * time.Millisecond }}.Consumer(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, make(rig.Hand)) }()
	rig.Within(t, "Health names the table", func() bool {
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
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 2147483647::bigint + 1)`, row)
		return fmt.Errorf("book row %d: %w", row, err)
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 7"))
	rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter`), "handler: Test: book row 7: a number is out of range: SQLSTATE 22003")
}
