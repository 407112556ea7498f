package console_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/wire"
)

// arguments are what pages need to have something to show or do.
const arguments = "?consumer=projector&topic=orders.v1&partition=0&offset=1&at=1&verb=replay&reason=test&class=database&through=1795811531422555.2147483647.9.9" +
	"&way=idemgen+stream+release+--consumer+projector+--topic+orders.v1+--partition+0+--reason+record-refused"

// A page is served to those who have its right, and to nobody else, whatever the buttons show. Who
// is not signed in gets nothing, not even a style.
func TestEachPageNeedsItsRight(t *testing.T) {
	s := troubled(t)
	for _, user := range []console.User{{}, {Name: "ana"}, {Name: "ana", Act: true}, {Name: "ana", Payload: true}, everyone} {
		s.user = user
		for _, route := range console.Routes() {
			page := route.Name + arguments
			if route.Name == "find" {
				page = "find?topic=orders.v1&at=0:1"
			}
			r := s.do(route.Method, page, nil)
			refused := r.StatusCode == http.StatusForbidden
			if want := user.Name == "" || route.Act && !user.Act || route.Payload && !user.Payload; refused != want {
				t.Errorf("%+v: %s %q: %d", user, route.Method, route.Name, r.StatusCode)
			}
			if !refused && r.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s %q: %d %s", route.Method, route.Name, r.StatusCode, body(t, r))
			}
		}
		for _, name := range console.Assets() {
			if r := s.do(http.MethodGet, name, nil); (r.StatusCode == http.StatusForbidden) != (user.Name == "") {
				t.Errorf("%+v: %s: %d", user, name, r.StatusCode)
			}
		}
	}
	if n := changed(t, s); n == 0 {
		t.Error("nothing was changed by those who may: the test shows nothing")
	}
}

// changed is how many letters have a request, and how many rows operators appended.
func changed(t testing.TB, s *site) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM idem_dead_letter WHERE asked IS NOT NULL) + (SELECT count(*) FROM idem_ledger WHERE writer = 'o')`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// No page that is read changes anything, by any method that a browser sends on its own.
func TestReadingChangesNothing(t *testing.T) {
	s := troubled(t)
	for _, route := range console.Routes() {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			s.do(method, route.Name+arguments, nil)
		}
	}
	if n := changed(t, s); n != 0 {
		t.Errorf("%d changes", n)
	}
}

// A request of another site changes nothing, whichever header shows where it is from; neither does
// one that reaches the console by a name that is not on its list, for which nothing is shown
// either.
func TestOtherSitesAreRefused(t *testing.T) {
	s := troubled(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, route := range console.Routes() {
		form, _ := url.ParseQuery(strings.TrimPrefix(arguments, "?"))
		for name, change := range map[string]func(*http.Request){
			"cross-site": header("Sec-Fetch-Site", "cross-site"), "same-site": header("Sec-Fetch-Site", "same-site"),
			"origin": header("Origin", "https://attacker.example"), "null": header("Origin", "null"),
		} {
			if route.Method != http.MethodPost {
				continue
			}
			if r := s.do(route.Method, route.Name, form, change); r.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, route.Name, r.StatusCode)
			}
		}
		for _, host := range []string{"attacker.example", "ops.example.com:8080", "ops.example.com.attacker.example", "127.0.0.1", ""} {
			r := s.do(route.Method, route.Name+arguments, form, func(r *http.Request) { r.Host = host })
			if r.StatusCode != http.StatusMisdirectedRequest || strings.Contains(body(t, r), "orders") {
				t.Errorf("host %q: %s: %d", host, route.Name, r.StatusCode)
			}
		}
	}
	if n := changed(t, s); n != 0 {
		t.Errorf("%d changes", n)
	}
	form, _ := url.ParseQuery("consumer=projector&topic=orders.v1&partition=0&offset=1&verb=replay&reason=mine")
	if r := s.do(http.MethodPost, "letter", form, header("Sec-Fetch-Site", "same-origin"), header("Origin", "http://ops.example.com")); r.StatusCode != http.StatusSeeOther {
		t.Errorf("of this site: %d", r.StatusCode)
	}
}

// Every answer has the policy that permits no foreign script, style or frame, and no page has a
// script, a style or a handler in it, or an address that does not stay below the prefix.
func TestPagesFitTheirPolicy(t *testing.T) {
	s := troubled(t)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:>|[^>]*>[^<])|javascript:`)
	address := regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	for _, route := range console.Routes() {
		r := s.do(route.Method, route.Name+arguments, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := r.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s: %q", route.Name, name, got)
			}
		}
		page := body(t, r)
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s: %q in the page", route.Name, found)
		}
		for _, a := range address.FindAllStringSubmatch(page, -1) {
			if strings.Contains(a[1], "//") || strings.HasPrefix(a[1], "/") {
				t.Errorf("%s: address %s", route.Name, a[1])
			}
		}
	}
}

