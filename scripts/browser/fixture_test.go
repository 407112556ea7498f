// Package browser tests the console in a real browser: Chromium, which it finds by its name. It is
// a module of its own, so that nothing else needs what drives the browser.
package browser

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

var update = flag.Bool("update", false, "write the pictures of docs/console again")

// browser is one window of Chromium.
type browser struct {
	t   testing.TB
	ctx context.Context
	url string // of the overview

	mu   sync.Mutex
	said []string // what the browser's console has
}

// chromium starts a browser, or says how to get one.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no Chromium is installed: apt-get install chromium, or run make e2e as root, which does that")
	}
	options := append([]chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.WindowSize(1280, 900)}, chromedp.DefaultExecAllocatorOptions[:]...)
	if os.Geteuid() == 0 || os.Getenv("CI") != "" { // where no sandbox can be had
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// serve serves the console of a database, and opens it.
func serve(t testing.TB, db *pgxpool.Pool, folder string) *browser {
	t.Helper()
	site, err := console.Local(t.Context(), "127.0.0.1:0", console.User{Name: "ana", Act: true, Payload: true}, console.Options{
		Database: db.Config().ConnString(), Operator: db.Config().ConnString(), Specs: []fs.FS{os.DirFS(folder)}, Environment: "PRODUCTION",
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, ctx: chromium(t), url: strings.Split(site.URL, "?")[0]}
	err = chromedp.Listen(b.ctx, func(event any) {
		if e, is := event.(*log.EventEntryAdded); is {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.said = append(b.said, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Navigate(site.URL))
	return b
}

// run runs actions, which must end within a while.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		page, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.location.href + "\n" + document.body.innerText`))
		b.t.Fatalf("%v\n%s", err, page)
	}
}

// open opens a page.
func (b *browser) open(page string) { b.t.Helper(); b.run(chromedp.Navigate(b.url + page)) }

// click clicks on the first link or button with a text.
func (b *browser) click(text string) {
	b.t.Helper()
	what := fmt.Sprintf(`//main//*[self::a or self::button][contains(normalize-space(.), %q)]`, text)
	b.run(chromedp.Click(what, chromedp.NodeVisible))
}

// text returns the text of the page; "" while another one is loaded.
func (b *browser) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	if err != nil {
		return ""
	}
	return text
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// shows waits until the page has a text.
func (b *browser) shows(text string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(b.text(), text); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("%q does not appear:\n%s", text, b.text())
		}
	}
}

// theme chooses light or dark.
func (b *browser) theme(name string) {
	b.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params); err != nil {
		b.t.Fatal(err)
	}
}

// width chooses the width of the page.
func (b *browser) width(w int64) { b.t.Helper(); b.run(chromedp.EmulateViewport(w, 900)) }

// ordersFolder has the service that the tests run.
var ordersFolder = filepath.Join("..", "..", "examples", "orders")

// troubled is a database in which most of what pages show is there: a halted partition, one that
// retries, one of a process that is silent, dead letters of several causes, calls, an outbox.
func troubled(t testing.TB) *pgxpool.Pool {
	t.Helper()
	db := idemtest.Migrated(t, filepath.Join(ordersFolder, "migrations"))
	idemtest.Exec(t, db, trouble)
	value := `{"payment_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "order_id": "0f8fad5b-d9cb-469f-a165-70867728950e", "amount": "49.90", "booked_at": "2026-01-02T03:04:05Z"}`
	stored := record.Append(nil, &idem.Message{
		Key: []byte("0f8fad5b-d9cb-469f-a165-70867728950e"), Value: []byte(value), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Headers: []idem.Header{{Name: "event-type", Value: []byte("order.paid")}, {Name: "Idempotency-Key", Value: []byte("b5f1a3")}},
	})
	if _, err := db.Exec(t.Context(), `UPDATE idem_dead_letter SET record = $1`, stored); err != nil {
		t.Fatal(err)
	}
	return db
}

