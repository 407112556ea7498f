package maintain_test

import (
	"strconv"
	"testing"
	"time"
)

// Only the process that did the upkeep tells of it.
func TestARunIsToldUnlessAnotherProcessIsAtIt(t *testing.T) {
	t.Parallel()
	db := database(t)
	j, _ := job(db, "a")
	told := 0
	j.Ran = func(time.Duration, error) { told++ }
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1, hashtext('a'))`, 0x1de36e6); err != nil {
		t.Fatal(err)
	}
	upkeep(t, db, j)
	want(t, "runs told while another process is at it", strconv.Itoa(told), "0")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	upkeep(t, db, j)
	want(t, "runs told", strconv.Itoa(told), "1")
}
