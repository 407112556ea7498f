package textbook

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

var errBusy = errors.New("somebody else is at work on it")

// states is where the recipe keeps how far each event is.
const states = `CREATE TABLE states (id text PRIMARY KEY, status text NOT NULL)`

// inStates goes from processing to completed, or to failed, each in a transaction of its own. Who
// finds another state than completed backs off, unless it takes old ones over.
func inStates(ctx context.Context, db *pgxpool.Pool, m idem.Message, takeOver bool, before, behind gap) error {
	var status string
	err := db.QueryRow(ctx, `INSERT INTO states VALUES ($1, 'processing') ON CONFLICT (id)
		DO UPDATE SET status = states.status RETURNING CASE WHEN xmax = 0 THEN 'mine' ELSE status END`, key(m)).Scan(&status)
	switch {
	case err != nil || status == "completed":
		return err
	case status != "mine" && !takeOver:
		return errBusy
	}
	if err := before.pass(); err != nil {
		return err
	}
	status = "completed"
	failed := book(ctx, db, m)
	if failed != nil {
		status = "failed"
	}
	if err := behind.pass(); err != nil {
		return err
	}
	_, err = db.Exec(ctx, `UPDATE states SET status = $2 WHERE id = $1`, key(m), status)
	return errors.Join(failed, err)
}

// A state that is committed before the work says what nobody knows after a crash. Who trusts it
// waits for ever, and who does not does the work twice.
func TestStateCommittedBeforeTheWork(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 100)
	db := processed(t)
	idemtest.Exec(t, db, states)
	crashed(t, inStates(t.Context(), db, m, false, crash, nil))
	for range 3 {
		if err := inStates(t.Context(), db, m, false, nil, nil); !errors.Is(err, errBusy) {
			t.Errorf("processing: %v, want %v", err, errBusy)
		}
	}
	balance(t, db, "processing, then a crash", 0)
	idemtest.Exec(t, db, `TRUNCATE states`)
	crashed(t, inStates(t.Context(), db, m, true, nil, crash))
	must(t, inStates(t.Context(), db, m, true, nil, nil)) // its time is over: another one takes it
	balance(t, db, "processing, taken over", 200)

	// The state is the row of the ledger, which commits with the work.
	db = idemtest.Migrated(t, "migrations")
	w := own(t, db, payments, 0)
	if !crashAt(t, w, "before send", m) {
		t.Fatal("no crash")
	}
	apply(t, own(t, db, payments, 0), idem.Result{Applied: 1}, m)
	balance(t, db, "generated", 100)
}

// An event that failed once, because the disk was full, is failed for ever.
func TestFailedIsRefusedForEver(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 7)
	db := processed(t)
	idemtest.Exec(t, db, states)
	idemtest.Exec(t, db, outage)
	if err := inStates(t.Context(), db, m, false, nil, nil); err == nil || errors.Is(err, errBusy) {
		t.Errorf("in an outage: %v", err)
	}
	idemtest.Exec(t, db, ends)
	for range 3 {
		if err := inStates(t.Context(), db, m, false, nil, nil); !errors.Is(err, errBusy) {
			t.Errorf("failed: %v, want %v", err, errBusy)
		}
	}
	balance(t, db, "failed", 0)
	holds(t, db, "failed", `SELECT status FROM states`, "failed")

	db = idemtest.Migrated(t, "migrations")
	w := waitsOut(t, db, []idem.Message{m})
	apply(t, w, idem.Result{Applied: 1}, m)
	balance(t, db, "generated", 7)
}
