package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/internal/visible"
)

// right is what a page needs of its user.
type right int

const (
	reads right = iota
	acts
	payloads
)

// page is one page: what is served under a name for a method.
type page struct {
	name, method string
	needs        right
	serve        func(*console, *request)
}

// table are all pages.
var table = []page{
	{"", http.MethodGet, reads, (*console).overview},
	{"topic", http.MethodGet, reads, (*console).topic},
	{"partition", http.MethodGet, reads, (*console).partition},
	{"act", http.MethodGet, acts, (*console).confirmAct},
	{"act", http.MethodPost, acts, (*console).act},
	{"dead", http.MethodGet, reads, (*console).dead},
	{"ask", http.MethodGet, acts, (*console).confirmAsk},
	{"ask", http.MethodPost, acts, (*console).ask},
	{"asked", http.MethodGet, reads, (*console).asked},
	{"asked", http.MethodPost, acts, (*console).withdraw},
	{"letter", http.MethodGet, reads, (*console).letter},
	{"letter", http.MethodPost, acts, (*console).decide},
	{"record", http.MethodGet, payloads, (*console).record},
	{"raw", http.MethodGet, payloads, (*console).raw},
	{"find", http.MethodGet, reads, (*console).find},
	{"history", http.MethodGet, reads, (*console).history},
	{"history.csv", http.MethodGet, reads, (*console).historyFile},
	{"effects", http.MethodGet, reads, (*console).effects},
	{"outbox", http.MethodGet, reads, (*console).outbox},
	{"guarantees", http.MethodGet, reads, (*console).guarantees},
}

//go:embed pages
var pageFiles embed.FS

// pages are the pages with their templates.
type pages struct {
	templates *template.Template
	byName    map[string]*page
}

func parse() (*pages, error) {
	templates, err := template.New("").Funcs(functions).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, err
	}
	p := &pages{templates, map[string]*page{}}
	for i := range table {
		p.byName[table[i].method+" "+table[i].name] = &table[i]
	}
	return p, nil
}

// named returns the page of a name and a method; nil if there is none.
func (p *pages) named(name, method string) *page {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return p.byName[method+" "+name]
}

// functions are what templates call besides methods.
var functions = template.FuncMap{
	"asset":    func(file string) string { return assetNames[file] },
	"when":     func(t time.Time, now time.Time) when { return when{t, now} },
	"age":      age,
	"secs":     func(seconds float64) string { return age(time.Duration(seconds * float64(time.Second))) },
	"count":    bounded,
	"group":    grouped,
	"query":    query,
	"place":    place,
	"sentence": sentence,
}

// when is a moment as pages show it: the absolute time first, in UTC, then how long ago.
type when struct{ At, now time.Time }

// Short is the time alone if it was within the last day.
func (w when) Short() string {
	if d := w.now.Sub(w.At); d >= 0 && d < 20*time.Hour && w.At.Day() == w.now.Day() {
		return w.At.UTC().Format("15:04:05")
	}
	return w.At.UTC().Format("2006-01-02 15:04:05")
}

// Full is the time for machines.
func (w when) Full() string { return w.At.UTC().Format(time.RFC3339) }

// Ago says how long ago it was, or how long it takes.
func (w when) Ago() string {
	d := w.now.Sub(w.At)
	switch {
	case d < -time.Second:
		return "in " + age(-d)
	case d < time.Second:
		return "now"
	}
	return age(d) + " ago"
}

// age returns a duration in one unit: the largest one that it has at least two of.
func age(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= 2*u.unit {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// sentence returns a text as a sentence. A name at its beginning, such as one with digits or that
// of a process, stays as it is.
func sentence(text string) string {
	text = strings.TrimRight(text, ". ")
	if text == "" {
		return ""
	}
	if word, rest, _ := strings.Cut(text, " "); strings.HasPrefix(rest, "process ") && strings.HasSuffix(word, ",") || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != ',' && r != ':' && r != ';' }) {
		return text + "."
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// bounded returns a number that was counted up to a bound.
func bounded(n, most int) string {
	if n > most {
		return thousands(int64(most)) + "+"
	}
	return thousands(int64(n))
}

// thousands returns a number with a thin space between each three digits.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// grouped is thousands for templates.
func grouped(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return thousands(int64(n)), nil
	case int64:
		return thousands(n), nil
	}
	return "", fmt.Errorf("%T is not a number", n)
}

// query returns a query string of names and values in turn, without empty ones.
func query(pairs ...any) template.URL {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if n, is := value.(*int64); is {
			value = *n
		}
		if text := fmt.Sprint(value); text != "" {
			v.Set(fmt.Sprint(pairs[i]), text)
		}
	}
	return template.URL(v.Encode()) //nolint:gosec // it was encoded
}

// place returns the query that names the letter of an offset, in the partition of another letter.
func place(in operate.Letter, offset any) template.URL {
	id := ""
	if in.Former {
		id = in.TopicID
	}
	return query("consumer", in.Consumer, "topic", in.Topic, "topic_id", id, "partition", in.Partition, "offset", offset)
}

// request is one request of a user.
type request struct {
	w    http.ResponseWriter
	r    *http.Request
	user User
	form url.Values
}

func (q *request) text(name string) string { return strings.TrimSpace(q.form.Get(name)) }

// number returns a whole number that is not negative.
func (q *request) number(name string, bits int) (int64, error) {
	n, err := strconv.ParseInt(q.text(name), 10, bits)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s must be a whole number, not %q", name, q.text(name))
	}
	return n, nil
}

