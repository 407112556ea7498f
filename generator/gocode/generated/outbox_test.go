package generated_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/testdata/golden/accepted/outbox"
	"github.com/idemgen/idemgen/testdata/golden/accepted/producer"
)

// auditor handles orders as a test says.
type auditor func(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error

func (a auditor) OrderAudited(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error {
	return a(ctx, tx, e)
}

func sendsTwo(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error {
	return errors.Join(
		outbox.EmitOrderChecked(ctx, tx, outbox.OrderChecked(e)),
		outbox.EmitOrderChecked(ctx, tx, outbox.OrderChecked{OrderID: e.OrderID}),
	)
}

// orders applies records of orders.v1 in one batch, and returns the database.
func orders(t *testing.T, h outbox.Handler, records ...idem.Message) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../testdata/golden/accepted/outbox/migrations")
	c, err := outbox.NewConsumer(db, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w, err := c.Own(t.Context(), "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a handler may ask for a second try
		if _, err = w.Apply(t.Context(), records); err == nil {
			return db
		}
	}
	t.Fatal(err)
	return nil
}

const orderID = "00000000-0000-4000-8000-000000000001"

func order(offset int64, kind, value string) idem.Message {
	return idem.Message{Topic: "orders.v1", Offset: offset, Key: []byte(orderID), Value: []byte(value), Headers: []idem.Header{
		{Name: "Idempotency-Key", Value: fmt.Appendf(nil, "key %d", offset)}, {Name: "event-type", Value: []byte(kind)}, {Name: "tenant", Value: []byte("t")},
	}}
}

func placed(offset int64, version int) idem.Message {
	return order(offset, "order.placed", fmt.Sprintf(`{"version":%d,"total":1,"channel":"web","placed_at":"2026-01-01T00:00:00Z","lines":[{"sku":"a","count":1},{"sku":"b","count":2}]}`, version))
}

// outboxRows are rows of the outbox in the order in which they are sent.
func outboxRows(t *testing.T, db *pgxpool.Pool, expr, table string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT "+expr+" FROM "+table+" ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the events of a batch send is in the order of the events, whatever statements a wave has.
func TestEventsAreSentInTheOrderOfTheBatch(t *testing.T) {
	db := orders(t, auditor(sendsTwo), placed(0, 1), placed(1, 3), placed(2, 2), order(3, "order.audited", `{"ok":true}`), order(4, "order.cancelled", "{}"))
	accepted := func(version string) []string {
		return []string{"order.accepted " + version, "LineAccepted a", "LineAccepted b"}
	}
	want := slices.Concat(accepted("1"), accepted("3"), []string{"OrderStale 2", "OrderChecked true", "OrderChecked false", "OrderGone"})
	got := outboxRows(t, db, `concat_ws(' ', event_type, coalesce(v->>'position', v->>'sku', v->>'version', v->>'ok'))`,
		`(SELECT *, convert_from(payload, 'UTF8')::json AS v FROM idem_outbox_order_desk) o`)
	if !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each event that is sent has an id of its own, made of what sends it: who applies the records
// again sends the same ids, and so does a handler's second try.
func TestIDsOfWhatIsSentComeFromTheEvent(t *testing.T) {
	tries := 0
	again := auditor(func(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error {
		err := sendsTwo(ctx, tx, e)
		if tries++; tries == 1 {
			return idem.RetryAfter(0, errors.New("not yet"))
		}
		return err
	})
	records := []idem.Message{placed(0, 1), placed(1, 2), order(2, "order.audited", `{"ok":true}`)}
	once := outboxRows(t, orders(t, auditor(sendsTwo), records...), "event_id::text", "idem_outbox_order_desk")
	twice := outboxRows(t, orders(t, again, records...), "event_id::text", "idem_outbox_order_desk")
	if !slices.Equal(once, twice) || tries != 2 {
		t.Errorf("%d tries sent %q, others %q", tries, twice, once)
	}
	if n := len(once); n != 8 || len(slices.Compact(slices.Sorted(slices.Values(once)))) != n {
		t.Errorf("ids %q are not 8 different ones", once)
	}
}

// A handler that emits before it takes a lock draws no id before: of two transactions that change
// one row the later one has the greater ids.
func TestHandlersSendBehindTheirLocks(t *testing.T) {
	const table = "idem_outbox_order_desk"
	orders(t, auditor(func(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error {
		var early, late int
		err := errors.Join(
			outbox.EmitOrderChecked(ctx, tx, outbox.OrderChecked{OrderID: e.OrderID}),
			tx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&early),
		)
		sp, beginErr := idem.PgxTx(tx).Begin(ctx)
		if beginErr != nil {
			return beginErr
		}
		err = errors.Join(err,
			outbox.EmitOrderChecked(ctx, sp, outbox.OrderChecked{OrderID: e.OrderID}), // it may be rolled back alone
			sp.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&late),
			sp.Rollback(ctx),
		)
		if early != 0 || late != 1 {
			t.Errorf("%d rows before the handler returned, %d in its savepoint", early, late)
		}
		return err
	}), order(0, "order.audited", `{"ok":true}`))
}

// A handler that fails has sent nothing, whatever it emitted before.
func TestWhatAFailedHandlerSentIsNot(t *testing.T) {
	db := orders(t, auditor(func(ctx context.Context, tx idem.Tx, e outbox.OrderAudited) error {
		return errors.Join(sendsTwo(ctx, tx, e), idem.Permanent(errors.New("no")))
	}), order(0, "order.audited", `{"ok":true}`))
	if rows := outboxRows(t, db, "event_type", "idem_outbox_order_desk"); len(rows) > 0 {
		t.Errorf("sent %q", rows)
	}
}

func users(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../testdata/golden/accepted/producer/migrations")
	return db
}

func user() producer.UserCreated {
	since := idem.Date(20454) // 2026-01-01
	return producer.UserCreated{
		UserID: idem.UUID{15: 1}, Email: "a@b.c", FullName: "A \"B\"", Plan: producer.PlanPaid, Seats: new(int32(3)), Score: 0.5, Since: since, Photo: []byte{0xab},
		Addresses: map[string]producer.Address{"home": {Street: "S", SeenOn: since}}, Extra: []byte(`{"k":[1]}`),
	}
}

// A service that only sends writes the row in its own transaction: it is there if that commits.
func TestEmitBelongsToTheTransaction(t *testing.T) {
	db := users(t)
	own := idem.UUID{0: 9, 15: 9}
	in := func(end func(pgx.Tx) error) {
		t.Helper()
		tx, err := db.Begin(t.Context())
		if err == nil {
			err = errors.Join(producer.EmitUserCreated(t.Context(), tx, user()), producer.EmitUserDeletedAs(t.Context(), tx, own, producer.UserDeleted{UserID: user().UserID}),
				producer.EmitUserDeleted(t.Context(), tx, producer.UserDeleted{UserID: user().UserID}), end(tx))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	in(func(tx pgx.Tx) error { return tx.Rollback(t.Context()) })
	in(func(tx pgx.Tx) error { return tx.Commit(t.Context()) })
	got := outboxRows(t, db, `concat_ws('|', topic, record_key, event_type, coalesce(convert_from(payload, 'UTF8'), 'NULL'), header_plan, header_seats, header_since)`, "idem_outbox_users")
	const gone = "User.events|00000000-0000-0000-0000-000000000001|UserDeleted|NULL"
	want := []string{
		`User.events|00000000-0000-0000-0000-000000000001|UserCreated|{"userId":"00000000-0000-0000-0000-000000000001","email":"a@b.c","fullName":"A \"B\"","plan":"paid",` +
			`"seats":3,"score":0.5,"since":"2026-01-01","photo":"ab","addresses":{"home":{"street":"S","zipCode":null,"seenOn":"2026-01-01"}},"extra":{"k":[1]}}|paid|3|2026-01-01`,
		gone, gone,
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ids := outboxRows(t, db, "event_id::text", "idem_outbox_users")
	if ids[1] != own.String() || ids[0] == ids[2] {
		t.Errorf("ids %q, the second should be the caller's, the others different", ids)
	}
}

// Go code may put anything into a struct. What nobody could read is refused, and nothing of it is
// in the error.
func TestEmitRefusesWhatNobodyCouldRead(t *testing.T) {
	db := users(t)
	for name, edit := range map[string]func(*producer.UserCreated){
		"not a number":      func(u *producer.UserCreated) { u.Score = math.NaN() },
		"a text, not UTF-8": func(u *producer.UserCreated) { u.FullName = "secret\xff" },
		"JSON that is none": func(u *producer.UserCreated) { u.Extra = []byte(`{secret`) },
		"no JSON":           func(u *producer.UserCreated) { u.Extra = nil },
		"a header":          func(u *producer.UserCreated) { u.Plan = "secret\x00" },
	} {
		u := user()
		edit(&u)
		err := producer.EmitUserCreated(t.Context(), db, u)
		if err == nil || !strings.HasPrefix(err.Error(), "idem: UserCreated: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rows := outboxRows(t, db, "event_type", "idem_outbox_users"); len(rows) > 0 {
		t.Errorf("sent %q", rows)
	}
}
