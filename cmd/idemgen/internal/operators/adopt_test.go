package operators

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// What another program has processed within the window is a duplicate for the service, before its
// first record and while it runs; what lies further back, or was not processed, takes effect.
func TestAdoptedKeysAreDuplicates(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/orders/migrations")
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	idemtest.Exec(t, db, `CREATE TABLE processed_messages (event_id text PRIMARY KEY, processed_at timestamptz);
		INSERT INTO processed_messages VALUES ('k-1', now()), ('k-2', now() - interval '7 days'), ('k-3', now() - interval '9 days'), ('k-4', NULL)`)
	adopt := func(args ...string) string {
		t.Helper()
		return must(t, append([]string{"adopt", "keys", "--spec", "../../../../examples/orders", "--event", "OrderPlaced"}, args...)...)
	}
	const from = "SELECT event_id, processed_at FROM processed_messages;"
	if out := adopt("--from", from, "--dry-run"); out != "3 keys of OrderPlaced would be adopted by order-projector\n1 rows were left out: they are older than the window, 8d\n" {
		t.Error(out)
	}
	if out := adopt("--from", from); out != "3 keys of OrderPlaced were adopted by order-projector\n1 rows were left out: they are older than the window, 8d\n" {
		t.Error(out)
	}
	c, err := orders.NewConsumer(db, orders.Service{}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(records ...idem.Message) {
		t.Helper()
		if _, err := w.Apply(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	apply(placed(0, 1, "k-1", "1"), placed(1, 2, "k-2", "1"), placed(2, 3, "k-3", "1"), placed(3, 4, "k-4", "1"), placed(4, 5, "k-5", "1"))
	idemtest.Exec(t, db, `INSERT INTO processed_messages VALUES ('k-6', now()), ('k-5', now())`)
	if out := adopt("--from", "SELECT event_id AS id FROM processed_messages WHERE event_id > 'k-4'"); out != "1 keys of OrderPlaced were adopted by order-projector; 2 were read, and the others were already known\n" {
		t.Error(out)
	}
	both := adopt("--event", "OrderPaid", "--from", "SELECT gen_random_uuid()::text AS a FROM generate_series(1, 3)", "--dry-run")
	if both != "3 keys of OrderPlaced would be adopted by order-projector\n3 keys of OrderPaid would be adopted by order-projector\n" {
		t.Error(both)
	}
	apply(placed(5, 6, "k-6", "1"), placed(6, 7, "k-7", "1"), placed(7, 1, "k-1", "999"))
	var is string
	if err := db.QueryRow(t.Context(), `SELECT string_agg(right(order_id::text, 1), ' ' ORDER BY order_id) FROM orders`).Scan(&is); err != nil || is != "3 5 7" {
		t.Errorf("orders: %s, %v", is, err)
	}
	s := c.Stats()
	if s.Applied != 3 || s.Resent != 5 || s.Dead+s.Conflicts != 0 {
		t.Errorf("%+v", s.RecordStats)
	}
	if out := must(t, "find", "orders.v1", "--spec", "../../../../examples/orders", "--key", "Idempotency-Key=k-1"); !strings.Contains(out, "another program had applied it: its key was adopted") {
		t.Error(out)
	}
}

// What cannot be the keys of the event is an error, before anything is added, and no value is
// quoted.
func TestAdoptRefusesWhatIsNoKey(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/orders/migrations")
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	for _, tc := range [][3]string{
		{"OrderPlaced", "SELECT 1, 2", "must select the parts of the key of the event, Idempotency-Key"},
		{"OrderPlaced", "SELECT now(), now(), 'a'", "at most one time"},
		{"OrderPlaced", "SELECT NULL::text", "row 1 of --from: Idempotency-Key is NULL"},
		{"OrderPlaced", "SELECT * FROM nothing", `relation "nothing" does not exist`},
		{"OrderPlaced", "DELETE FROM orders", "syntax error"},
		{"OrderPaid", "SELECT 'secret'", "row 1 of --from: payment_id of OrderPaid: must be a UUID"},
		{"OrderPlaced", `SELECT '\x00ff'::bytea AS id`, "column id is bytea, whose text differs from what a producer sends"},
		{"OrderPlaced", "SELECT 'k-1'::char(20) AS id", "column id is bpchar, whose"},
		{"OrderPlaced", "SELECT true AS id", "column id is bool, whose"},
		{"OrderPlaced", "SELECT 7.00 AS id", "column id is numeric, whose"},
		{"OrderPlaced", "SELECT 7::float8 AS id", "column id is float8, whose"},
		{"OrderPlaced", "SELECT '{}'::jsonb AS id", "column id is jsonb, whose"},
		{"OrderPlaced", "SELECT current_date AS id", "column id is date, whose"},
		{"OrderErased", "SELECT 1", "is identified by its offset"},
		{"Nothing", "SELECT 1", `no event "Nothing"`},
	} {
		code, _, stderr := run(t, "adopt", "keys", "--spec", "../../../../examples/orders", "--event", tc[0], "--from", tc[1])
		if code != trouble || !strings.Contains(stderr, tc[2]) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: %d %s", tc[1], code, stderr)
		}
	}
	idemtest.Exec(t, db, `CREATE TYPE word AS ENUM ('k-1'); CREATE DOMAIN number AS text`)
	for _, from := range []string{"'a'", "'a'::varchar(3)", "7", "7::bigint", "gen_random_uuid()", "'k-1'::word", "'k-1'::number", "'a'::name"} {
		must(t, "adopt", "keys", "--spec", "../../../../examples/orders", "--event", "OrderPlaced", "--from", "SELECT "+from+" AS id", "--dry-run")
	}
	var n int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_keys`).Scan(&n); err != nil || n != 0 {
		t.Error(n, err)
	}
}

// BenchmarkAdopt measures a million ids.
func BenchmarkAdopt(b *testing.B) {
	db := idemtest.DB(b)
	idemtest.Migrate(b, db, "../../../../examples/orders/migrations")
	b.Setenv("DATABASE_URL", db.Config().ConnString())
	idemtest.Exec(b, db, `CREATE TABLE processed_messages AS SELECT gen_random_uuid()::text AS event_id, now() AS processed_at FROM generate_series(1, 1000000)`)
	for n := 0; b.Loop(); n++ {
		idemtest.Exec(b, db, `TRUNCATE idem_keys`)
		var out, errs strings.Builder
		if code := command.Run(b.Context(), []string{"adopt", "keys", "--spec", "../../../../examples/orders", "--event", "OrderPlaced", "--from", "SELECT event_id, processed_at FROM processed_messages"}, &out, &errs, Commands()...); code != 0 {
			b.Fatal(fmt.Sprint(code), out.String(), errs.String())
		}
	}
}
