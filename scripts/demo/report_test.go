package main

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// TestPlantedRowsAreFound: the audit at the end of the demo fails for each row that is lost,
// doubled or changed, and for records that were not read. Its last line says how many.
func TestPlantedRowsAreFound(t *testing.T) {
	t.Chdir("../..")
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, example+"/migrations")
	c, err := orders.NewConsumer(db, orders.Service{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, shop.Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var log []shop.Entry
	var records []idem.Message
	for m := shop.New(3, 1); len(log) < 200; {
		for _, e := range m.Next() {
			e.Message.Offset = int64(len(log))
			log, records = append(log, e), append(records, *e.Message)
		}
	}
	if _, err := w.Apply(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	audit := func(log []shop.Entry) (last string, err error) {
		t.Helper()
		r, err := newReport(t.Context(), db, log)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = r.print(&out)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[len(lines)-1], err
	}
	nothing := func(when string) {
		t.Helper()
		if last, err := audit(log); err != nil || !strings.Contains(last, "0 lost, 0 doubled") {
			t.Fatalf("%s: %s, %v", when, last, err)
		}
	}
	nothing("without a fault")
	for what, test := range map[string]struct{ sql, undo, want string }{
		"a lost row":        {`CREATE TABLE kept AS SELECT * FROM order_items LIMIT 1; DELETE FROM order_items WHERE (order_id, line) IN (SELECT order_id, line FROM kept)`, `INSERT INTO order_items SELECT * FROM kept; DROP TABLE kept`, "1 lost, 0 doubled"},
		"a doubled row":     {`INSERT INTO order_items SELECT order_id, 99, 'x', 1, 1 FROM orders LIMIT 1`, `DELETE FROM order_items WHERE line = 99`, "0 lost, 1 doubled"},
		"a doubled payment": {`CREATE TABLE kept AS SELECT order_id FROM orders LIMIT 1; UPDATE orders SET paid = paid + 1 WHERE order_id IN (SELECT order_id FROM kept)`, `UPDATE orders SET paid = paid - 1 WHERE order_id IN (SELECT order_id FROM kept); DROP TABLE kept`, "1 lost, 1 doubled"},
		"a moved item":      {`CREATE TABLE kept AS SELECT order_id, line, sku FROM order_items LIMIT 1; UPDATE order_items i SET line = 98 FROM kept k WHERE (i.order_id, i.line) = (k.order_id, k.line)`, `UPDATE order_items i SET line = k.line FROM kept k WHERE i.order_id = k.order_id AND i.line = 98; DROP TABLE kept`, "1 lost, 1 doubled"},
		"a key too few":     {`CREATE TABLE kept AS SELECT * FROM idem_keys LIMIT 1; DELETE FROM idem_keys WHERE key IN (SELECT key FROM kept)`, `INSERT INTO idem_keys SELECT * FROM kept; DROP TABLE kept`, "0 lost, 0 doubled"},
	} {
		idemtest.Exec(t, db, test.sql)
		last, err := audit(log)
		if err == nil || !strings.Contains(last, test.want) {
			t.Errorf("%s: %s, %v; want %s and an error", what, last, err, test.want)
		}
		idemtest.Exec(t, db, test.undo)
		nothing("after " + what)
	}
	if last, err := audit(append(log, log[0])); err == nil {
		t.Errorf("a record that was not read: %s", last)
	}
}
