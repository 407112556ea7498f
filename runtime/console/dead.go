package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// pageLetters is how many letters a page has.
const pageLetters = 50

// selection returns the letters that a request is about. A form that confirms a request has them
// as a query: a browser changes the ends of lines in other fields.
func (q *request) selection() (operate.Selection, error) {
	if text := q.text("selection"); text != "" {
		return parseSelection(text)
	}
	return newSelection(q.form)
}

func newSelection(form url.Values) (s operate.Selection, err error) {
	s = operate.Selection{
		Consumer: form.Get("consumer"), Topic: form.Get("topic"), Class: form.Get("class"), Event: form.Get("event"), Error: form.Get("error"),
		RecordKey: form.Get("key"), Exact: form.Get("exact") != "", Former: form.Get("former") != "",
	}
	if !s.Exact { // a person typed it
		s.Error = strings.TrimSpace(s.Error)
	}
	s.Through, err = parseMark(form.Get("through"))
	return s, err
}

// parseSelection reads a selection from a query string.
func parseSelection(text string) (operate.Selection, error) {
	form, err := url.ParseQuery(text)
	if err != nil {
		return operate.Selection{}, err
	}
	return newSelection(form)
}

// pairs are a selection as a query.
func pairs(s operate.Selection) template.URL {
	exact, former := "", ""
	if s.Exact {
		exact = "1"
	}
	if s.Former {
		former = "1"
	}
	return query("exact", exact, "former", former, "consumer", s.Consumer, "topic", s.Topic, "class", s.Class, "event", s.Event, "error", s.Error, "key", s.RecordKey, "through", markText(s.Through))
}

// markText returns a mark as a query has it.
func markText(m operate.Mark) string {
	if m == (operate.Mark{}) {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d", m.At.UnixMicro(), m.Stream, m.Offset, m.Seq)
}

func parseMark(text string) (m operate.Mark, err error) {
	if text == "" {
		return m, nil
	}
	parts := strings.Split(text, ".")
	var n [4]int64
	for i := range n {
		if len(parts) != len(n) {
			err = errors.New("parts are missing")
			break
		}
		if n[i], err = strconv.ParseInt(parts[i], 10, 64); err != nil {
			break
		}
	}
	if err != nil || n[1] != int64(int32(n[1])) {
		return m, fmt.Errorf("%q does not name a dead letter", text)
	}
	return operate.Mark{At: time.UnixMicro(n[0]).UTC(), Stream: int32(n[1]), Offset: n[2], Seq: n[3]}, nil
}

// letters are the dead letters of a selection.
type letters struct {
	Selection operate.Selection
	Query     template.URL
	Filtered  bool
	List      bool // single letters, not groups
	Groups    operate.Groups
	Page      operate.LetterPage
	Through   string // the newest letter of the page: requests are about those up to it
	More      template.URL
	Topics    []string
	Classes   []string
}

// mostGroups is how many groups are shown.
const mostGroups = 100

// Shown is the groups that are shown.
func (l *letters) Shown() []operate.Group {
	return l.Groups.Groups[:min(len(l.Groups.Groups), mostGroups)]
}

// GroupQuery returns the selection of a group within the page's.
func (l *letters) GroupQuery(g operate.Group) template.URL {
	s := l.of(g)
	return pairs(s)
}

// AskQuery is the same, up to the newest letter of the group.
func (l *letters) AskQuery(g operate.Group) template.URL {
	s := l.of(g)
	s.Through = operate.Mark{At: g.Last, Stream: 1<<31 - 1, Offset: 1<<63 - 1, Seq: 1<<63 - 1}
	return pairs(s)
}

func (l *letters) of(g operate.Group) operate.Selection {
	s := l.Selection
	s.Class, s.Event, s.Error, s.Exact, s.Former = g.Class, g.Event, g.Reason, true, g.Former
	if s.Consumer == "" {
		s.Consumer = g.Consumer
	}
	if s.Topic == "" {
		s.Topic = g.Topic
	}
	return s
}

// dead shows dead letters, by groups or one by one.
func (c *console) dead(q *request) {
	s, err := q.selection()
	before, errBefore := parseMark(q.text("before"))
	if err = errors.Join(err, errBefore); err != nil {
		c.failed(q, err)
		return
	}
	through := s.Through
	s.Through = operate.Mark{}
	l := &letters{Selection: s, Query: pairs(s), Filtered: s != (operate.Selection{}), List: q.text("list") != "", Classes: operate.Classes}
	at := time.Now().UTC()
	read := func(ctx context.Context) error {
		if !l.List {
			if !l.Filtered { // the overview has them
				var state *snapshot
				if state, at, err = c.snapshot(ctx); err == nil {
					l.Groups = state.Letters
				}
				return err
			}
			l.Groups, at, err = kept(ctx, &c.recent, "groups "+string(l.Query), func(ctx context.Context) (operate.Groups, error) {
				return operate.GroupsOf(ctx, c.read, s)
			})
			return err
		}
		s.Through = through
		l.Page, err = operate.Page(ctx, c.read, s, before, pageLetters)
		return err
	}
	if err := read(q.r.Context()); err != nil {
		c.failed(q, err)
		return
	}
	if n := len(l.Page.Letters); n > 0 {
		l.Through = markText(l.Page.Letters[0].Mark())
		if before != (operate.Mark{}) || through != (operate.Mark{}) {
			l.Through = cmp.Or(q.text("through"), l.Through)
		}
	}
	if l.Page.Next != nil {
		of := s
		of.Through, _ = parseMark(l.Through)
		l.More = template.URL(string(pairs(of)) + "&list=1&before=" + url.QueryEscape(markText(*l.Page.Next))) //nolint:gosec // it is encoded
	}
	state, _, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	for _, t := range state.Topics {
		l.Topics = appendNew(l.Topics, t.Topic)
	}
	c.render(q, "dead.html", shown{Title: "Dead letters", Tab: "dead", Now: at, Refresh: !l.List, Command: listCommand(s), State: state.Summary, Data: l})
}

func appendNew(all []string, text string) []string {
	for _, is := range all {
		if is == text {
			return all
		}
	}
	return append(all, text)
}

// listCommand is the command that lists the letters of a selection.
func listCommand(s operate.Selection) string {
	return "idemgen dead list" + flags(s, true)
}

// askCommand is the command that requests something about a selection.
func askCommand(verb string, s operate.Selection) string {
	if s.Topic == "" {
		return "" // a command is about one topic
	}
	text := flags(s, false)
	if s.Class == "" && s.Event == "" && s.Error == "" && s.RecordKey == "" && !s.Former {
		text = " --all" + text
	}
	return fmt.Sprintf("idemgen dead %s %s%s --reason %s", verb, quoted(s.Topic), text, quoted("why"))
}

func flags(s operate.Selection, topic bool) (text string) {
	add := func(flag, value string) {
		if value != "" {
			text += " --" + flag + " " + quoted(value)
		}
	}
	if topic {
		add("topic", s.Topic)
	}
	add("class", s.Class)
	add("event", s.Event)
	add("error", s.Error)
	if s.Exact {
		text += " --exact"
	}
	if s.Former {
		text += " --former"
	}
	add("record-key", s.RecordKey)
	add("consumer", s.Consumer)
	return text
}

// quoted returns a text as a shell takes it as one word.
func quoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
