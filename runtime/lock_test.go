package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A lock that is held for long is no fault of the event (docs/guarantees.md: an outage never
// becomes a dead letter), with lock_timeout and event_timeout equal, as they are by default.
func TestHeldLockIsNoDeadLetterOfAHandler(t *testing.T) {
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
