package outbox

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// leading is a term whose steps the test takes itself.
func leading(t testing.TB, db *pgxpool.Pool, to Producer) *term {
	t.Helper()
	r, _ := newRelay(db, to)
	s, err := r.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close(context.Background()) })
	sender, err := to.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &term{Relay: r, session: s, sender: sender, pace: *quickPace(), held: map[target]*heldBack{}}
}

func step(t testing.TB, of *term) {
	t.Helper()
	of.floor.next = time.Time{}
	if _, err := of.step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The floor moves behind what was sent, up to the first row that is still there.
func TestFloorFollowsWhatWasSent(t *testing.T) {
	db, kafka := database(t), &memory{}
	lead := leading(t, db, kafka)
	var last int64
	for range 5 {
		last = insert(t, db, "t", "a", nil)
		step(t, lead)
	}
	eventually(t, "the floor reaches the last row", func() bool {
		step(t, lead)
		return lead.floor.at == last
	})
	kafka.answer = func(context.Context, Record) error { return &RefusedError{Err: fmt.Errorf("no")} }
	stays := insert(t, db, "t", "a", nil)
	step(t, lead)
	kafka.answer = nil
	for range 5 {
		lead.held = map[target]*heldBack{{topic: "t", key: "a"}: {row: row{named: named{id: stays}}, next: time.Now().Add(time.Hour)}}
		insert(t, db, "t", "b", nil)
		step(t, lead)
	}
	eventually(t, "the floor reaches the row that stays", func() bool {
		step(t, lead)
		return lead.floor.at == stays-1
	})
}

// A transaction may have an id below the highest row that can be seen, and an xid at or above a
// snapshot's xmax: the floor must wait for it.
func TestFloorWaitsForTransactionsThatRun(t *testing.T) {
	db, kafka := database(t), &memory{}
	for range 5 { // other work on the server may hide the danger
		lead := leading(t, db, kafka)
		visible, late := begin(t, db), begin(t, db)
		for _, tx := range []pgx.Tx{visible, late} { // the late one has the greater xid, and the lower id
			if _, err := tx.Exec(t.Context(), `SELECT pg_current_xact_id()`); err != nil {
				t.Fatal(err)
			}
		}
		low := insert(t, late, "t", "late", nil)
		insert(t, visible, "t", "visible", nil)
		commit(t, visible)
		lead.floor.deleted = true
		for range 6 {
			step(t, lead)
		}
		if lead.floor.at >= low {
			t.Fatalf("the floor is %d, a transaction that runs has row %d", lead.floor.at, low)
		}
		commit(t, late)
		step(t, lead)
		if n := count(t, db, `SELECT count(*) FROM idem_outbox_orders`); n != 0 {
			t.Fatalf("%d rows are not sent", n)
		}
	}
}

// Reading a page, one row or deleting costs what is read: no statement sorts or scans the table,
// also while rows are held back.
func TestStatementsReadWhatTheyNeed(t *testing.T) {
	db := database(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
SELECT gen_random_uuid(), 't', n::text, 'Placed', 'x' FROM generate_series(1, 20000) AS n`)
	idemtest.Exec(t, db, `ANALYZE idem_outbox_orders`)
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET plan_cache_mode = force_generic_plan`); err != nil {
		t.Fatal(err)
	}
	of := map[string]session.Statement{}
	for st := range new(statements).of(table) {
		of[st.Label] = st
	}
	for label, args := range map[string]string{
		"outbox_page":   `0, '{x}', '{t,t}', '{1,2}', 100, 1000`,
		"outbox_one":    `5`,
		"outbox_remove": `'{1,2}', '{00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002}'`,
		"outbox_mark":   ``,
		"outbox_passed": `'5'`,
	} {
		prepare, execute := "PREPARE "+label+" AS "+of[label].SQL, "EXPLAIN EXECUTE "+label
		if args != "" {
			execute += "(" + args + ")"
		}
		if _, err := conn.Exec(t.Context(), prepare, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", label, err)
		}
		rows, err := conn.Query(t.Context(), execute, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", label, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if regexp.MustCompile(`Seq Scan|Sort|Hash Join`).MatchString(plan) || !strings.Contains(plan, "idem_outbox_orders_pkey") {
			t.Errorf("%s:\n%s", label, plan)
		}
	}
}