// name returns the partition that a request is about.
func (q *request) name() (operate.Name, error) {
	n, err := q.number("partition", 32)
	return operate.Name{Consumer: q.text("consumer"), Topic: q.text("topic"), Partition: int32(n), TopicID: q.text("topic_id")}, err
}

// place returns the offset that a request is about.
func (q *request) place() (operate.Name, int64, error) {
	name, err := q.name()
	if err != nil {
		return name, 0, err
	}
	offset, err := q.number("offset", 64)
	return name, offset, err
}

// by returns who acts, and why.
func (q *request) by() operate.By { return operate.By{Operator: q.user.Name, Reason: q.text("reason")} }

// shown is what the template of a page gets.
type shown struct {
	Title       string
	Tab         string // the page that the navigation marks
	Environment string
	User        User
	MayAct      bool                // the user, and the role
	Lacks       *pgtable.Difference // what the role lacks, with the statement that grants it; nil for nothing
	Now         time.Time           // when the data was read
	Refresh     bool                // the page may be read again by itself
	Acted       bool                // a form was sent
	Command     string              // the equal command; "" if there is none
	State       summary             // of all that the database has; it is read if it is not given
	Data        any
	form        url.Values
}

// doneFor is for how long a page says what was done.
const doneFor = time.Minute

// Done says what was done just now; "" if nothing was.
func (s shown) Done() string {
	at, err := time.Parse(time.RFC3339, s.form.Get("at"))
	if err != nil || s.Now.Sub(at) > doneFor {
		return ""
	}
	return s.form.Get("done")
}

// Form returns a value of the request, for its form.
func (s shown) Form(name string) string { return s.form.Get(name) }

// render writes a page. It is rendered before anything is sent, so an error is a page of its own.
func (c *console) render(q *request, name string, s shown) {
	s.Environment, s.User, s.MayAct, s.form = c.environment, q.user, q.user.Act && c.write != nil, q.form
	if s.MayAct {
		s.Lacks = c.lacks(q.r.Context())
		s.MayAct = s.Lacks == nil
	}
	if s.Now.IsZero() {
		s.Now = time.Now().UTC()
	}
	if s.State.Worst == "" {
		s.State = c.state(q.r.Context())
	}
	var out bytes.Buffer
	if err := c.pages.templates.ExecuteTemplate(&out, name, s); err != nil {
		c.log.Error("a page of the console cannot be shown", "page", name, "err", err)
		http.Error(q.w, "this page cannot be shown: see the log for the reason", http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(q.w, visible.Text(out.String()))
}

// lacks says which rights the operators' role lacks, so that no form is filled in for nothing; nil
// if it lacks none, or if that cannot be read.
func (c *console) lacks(ctx context.Context) *pgtable.Difference {
	found, _, err := kept(ctx, &c.recent, "rights", func(ctx context.Context) (*pgtable.Difference, error) {
		all, err := pgtable.Needs(ctx, c.read, c.write.Config().ConnConfig.User, []string{pgtable.Operator})
		return pgtable.Join(all), err
	})
	if err != nil {
		return nil
	}
	return found
}

// failed shows an error as a page.
func (c *console) failed(q *request, err error) {
	status, text := c.explained(err)
	s := shown{Title: "Not possible", Acted: q.r.Method == http.MethodPost, Environment: c.environment, User: q.user, MayAct: q.user.Act && c.write != nil, Now: time.Now().UTC(), Data: text}
	if s.State = c.unknown(); status != http.StatusServiceUnavailable {
		s.State = c.state(q.r.Context())
	} else if !s.Acted {
		s.Title, s.Refresh = "Not known", true
		s.State.Worst, s.State.Title = operate.Urgent, "ACT"
	}
	var out bytes.Buffer
	if errRender := c.pages.templates.ExecuteTemplate(&out, "failed.html", s); errRender != nil {
		http.Error(q.w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, visible.Text(out.String()))
}

// explained returns the status and the text with which a page answers an error.
func (c *console) explained(err error) (status int, text string) {
	status = http.StatusBadRequest
	if _, is := errors.AsType[*operate.NotFoundError](err); is {
		status = http.StatusNotFound
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	if connecting || errors.Is(err, context.DeadlineExceeded) {
		c.log.Error("the console cannot read the database", "err", err)
		return http.StatusServiceUnavailable, fmt.Sprintf("the database %s does not respond: %s", c.read.Config().ConnConfig.Database, connectionCause(err))
	}
	if pg, is := errors.AsType[*pgconn.PgError](err); is && pg.Code == "57014" {
		return http.StatusServiceUnavailable, fmt.Sprintf("the database took longer than %v: choose a topic, or a smaller part", statementTime)
	}
	return status, err.Error()
}

// connectionCause returns what may be told of an error of connecting: the driver's text has user
// and host.
func connectionCause(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it took too long"
	}
	if pg, is := errors.AsType[*pgconn.PgError](err); is {
		return "it rejected the connection, SQLSTATE " + pg.Code
	}
	return "it cannot be reached"
}

// back redirects to the page of a form, so that reading it again repeats nothing.
func (q *request) back(to string, query template.URL) { redirect(q.w, to+"?"+string(query)) }

// redirect redirects to a page that is named as links name it. [http.Redirect] would make an
// absolute path of it, without the prefix that a proxy or [http.StripPrefix] took away.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
