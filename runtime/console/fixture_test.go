package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

const spec = `version: 1
consumer: projector
package: projector
tables:
  payments: {primary_key: [id], columns: {id: uuid, card: text}}
topics:
  orders.v1:
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      OrderPaid:
        fields: {id: uuid, card: {type: string, sensitive: true}}
        write: [{insert: payments}]
  payments.v1:
    record_key: {payment_id: uuid}
    idempotency_key: {source: [payment_id, version], window: 8d}
    events:
      PaymentMade:
        fields: {version: int64}
        write: [{insert: payments, set: {id: payment_id, card: {value: none}}}]
`

// everyone may do everything.
var everyone = console.User{Name: "ana", Act: true, Payload: true}

// site is a console with its database.
type site struct {
	t       testing.TB
	db      *pgxpool.Pool
	handler http.Handler
	log     strings.Builder
	user    console.User
	reader  string // the URL of the role that may only SELECT
}

// database returns a database with all tables of the runtime and of the outbox.
func database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	db := idemtest.Migrated(t, filepath.Join("..", "..", "templates", "sql"))
	idemtest.Exec(t, db, "BEGIN; "+outbox.Migration(outbox.ByRelay)+"; COMMIT")
	return db
}

// open opens the console of a database. Its pages are read by a role that may only SELECT.
func open(t testing.TB, db *pgxpool.Pool) *site {
	t.Helper()
	s := &site{t: t, db: db, user: everyone, reader: reader(t, db)}
	s.handler = handler(t, s, db.Config().ConnString())
	return s
}

// handler returns the pages of a site, with the URL of the operators' role.
func handler(t testing.TB, s *site, operator string) http.Handler {
	t.Helper()
	handler, err := console.Handler(t.Context(), console.Options{
		Database: s.reader, Operator: operator, Hosts: []string{"ops.example.com"}, Environment: "PRODUCTION",
		Specs: []fs.FS{fstest.MapFS{"idemgen.yaml": {Data: []byte(spec)}}}, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		Auth: func(*http.Request) (console.User, error) {
			if s.user.Name == "" {
				return s.user, errors.New("nobody")
			}
			return s.user, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// reader makes a role that may only SELECT, and returns the URL with it.
func reader(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	role := "reader_" + db.Config().ConnConfig.Database
	idemtest.Exec(t, db, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA public TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA public TO %[1]s`, role))
	t.Cleanup(func() {
		if _, err := db.Exec(context.Background(), fmt.Sprintf(`DROP OWNED BY %[1]s; DROP ROLE %[1]s`, role), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(db.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(role, "x")
	return at.String()
}

// do sends a request to a page below a prefix.
func (s *site) do(method, page string, form url.Values, change ...func(*http.Request)) *http.Response {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, "http://ops.example.com/some/prefix/"+page, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Result()
}

// get returns the text of a page.
func (s *site) get(page string) string {
	s.t.Helper()
	r := s.do(http.MethodGet, page, nil)
	text := body(s.t, r)
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s\n%s", page, r.StatusCode, text, s.log.String())
	}
	return text
}

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// has fails the test unless a page has all texts.
func (s *site) has(page string, texts ...string) {
	s.t.Helper()
	is := s.get(page)
	for _, text := range texts {
		if !strings.Contains(is, text) {
			s.t.Errorf("%q is not on page %q:\n%s", text, page, is)
		}
	}
}

// logs fails the test unless the log has all texts.
func (s *site) logs(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.log.String(), text) {
			s.t.Errorf("%s is not in the log:\n%s", text, s.log.String())
		}
	}
}

// stream begins the ledger of a partition.
func stream(t testing.TB, db *pgxpool.Pool, partition int32, next int64) (id int32) {
	t.Helper()
	err := db.QueryRow(t.Context(), ledger.GenesisSQL, "projector", "orders.v1", "00000000-0000-4000-8000-000000000001", partition,
		wire.UUID{1, byte(partition)}, next, int32(3), int32(4), "host, process 1", "w").Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// dead stores a dead letter.
func dead(t testing.TB, db *pgxpool.Pool, stream int32, offset int64, reason string, m wire.Message) {
	t.Helper()
	_, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record) VALUES ($1, $2, 0, 'd', 'OrderPaid', $3, $4)`,
		stream, offset, reason, record.Append(nil, &m))
	if err != nil {
		t.Fatal(err)
	}
}

// reports stores what a process reports of partitions.
func reports(t testing.TB, db *pgxpool.Pool, name string, age int, partitions ...process.Assigned) {
	t.Helper()
	report, err := json.Marshal(process.Report{Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `INSERT INTO idem_process (process, consumer, name, version, every, seen_at, report)
		VALUES (gen_random_uuid(), 'projector', $1, 'v1.2.3', '5 seconds', clock_timestamp() - $2::int * interval '1 second', $3)`, name, age, string(report))
}

// partition is what is reported of a partition.
func partition(number int32, state, code, reason string, ways ...halt.Way) process.Assigned {
	return process.Assigned{
		Topic: "orders.v1", Partition: number, State: state, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Position: 10, End: 30, Lag: 20, LagSeconds: 3,
		Code: code, Reason: reason, Do: "wait", Ways: ways,
	}
}

// link returns the first link of a page that begins with a text.
func link(t testing.TB, page, begins string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `href="`+begins)
	if !found {
		t.Fatalf("no link %s on\n%s", begins, page)
	}
	rest, _, _ = strings.Cut(rest, `"`)
	return html.UnescapeString(begins + rest)
}

// eventually waits until something holds.
func eventually(t testing.TB, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not become so")
		}
	}
}
