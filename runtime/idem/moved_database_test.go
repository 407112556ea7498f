package idem_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A database that was moved without its sequences, as logical replication does it, draws no
// fencing token and no number of a stream again: a start moves the one, and a new partition passes
// the others.
func TestDatabaseThatWasMovedWithoutItsSequences(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	c := s.consumer(t, db)
	w := own(t, c)
	for range 20 { // numbers that other uses of the sequence have drawn
		idemtest.Exec(t, db, `SELECT nextval('idem_fence')`)
	}
	apply(t, w, records(0, "a: effect 1", "b: effect 2"))
	for n := range int32(3) {
		if _, err := c.Own(t.Context(), topic, 1+n, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	most := query(t, db, `SELECT max(fence)::text FROM idem_lease`)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 1, false)`)
	idemtest.Exec(t, db, `ALTER TABLE idem_stream ALTER COLUMN stream RESTART`)

	moved := s.consumer(t, db)
	if _, err := moved.Own(t.Context(), topic, 9, 0); err != nil {
		t.Errorf("a new partition: %v", err)
	}
	w = own(t, moved)
	apply(t, w, records(2, "c: effect 3"))
	want(t, "the next token is greater", query(t, db, `SELECT (max(fence) > `+most+`)::text FROM idem_lease`), "true")
	want(t, "streams", query(t, db, `SELECT count(*)::text FROM idem_stream`), "5")

	idemtest.Exec(t, db, `UPDATE idem_lease SET fence = 100000000 WHERE fence = `+most)
	if _, err := s.consumer(t, db).Own(t.Context(), topic, 0, 0); err == nil || !strings.Contains(err.Error(), "SELECT setval('idem_fence', 100000000)") {
		t.Errorf("numbers that are far ahead: got %v", err)
	}
}
