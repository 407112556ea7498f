package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The model's trace "retention does not wait for statements that began earlier": an append
// that has seen its predecessor, and stands still before its row enters the unique index,
// must not find its place free because the chain went on and was trimmed meanwhile.
func TestTrimWaitsForAppendsThatBeganEarlier(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s := rig.Service{Edit: func(s *wire.Service) {
		s.Limits.LockTimeout, s.Limits.StatementTimeout, s.Limits.BatchTimeout = time.Minute, time.Minute, time.Minute
	}}
	late, c := rig.Own(t, s.Consumer(t, db)), s.Consumer(t, db)
	idemtest.Exec(t, db, `CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.next - NEW.prev = 3 THEN PERFORM pg_advisory_xact_lock_shared(42); END IF; RETURN NEW; END $$;
CREATE TRIGGER stand_still BEFORE INSERT ON idem_ledger FOR EACH ROW EXECUTE FUNCTION stand_still()`)
	hold, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Rollback(context.Background())
	if _, err := hold.Exec(t.Context(), `SELECT pg_advisory_xact_lock(42)`); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := late.Apply(context.Background(), rig.Records(0, "put 1 1", "put 2 2", "put 3 3"))
		refused <- err
	}()
	for deadline := time.Now().Add(time.Minute); rig.Query(t, db, `SELECT count(*)::text FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`) == "0"; {
		if time.Now().After(deadline) {
			t.Fatal("the late append does not stand still")
		}
		time.Sleep(10 * time.Millisecond)
	}
	now := rig.Own(t, c)
	for o := range int64(110) { // more rows than stay behind a tail
		rig.Apply(t, now, rig.Records(o, fmt.Sprintf("put 9 %d", o)))
	}
	if err := c.Upkeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, fenced := errors.AsType[*idem.FencedError](<-refused); !fenced {
		t.Error("the late append was not refused")
	}
	rig.Want(t, "rows", rig.Table(t, db), "9=109")
	rig.Want(t, "rows of three", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE next - prev = 3`), "0")
}
