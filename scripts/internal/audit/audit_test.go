package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

const example = "../../../examples/orders"

// newLog is a log of one partition: an order with two payments and two shipments among
// others, and every other kind of record.
func newLog() (log []*wire.Message) {
	m := shop.New(3, 1)
	m.Recent = 3 // so that an order gets several events
	for len(log) < 300 {
		for _, e := range m.Next() {
			log = append(log, e.Message)
		}
	}
	for i := range 10 {
		log = append(log, m.Broken(i).Message)
	}
	log = append(log, shop.Changed(log[0]))
	for i, e := range log {
		e.Offset = int64(i)
	}
	return log
}

// apply gives a log to the generated service.
func apply(t *testing.T, log []*wire.Message) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, example+"/migrations")
	idemtest.Exec(t, db, JournalSQL)
	applyTo(t, db, log)
	return db
}

func applyTo(t *testing.T, db *pgxpool.Pool, log []*wire.Message) {
	t.Helper()
	c, err := orders.NewConsumer(db, orders.Service{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, shop.Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	records := make([]idem.Message, len(log))
	for i, m := range log {
		records[i] = *m
	}
	for batch := range slices.Chunk(records, 50) {
		if _, err := w.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

func findings(t *testing.T, db *pgxpool.Pool, log []*wire.Message) []Finding {
	t.Helper()
	service, err := ReadSpec(example)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	all, err := Audit(t.Context(), service, AddPayment, conn.Conn(), log)
	if err != nil {
		t.Fatal(err)
	}
	passed, err := Passed(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, Unread(passed, ends(log))...)
}

// ends are the offsets behind the last record of each partition.
func ends(log []*wire.Message) map[int32]int64 {
	all := map[int32]int64{}
	for _, m := range log {
		all[m.Partition] = max(all[m.Partition], m.Offset+1)
	}
	return all
}

func typeOf(m *wire.Message) string {
	for _, h := range m.Headers {
		if h.Name == "event-type" {
			return string(h.Value)
		}
	}
	return "tombstone"
}

// two finds two shipments of one order.
func two(t *testing.T, log []*wire.Message) (first, second int) {
	t.Helper()
	for i, m := range log {
		for j, n := range log[i+1:] {
			if typeOf(m) == "order.shipped" && typeOf(n) == "order.shipped" && string(m.Key) == string(n.Key) && string(m.Value) != string(n.Value) {
				return i, i + 1 + j
			}
		}
	}
	t.Fatal("no order was shipped twice")
	return 0, 0
}

// A service that works is found to work, at every point of its log.
func TestNothingIsFoundWhereNothingIsWrong(t *testing.T) {
	log := newLog()
	for _, n := range []int{len(log), 120} {
		db := apply(t, log[:n])
		for _, f := range findings(t, db, log) {
			if f.Kind != Stuck || n == len(log) {
				t.Errorf("after %d records: %v", n, f)
			}
		}
	}
}

// Each planted fault is called by its name, and by no other.
func TestPlantedFaultsAreNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	log := newLog()
	first, second := two(t, log)
	event := func(i int, change func(*wire.Message)) []*wire.Message {
		seen := slices.Clone(log)
		c := shop.Again(seen[i])
		c.Headers = slices.Clone(c.Headers)
		change(c)
		seen[i] = c
		return seen
	}
	ignored := func(m *wire.Message) { m.Headers[0].Value = []byte("order.viewed") }
	swapped := slices.Clone(log)
	swapped[first], swapped[second] = shop.Again(log[second]), shop.Again(log[first])
	swapped[first].Offset, swapped[second].Offset = int64(first), int64(second)
	for _, test := range []struct {
		name string
		seen []*wire.Message // what the service got in place of the log
		sql  string          // what somebody did to the database
		want Kind
	}{
		{"an event was skipped", event(second, ignored), "", Lost},
		{"an event was applied under another key", event(len(log)-1, func(m *wire.Message) {
			*m = *shop.Again(log[second])
			m.Offset, m.Headers = int64(len(log)-1), slices.Clone(m.Headers)
			m.Headers[1].Value = []byte("another")
		}), "", Doubled},
		{"two events of one order came the other way round", swapped, "", Reordered},
		{"the end of the log was not read", log[:200], "", Stuck},
		{"a payment counts twice", log, `UPDATE orders SET paid = paid + 1 WHERE ctid = (SELECT min(ctid) FROM orders)`, Doubled},
		{"a row of a child is gone", log, `DELETE FROM order_items WHERE ctid = (SELECT min(ctid) FROM order_items)`, Lost},
		{"a row of a child is too many", log, `INSERT INTO order_items SELECT order_id, 99, 'x', 1, 1 FROM orders LIMIT 1`, Doubled},
		{"a value is another one", log, `UPDATE order_items SET sku = 'x' WHERE ctid = (SELECT min(ctid) FROM order_items)`, Altered},
		{"a dead letter is gone", log, `DELETE FROM idem_dead_letter WHERE offs = (SELECT min(offs) FROM idem_dead_letter)`, Lost},
		{"a key is not claimed", log, `DELETE FROM idem_keys WHERE key = (SELECT key FROM idem_keys LIMIT 1)`, Lost},
		{"a row of the ledger is gone", log, `DELETE FROM idem_ledger WHERE seq = 3`, Broken},
		{"a dead letter is closed, and nobody asked", log, `UPDATE idem_dead_letter SET state = 'x' WHERE offs = (SELECT min(offs) FROM idem_dead_letter)`, Altered},
		{"the ledger jumps", log, `UPDATE idem_ledger SET next = next + 1 WHERE seq = 3`, Broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := apply(t, test.seen)
			if test.sql != "" {
				idemtest.Exec(t, db, test.sql)
			}
			all := findings(t, db, log)
			if Count(all, test.want) == 0 {
				t.Errorf("want %s, found %v", test.want, all)
			}
			for _, f := range all {
				if f.Kind != test.want && !strings.Contains(f.What, "dead letter") && !strings.Contains(f.What, "key") {
					t.Errorf("also found: %v", f)
				}
			}
		})
	}
}

// The audit of effects goes on from where it was, and keeps finding what is wrong until it is
// not.
func TestEffectsAreAuditedAsTheyCome(t *testing.T) {
	log := newLog()
	first, second := two(t, log)
	service, err := ReadSpec(example)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAuditor(service, AddPayment)
	db := apply(t, log[:first+1])
	step := func(what string, lost, doubled int) {
		t.Helper()
		conn, err := db.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		all, err := a.Effects(t.Context(), conn.Conn(), log)
		if err != nil || Count(all, Lost) != lost || Count(all, Doubled) != doubled {
			t.Errorf("%s: %v, %v; want %d lost and %d doubled", what, all, err, lost, doubled)
		}
	}
	step("some records", 0, 0)
	skipped := shop.Again(log[second])
	skipped.Headers = slices.Clone(skipped.Headers)
	skipped.Headers[0].Value = []byte("order.viewed")
	applyTo(t, db, slices.Concat(log[first+1:second], []*wire.Message{skipped}, log[second+1:]))
	step("an event was skipped", 1, 0)
	idemtest.Exec(t, db, `UPDATE orders SET paid = paid + 1 WHERE ctid = (SELECT min(ctid) FROM orders)`)
	step("and a payment counts twice", 1, 1)
	idemtest.Exec(t, db, `DELETE FROM idem_dead_letter WHERE offs = (SELECT min(offs) FROM idem_dead_letter)`)
	step("and a dead letter is gone", 2, 1)
}

// What operators decided about dead letters must be carried out, and takes effect once.
func TestDecisionsAreAudited(t *testing.T) {
	m := shop.New(3, 1)
	log := []*wire.Message{m.Placed(""), m.Broken(0).Message}
	shipped, placed := m.Late()
	log = append(log, shipped, placed)
	for i, e := range log {
		e.Offset = int64(i)
	}
	service, err := ReadSpec(example)
	if err != nil {
		t.Fatal(err)
	}
	const (
		replayed = `UPDATE idem_dead_letter SET state = 'r' WHERE offs = 2;`
		ship     = `UPDATE orders SET status = 'shipped', note = 'late 000001' WHERE order_id = (SELECT order_id FROM audit_journal ORDER BY n DESC LIMIT 1);`
		claim    = `INSERT INTO idem_keys SELECT gen, gen_random_uuid(), def, fp, stream, seq FROM idem_keys LIMIT 1;`
	)
	discard := Decision{Place{0, 1}, Discarded, true}
	replay := Decision{Place{0, 2}, Replayed, true}
	for _, test := range []struct {
		name string
		sql  string
		made []Decision
		want []Kind
	}{
		{"nothing", ``, nil, nil},
		{"a replay that was undone", ``, []Decision{{Place{0, 2}, Replayed, false}}, nil},
		{"a discard", `UPDATE idem_dead_letter SET state = 'x' WHERE offs = 1`, []Decision{discard}, nil},
		{"a lost discard", ``, []Decision{discard}, []Kind{Lost}},
		{"a lost replay", ``, []Decision{replay}, []Kind{Lost}},
		{"a replay", replayed + ship + claim, []Decision{replay}, nil},
		{"a replay that takes effect twice", replayed + ship + claim + strings.Replace(ship, "late 000001", "late 000002", 1) + ship, []Decision{replay}, []Kind{Doubled}},
		{"a replay without its effect", replayed, []Decision{replay}, []Kind{Lost}},
		{"an effect without its replay", ship + claim, nil, []Kind{Doubled}},
		{"a discard of another letter", `UPDATE idem_dead_letter SET state = 'x' WHERE offs = 2`, []Decision{discard}, []Kind{Altered, Lost}},
		{"a replay of what can never take effect", `UPDATE idem_dead_letter SET state = 'r' WHERE offs = 1`, []Decision{{Place{0, 1}, Replayed, true}}, []Kind{Altered}},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := apply(t, log)
			if test.sql != "" {
				idemtest.Exec(t, db, test.sql)
			}
			conn, err := db.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			a := NewAuditor(service, AddPayment)
			a.Decide(test.made)
			all, err := a.Audit(t.Context(), conn.Conn(), log)
			var kinds []Kind
			for _, f := range all {
				if !slices.Contains(kinds, f.Kind) {
					kinds = append(kinds, f.Kind)
				}
			}
			slices.Sort(kinds)
			if err != nil || !slices.Equal(kinds, test.want) {
				t.Errorf("%v, %v; want %v", all, err, test.want)
			}
		})
	}
}
