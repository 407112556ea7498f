package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
)

// alone is a console whose database nobody reaches, and what it logs, without times.
func alone(t *testing.T) (*console, *bytes.Buffer) {
	t.Helper()
	pages, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	read, err := pgxpool.New(t.Context(), "postgres://someone:secret@127.0.0.1:1/shop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(read.Close)
	log := &bytes.Buffer{}
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return &console{
		hosts: map[string]bool{"ops.example.com": true}, read: read, write: read, pages: pages, environment: "PRODUCTION",
		log:  slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: untimed, Level: slog.LevelDebug})),
		auth: func(*http.Request) (User, error) { return User{Name: "ana", Act: true}, nil },
	}, log
}

// asks returns the answer to a request.
func (c *console) asks(method, page string, body io.Reader, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://ops.example.com/x/"+page, body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	c.guarded().ServeHTTP(w, r)
	return w
}

// What is refused is refused before anything else is done, with the reason and all headers.
func TestWhatIsRefusedBeforeAPageIsServed(t *testing.T) {
	c, log := alone(t)
	asked := 0
	var user User
	var err error
	c.auth = func(*http.Request) (User, error) { asked++; return user, err }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	ana := User{Name: "ana"}
	css := assetNames["console.css"]
	if css == "" {
		for name := range assets {
			css = name
		}
	}
	for _, x := range []struct {
		method, page string
		body         string
		user         User
		err          error
		change       func(*http.Request)
		status       int
		says         string
		asked        int
	}{
		{"GET", "", "", ana, nil, host("other.example.com"), 421, "this host name is not in console.Options.Hosts", 0},
		{"POST", "act", "", ana, nil, header("Sec-Fetch-Site", "cross-site"), 403, "the request comes from another site", 0},
		{"GET", "find", "", User{}, nil, host("ops.example.com"), 403, "you are not signed in", 1},
		{"GET", css, "", ana, errors.New("no"), host("ops.example.com"), 403, "you are not signed in", 1},
		{"PUT", "find", "", ana, nil, host("OPS.example.com"), 405, "this page does not accept PUT", 1},
		{"GET", "none", "", ana, nil, host("ops.example.com"), 404, "404 page not found", 1},
		{"PUT", "none", "", ana, nil, host("ops.example.com"), 404, "404 page not found", 1},
		{"POST", "act", "", ana, nil, host("ops.example.com"), 403, errRight.Error(), 1},
		{"GET", "raw", "", User{Name: "ana", Act: true}, nil, host("ops.example.com"), 403, errRight.Error(), 1},
		{"POST", "letter", "a=" + strings.Repeat("x", 2<<20), User{Name: "ana", Act: true}, nil, host("ops.example.com"), 400, "the form cannot be read", 1},
		{"POST", "letter", "a=%zz", User{Name: "ana", Act: true}, nil, host("ops.example.com"), 400, "the form cannot be read", 1},
		{"POST", css, "", ana, nil, host("ops.example.com"), 405, "assets are read-only", 1},
		{"GET", css, "", ana, nil, host("ops.example.com"), 200, "", 1},
		{"HEAD", css, "", ana, nil, host("ops.example.com"), 200, "", 1},
	} {
		asked, user, err = 0, x.user, x.err
		w := c.asks(x.method, x.page, strings.NewReader(x.body), x.change)
		what := x.method + " " + x.page
		if w.Code != x.status || !strings.Contains(w.Body.String(), x.says) || asked != x.asked {
			t.Errorf("%s: %d %s, who it is was asked %d times", what, w.Code, w.Body, asked)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
			"Allow":         map[bool]string{true: "GET"}[x.page == "find" && x.status == 405],
			"Cache-Control": map[bool]string{true: "private, max-age=31536000, immutable", false: map[bool]string{true: "no-store"}[x.asked == 1 && x.page != css && x.page+x.user.Name != "find"]}[x.status == 200],
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", what, name, got, want)
			}
		}
		if tag := w.Header().Get("ETag"); (tag == `"`+css+`"`) != (x.status == 200) {
			t.Errorf("%s: ETag %s", what, tag)
		}
	}
	if !strings.Contains(log.String(), "a request without a user was rejected\" err=no") {
		t.Errorf("why Auth refused a request is lost: %s", log)
	}
	c.write, user, err = nil, User{Name: "ana", Act: true}, nil
	if w := c.asks("POST", "act", nil); w.Code != 403 {
		t.Errorf("without the role of operators: %d", w.Code)
	}
}

// While the database is away, a page says so and is read again, with the names that were known
// last; a form says that it was not possible. The log has the reason.
func TestPagesOfADatabaseThatIsAway(t *testing.T) {
	c, log := alone(t)
	c.names.Store([]string{"projector-that-was"})
	get := c.asks("GET", "effects", nil)
	post := c.asks("POST", "asked", strings.NewReader("at=1&reason=x"))
	for what, x := range map[string]struct {
		w        *httptest.ResponseRecorder
		has, not string
	}{"a page": {get, "<title>Not known · projector-that-was", "Not possible"}, "a form": {post, "<title>Not possible · projector-that-was", "data-refresh"}} {
		text := x.w.Body.String()
		if x.w.Code != http.StatusServiceUnavailable || x.w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(text, "PRODUCTION") ||
			!strings.Contains(text, "the database shop does not respond") && !strings.Contains(text, "The database shop does not respond") || !strings.Contains(text, x.has) || strings.Contains(text, x.not) {
			t.Errorf("%s: %d %v\n%s", what, x.w.Code, x.w.Header(), text)
		}
	}
	if text := get.Body.String(); !strings.Contains(text, `data-refresh="5"`) || !strings.Contains(text, `<a class="state urgent" href="./">ACT</a>`) {
		t.Errorf("a page is not urgent, or not read again:\n%s", text)
	}
	if n := strings.Count(log.String(), `level=ERROR msg="the console cannot read the database" err="`); n < 2 {
		t.Errorf("logged %s", log)
	}
	if is := c.unknown(); is.Worst != operate.NotKnown || is.Title != "NOT KNOWN" || !slices.Equal(is.Consumers, []string{"projector-that-was"}) {
		t.Errorf("not known: %+v", is)
	}
}