const trouble = `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'order-projector', 'orders.v1', '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b', p FROM generate_series(0, 11) p;
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info)
	SELECT stream, 0, gen_random_uuid(), 48211 + 977 * partition, 48211 + 977 * partition, 'g', -1, 1, 12, 0, 'orders-7d9f4, process 1' FROM idem_stream;
INSERT INTO idem_process (process, consumer, name, version, every, started_at, report)
SELECT gen_random_uuid(), 'order-projector', 'orders-7d9f4, process 1', 'v1.8.2', '1 hour', now() - interval '3 hours', jsonb_build_object('problems', '[]'::jsonb, 'more', 0, 'partitions', (
	SELECT jsonb_agg(jsonb_build_object('topic', 'orders.v1', 'partition', p, 'since', to_char(now() - (14 + p) * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'position', 48211 + 977 * p, 'end', 48211 + 977 * p + CASE p WHEN 3 THEN 5120 WHEN 7 THEN 812 ELSE 3 END,
		'lag', CASE p WHEN 3 THEN 5120 WHEN 7 THEN 812 ELSE 3 END, 'lag_seconds', CASE p WHEN 3 THEN 840 WHEN 7 THEN 120 ELSE 0.2 END,
		'state', CASE p WHEN 3 THEN 'HALTED' WHEN 7 THEN 'BACKOFF' ELSE 'READY' END, 'code', CASE p WHEN 3 THEN 'database' WHEN 7 THEN 'backoff' ELSE '' END,
		'reason', CASE p WHEN 3 THEN 'the database rejected a statement: column "channel" of relation "orders" does not exist: SQLSTATE 42703' WHEN 7 THEN 'the database is out of disk space: SQLSTATE 53100' ELSE '' END,
		'do', CASE p WHEN 7 THEN 'wait: it is retried; if it lasts, remove the cause' ELSE '' END,
		'ways', CASE p WHEN 3 THEN '[{"code": "database"}, {"code": "database", "move": {"from": -1, "to": 51143}}]'::jsonb ELSE '[]'::jsonb END)) FROM generate_series(0, 9) p));
INSERT INTO idem_process (process, consumer, name, version, every, started_at, seen_at, report)
SELECT gen_random_uuid(), 'order-projector', 'orders-5c2aa, process 1', 'v1.8.2', '5 seconds', now() - interval '3 hours', now() - interval '40 seconds', jsonb_build_object('problems', '[]'::jsonb, 'more', 0, 'partitions', (
	SELECT jsonb_agg(jsonb_build_object('topic', 'orders.v1', 'partition', p, 'since', to_char(now() - interval '3 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'position', 48211 + 977 * p, 'end', -1, 'lag', -1, 'lag_seconds', 0,
		'state', 'READY', 'code', '', 'reason', '', 'do', '')) FROM generate_series(10, 11) p));
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, sqlstate, record, order_key, created_at)
SELECT 1 + i % 12, 40000 + i, 0, 'd', 'OrderPaid', 'handler: OrderPaid: order ' || md5(i::text)::uuid || ' does not exist', NULL,
	NULL, md5((i / 3)::text)::uuid, now() - i * interval '20 seconds' FROM generate_series(1, 38) i;
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, sqlstate, order_key, created_at)
SELECT 1 + i % 12, 41000 + i, 0, 'd', 'OrderPlaced', 'fit: OrderPlaced: total has ' || 11 + i || ' digits before the point, more than numeric(12,2) has room for', NULL, md5((i / 3)::text)::uuid, now() - i * interval '1 hour' FROM generate_series(1, 3) i;
`

// fill fills in a field.
func (b *browser) fill(name, text string) {
	b.t.Helper()
	b.run(chromedp.WaitVisible(chromedp.CSS(`main [name="` + name + `"]`)))
	evaluate[string](b, fmt.Sprintf(`document.querySelector('main [name="%s"]').value = %q`, name, text))
}

// press types keys into what has the focus.
func (b *browser) press(keys string) { b.t.Helper(); b.run(chromedp.KeyEvent(keys)) }

// tabTo moves the focus with the tab key to what has a text, or a name.
func (b *browser) tabTo(text string) {
	b.t.Helper()
	var seen []string
	for range 60 {
		b.press(kb.Tab)
		is := evaluate[string](b, `(document.activeElement.innerText || "") + (document.activeElement.getAttribute("name") || "")`)
		if strings.Contains(is, text) {
			return
		}
		seen = append(seen, is)
	}
	b.t.Fatalf("the tab key does not lead to %q, only to %q", text, seen)
}

// complaints are what the browser's console has, such as what the policy of the pages refused.
func (b *browser) complaints() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.said)
}