// Whatever records, errors, names and reports hold is text on every page.
func TestHostileTextsAreText(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202e\x1b[2J"
	s := troubled(t)
	if _, err := s.db.Exec(t.Context(), `UPDATE idem_dead_letter SET reason = 'handler: ' || $1::text, event = $1, sqlstate = $1, asked_by = $1 || ': ' || $1, answer = $1, asked_at = now()`, evil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(t.Context(), `UPDATE idem_process SET name = $1, version = $1, report = jsonb_set(report, '{partitions,0,reason}', to_jsonb($1::text))`, evil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(t.Context(), `INSERT INTO idem_outbox (aggregatetype, aggregateid, type) VALUES ($1, $1, $1)`, evil); err != nil {
		t.Fatal(err)
	}
	var id int32
	if err := s.db.QueryRow(t.Context(), `SELECT min(stream) FROM idem_stream`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	for n, value := range []string{`{"id": "` + evil + `", "` + evil + `": 1}`, evil, "\xff\xfe" + evil, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, strings.Repeat("[", 200_000)} {
		dead(t, s.db, id, int64(100+n), "decode: "+evil, wire.Message{Key: []byte(evil), Value: []byte(value), Headers: []wire.Header{{Name: evil, Value: []byte(evil)}}})
	}
	pages := []string{"dead?error=" + url.QueryEscape(evil), "find?topic=" + url.QueryEscape(evil) + "&at=" + url.QueryEscape(evil), "history?done=" + url.QueryEscape(evil), "dead?list=1", "outbox", ""}
	for _, offset := range []int{1, 100, 101, 102, 103, 104} {
		pages = append(pages, fmt.Sprintf("record?consumer=projector&topic=orders.v1&partition=0&offset=%d", offset))
	}
	for _, page := range pages {
		r := s.do(http.MethodGet, page, nil)
		text := body(t, r)
		if r.StatusCode != http.StatusOK || len(text) > 4<<20 {
			t.Errorf("%s: %d, %d bytes", page, r.StatusCode, len(text))
		}
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "<img") || strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("%s: as it was:\n%s", page, text)
		}
	}
}

// What is wrong in the options is an error, before a page is served.
func TestOptionsThatWouldOpenTheConsole(t *testing.T) {
	auth := func(*http.Request) (console.User, error) { return everyone, nil }
	for want, o := range map[string]console.Options{
		"Auth":     {Database: "postgres://x@localhost/y", Hosts: []string{"a"}},
		"Hosts":    {Database: "postgres://x@localhost/y", Auth: auth},
		"Database": {Auth: auth, Hosts: []string{"a"}},
		"Specs":    {Database: "postgres://x@localhost/y", Auth: auth, Hosts: []string{"a"}, Specs: []fs.FS{emptyFolder{}}},
		"Operator": {Database: "postgres://x@localhost/y", Auth: auth, Hosts: []string{"a"}, Operator: "postgres://secret:secret@[/y"},
	} {
		if _, err := console.Handler(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

type emptyFolder struct{}

func (emptyFolder) Open(string) (fs.File, error) { return nil, fs.ErrNotExist }

// The console needs at most two connections of each role, however many look at it, and one role
// that may only SELECT. Without the role of the operator nobody changes anything.
func TestViewersShareTwoConnections(t *testing.T) {
	s := troubled(t)
	done := make(chan int, 40)
	for range cap(done) {
		go func() {
			n := 0
			for _, page := range []string{"", "dead", "dead?list=1", "history", "effects"} {
				if s.do(http.MethodGet, page, nil).StatusCode == http.StatusOK {
					n++
				}
			}
			done <- n
		}()
	}
	most := 0
	for left := cap(done); left > 0; {
		var n int
		if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'idemgen-console'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		select {
		case n := <-done:
			left--
			if n != 5 {
				t.Errorf("%d of 5 pages", n)
			}
		default:
		}
	}
	if most == 0 || most > 2 {
		t.Errorf("%d connections", most)
	}
}

// A database that is away is a page that says so, in time, and without its address.
func TestADatabaseThatIsAway(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	handler, err := console.Handler(ctx, console.Options{
		Database: "postgres://someone:secret@127.0.0.1:1/shop", Hosts: []string{"ops.example.com"},
		Auth: func(*http.Request) (console.User, error) { return everyone, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, handler: handler}
	const at = "?consumer=a&topic=a&partition=0&offset=1&at=1"
	for _, page := range []string{
		"", "dead", "dead?list=1", "find?topic=a&at=1:1", "history", "history.csv", "topic" + at, "partition" + at, "asked" + at, "letter" + at, "record" + at, "raw" + at, "effects", "outbox", "guarantees",
	} {
		r := s.do(http.MethodGet, page, nil)
		text := body(t, r)
		if page != "find?topic=a&at=1:1" && r.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "secret") || strings.Contains(text, "someone") || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: %d %s", page, r.StatusCode, text)
		}
		if r := s.do(http.MethodPost, "letter"+arguments, nil); r.StatusCode != http.StatusForbidden {
			t.Errorf("without an operator's role: %d", r.StatusCode)
		}
	}
}