// A page that cannot be shown is an error of its own, and the log says which.
func TestAPageThatCannotBeShown(t *testing.T) {
	c, log := alone(t)
	w := httptest.NewRecorder()
	q := &request{w: w, r: httptest.NewRequest(http.MethodGet, "/", nil), form: url.Values{}}
	c.render(q, "none.html", shown{State: summary{Worst: operate.Fine}})
	if w.Code != http.StatusInternalServerError || w.Body.String() != "this page cannot be shown: see the log for the reason\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := log.String(); !strings.HasPrefix(got, `level=ERROR msg="a page of the console cannot be shown" page=none.html err="`) || strings.Count(got, "\n") != 1 {
		t.Errorf("logged %s", got)
	}
}

// The log has a selection by its names, and only whether it has a key or a text.
func TestASelectionIsLogged(t *testing.T) {
	for want, s := range map[string]operate.Selection{
		"s.consumer=c s.topic=t s.class=handler s.event=Paid s.by_key=true s.by_error=false": {Consumer: "c", Topic: "t", Class: "handler", Event: "Paid", RecordKey: "k"},
		`s.consumer="" s.topic="" s.class="" s.event="" s.by_key=false s.by_error=true`:      {Error: "e"},
	} {
		c, log := alone(t)
		c.log.Info("x", "s", logged(s))
		if got := log.String(); got != "level=INFO msg=x "+want+"\n" {
			t.Errorf("logged %s", got)
		}
	}
}

// What a form says is checked before anything is read.
func TestWhatFormsSay(t *testing.T) {
	c, _ := alone(t)
	of := func(text string) *request {
		form, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		return &request{r: httptest.NewRequest(http.MethodGet, "/", nil), form: form, user: User{Name: "ana"}}
	}
	for text, want := range map[string]string{
		"": "<nil> <nil>", "happened=no&result=1": "<nil> <nil>", "happened=yes&result=null": "null <nil>", "happened=+yes+&result=+{}+": "{} <nil>",
		"happened=yes":     "<nil> the result of the call must be JSON, with the member names of the spec; null if it has none",
		"happened=perhaps": "<nil> say whether the call happened",
	} {
		result, err := of(text).result()
		got := "<nil>"
		if result != nil {
			got = string(result)
		}
		if got = fmt.Sprint(got, " ", err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"verb=replay": "replay <nil>", "verb=discard": "discard <nil>", "verb=withdraw": " letters can be replayed or discarded", "": " letters can be replayed or discarded"} {
		verb, err := of(text).verb()
		if got := fmt.Sprint(verb, " ", err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if by := of("reason=+why+").by(); by != (operate.By{Operator: "ana", Reason: "why"}) {
		t.Errorf("by %+v", by)
	}
	const through = "&through=1.2.3.4"
	for text, want := range map[string]string{
		"topic=t" + through: "letters can be replayed or discarded", "verb=replay&topic=t&through=x": `"x" does not name a dead letter`,
		"verb=replay&topic=t": "the request does not name the newest letter that it includes", "verb=replay" + through: "choose a topic or a consumer first: otherwise the request would include all letters of the database",
	} {
		if a, err := c.asking(of(text)); a != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for _, text := range []string{"verb=replay&topic=t" + through, "verb=replay&consumer=c" + through} { // one of them is enough
		if _, err := c.asking(of(text)); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Parts of a key are lines of names and values, and are in the command. They need a spec.
func TestPartsOfAKey(t *testing.T) {
	c, _ := alone(t)
	for key, want := range map[string]string{
		"":                       "[] '' <nil>",
		" \n\n":                  "[] '' <nil>",
		"a":                      "[] '' write each part of the key as NAME=VALUE, on a line of its own",
		" a = 1\nb=x y=2 \n":     "[] ' --key 'a= 1' --key 'b=x y=2'' the spec of c, which defines its keys, is not known here: give the record as PARTITION:OFFSET",
		"id=7\nno value in this": "[] ' --key 'id=7'' write each part of the key as NAME=VALUE, on a line of its own",
	} {
		keys, words, err := c.keys(&request{form: url.Values{"key": {key}}}, &found{}, "c", "t")
		if got := fmt.Sprintf("%v '%s' %v", keys, words, err); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
}

// A redirect stays relative, and leads to a page with its query.
func TestRedirectsStayRelative(t *testing.T) {
	w := httptest.NewRecorder()
	(&request{w: w}).back("letter", query("a", 1))
	if got := fmt.Sprint(w.Code, " ", w.Header().Get("Location")); got != "303 letter?a=1" {
		t.Errorf("got %s", got)
	}
}

// Samples are taken while somebody may look at the pages, and end with the console.
func TestSamplesEndWithTheConsole(t *testing.T) {
	c, _ := alone(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.sample(ctx) }()
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("they do not end")
	}
}
