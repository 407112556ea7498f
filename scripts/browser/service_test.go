package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// service is a running service whose handler fails as long as it is told to.
type service struct {
	db      *pgxpool.Pool
	broker  *idemtest.Broker
	refuses atomic.Bool
	offset  int
}

// OrderPaid implements orders.Handler.
func (s *service) OrderPaid(ctx context.Context, tx idem.Tx, e orders.OrderPaid) error {
	if s.refuses.Load() {
		return idem.Permanent(fmt.Errorf("account %s is closed", e.OrderID))
	}
	return orders.Service{}.OrderPaid(ctx, tx, e)
}

// start starts a service, which runs until the test ends.
func start(t *testing.T) *service {
	t.Helper()
	s := &service{db: idemtest.Migrated(t, filepath.Join(ordersFolder, "migrations")), broker: idemtest.Kafka(t, map[string]int32{"orders.v1": 3})}
	consumer, err := orders.NewConsumer(s.db, s, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- consumer.Run(ctx, &franz.Source{Brokers: s.broker.Addr()}) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// orders sends n orders, and the payments of each.
func (s *service) send(t *testing.T, n int) {
	t.Helper()
	for range n {
		s.offset++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", s.offset)
		for typ, value := range map[string]string{
			"order.placed": fmt.Sprintf(`{"order_id": %q, "customer_id": "c", "channel": "web", "total": "10.00", "placed_at": "2026-01-02T03:04:05Z", "items": []}`, id),
			"order.paid":   fmt.Sprintf(`{"payment_id": %q, "order_id": %q, "amount": "10.00", "booked_at": "2026-01-02T03:04:05Z"}`, id, id),
		} {
			m := &idem.Message{Topic: "orders.v1", Partition: int32(s.offset % 3), Key: []byte(id), Value: []byte(value),
				Headers: []idem.Header{{Name: "event-type", Value: []byte(typ)}, {Name: "Idempotency-Key", Value: []byte(typ + id)}}}
			if err := s.broker.Produce(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// An operator sees that payments fail, and for what; the cause is mended, the group is replayed by
// the page alone, and each payment is there once.
func TestAnOperatorReplaysAGroup(t *testing.T) {
	s := start(t)
	b := serve(t, s.db, ordersFolder)
	s.refuses.Store(true)
	b.open("")
	s.send(t, 20)
	b.shows("20 dead letters") // without being read again by hand
	b.shows("READY 3")
	b.click("account # is closed")
	s.refuses.Store(false)
	b.click("Replay 20")
	b.shows("Replay 20 dead letters?")
	b.fill("reason", "the accounts are open again")
	b.click("Replay")
	b.shows("20\treplayed")
	b.open("")
	b.shows("Everything makes progress")
	var paid string
	if err := s.db.QueryRow(t.Context(), `SELECT concat((SELECT count(*) FROM payments), ' ', (SELECT sum(paid) FROM orders), ' ', (SELECT count(*) FROM orders WHERE paid = 10))`).Scan(&paid); err != nil {
		t.Fatal(err)
	}
	if paid != "20 200.00 20" {
		t.Errorf("payments, their sum, orders that are paid once: %s", paid)
	}
	b.open("history")
	b.shows("the accounts are open again")
}

// A form of another site changes nothing, although the browser is signed in.
func TestAFormOfAnotherSiteChangesNothing(t *testing.T) {
	db := troubled(t)
	b := serve(t, db, ordersFolder)
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><form method="post" action="%sletter"><input name="consumer" value="order-projector"><input name="topic" value="orders.v1">
			<input name="partition" value="1"><input name="offset" value="40001"><input name="verb" value="discard"><input name="sure" value="yes"><input name="reason" value="x"></form>
			<script>document.forms[0].submit()</script>`, b.url)
	}))
	defer attacker.Close()
	for _, address := range []string{attacker.URL, strings.Replace(attacker.URL, "127.0.0.1", "localhost", 1)} {
		b.run(chromedp.Navigate(address))
		b.shows("the request comes from another site")
	}
	var asked int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_dead_letter WHERE asked IS NOT NULL`).Scan(&asked); err != nil || asked != 0 {
		t.Errorf("%d letters were changed, %v", asked, err)
	}
}

// The page is read again by itself, but never while somebody fills in a form, and what is typed
// stays.
func TestPagesAreReadAgain(t *testing.T) {
	db := troubled(t)
	b := serve(t, db, ordersFolder)
	b.open("dead")
	b.fill("error", "typed")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET reason = 'handler: OrderPaid: the cause is another one'`)
	time.Sleep(6 * time.Second) // longer than the interval: nothing may happen
	if text := b.text(); strings.Contains(text, "another one") || evaluate[string](b, `document.querySelector("[name=error]").value`) != "typed" {
		t.Errorf("the page was replaced under a form: %s", text)
	}
	b.fill("error", "")
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	b.shows("the cause is another one")
	if errors.Is(b.ctx.Err(), context.Canceled) {
		t.Error("the browser has ended")
	}
}

// A page that cannot be read again says that it is old, until it is read.
func TestAnOldPageSaysSo(t *testing.T) {
	b := serve(t, troubled(t), ordersFolder)
	b.run(chromedp.Evaluate[chromedp.Void](`window.fetched = window.fetch; window.fetch = () => Promise.reject(new Error("down")); undefined`))
	b.shows("Not read since")
	const state = `document.querySelector(".bar .state").textContent`
	if is := evaluate[string](b, state); is != "NOT KNOWN" {
		t.Errorf("the state is %s", is)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`window.fetch = window.fetched; undefined`))
	b.shows("refreshed every 5 seconds")
	if is := evaluate[string](b, state); is == "NOT KNOWN" || strings.Contains(b.text(), "Not read since") {
		t.Errorf("the state is %s, and the page says: %s", is, b.text())
	}
}
