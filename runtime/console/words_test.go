package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
)

// Durations, moments and numbers are written as people read them.
func TestWordsOfPages(t *testing.T) {
	now := time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC)
	at := func(d time.Duration) when { return when{now.Add(d), now} }
	some := int64(7)
	grouped := func(n any) string {
		text, err := grouped(n)
		return fmt.Sprint(text, err)
	}
	for _, c := range []struct{ got, want string }{
		{age(0), "0 s"}, {age(1900 * time.Millisecond), "1 s"}, {age(119 * time.Second), "119 s"}, {age(2 * time.Minute), "2 min"}, {age(119 * time.Minute), "119 min"},
		{age(2 * time.Hour), "2 h"}, {age(47 * time.Hour), "47 h"}, {age(48 * time.Hour), "2 days"}, {age(71 * time.Hour), "2 days"},
		{at(0).Ago(), "now"}, {at(-999 * time.Millisecond).Ago(), "now"}, {at(-time.Second).Ago(), "1 s ago"}, {at(time.Second).Ago(), "now"}, {at(1001 * time.Millisecond).Ago(), "in 1 s"}, {at(3 * time.Minute).Ago(), "in 3 min"},
		{at(0).Short(), "23:00:00"}, {at(time.Second).Short(), "2026-01-02 23:00:01"}, {at(time.Second - 20*time.Hour).Short(), "03:00:01"}, {at(-20 * time.Hour).Short(), "2026-01-02 03:00:00"},
		{when{now.Add(-12 * time.Hour), now.Add(2 * time.Hour)}.Short(), "2026-01-02 11:00:00"}, // yesterday
		{when{now.In(time.FixedZone("", 3600)), now}.Full(), "2026-01-02T23:00:00Z"},
		{sentence(""), ""}, {sentence(". "), ""}, {sentence("total overflows. "), "Total overflows."}, {sentence("éa b"), "Éa b."}, {sentence("wait; then go"), "Wait; then go."}, {sentence("broker: it is away"), "Broker: it is away."},
		{sentence("no, it is not"), "No, it is not."}, {sentence("a, process 7 is silent"), "a, process 7 is silent."}, {sentence("a, processor 7"), "A, processor 7."}, {sentence("a process 7"), "A process 7."},
		{sentence("vm-1 runs"), "vm-1 runs."}, {sentence("3 records"), "3 records."},
		{bounded(1000, 1000), "1 000"}, {bounded(1001, 1000), "1 000+"}, {bounded(3, 1000), "3"},
		{thousands(0), "0"}, {thousands(999), "999"}, {thousands(1000), "1 000"}, {thousands(-100), "-100"}, {thousands(-1000), "-1 000"}, {thousands(1234567), "1 234 567"},
		{grouped(1000), "1 000<nil>"}, {grouped(int64(2000)), "2 000<nil>"}, {grouped("x"), "string is not a number"},
		{string(query("b", 1, "empty", "", "a", &some, "c", "x y", "odd")), "a=7&b=1&c=x+y"}, {string(query("a", 1, "b", 2)), "a=1&b=2"},
		{quoted("azAZ09._-/:"), "azAZ09._-/:"}, {quoted(""), "''"}, {quoted("it's"), `'it'\''s'`}, {quoted("a`"), "'a`'"}, {quoted("a{"), "'a{'"}, {quoted("a@"), "'a@'"}, {quoted("["), "'['"}, {quoted(";"), "';'"}, {quoted("é"), "'é'"},
	} {
		if got := strings.ReplaceAll(c.got, "\u202f", " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A selection of letters comes back from its query, and so does a place among them. What names no
// place is refused.
func TestASelectionComesBack(t *testing.T) {
	mark := operate.Mark{At: time.UnixMicro(1795811531422555).UTC(), Stream: 1<<31 - 1, Offset: 7, Seq: 9}
	all := operate.Selection{
		Consumer: "c", Topic: "t", Class: "handler", Event: "Paid", Error: " a\n& b ", RecordKey: " k\n", Exact: true, Former: true, Through: mark,
	}
	for _, s := range []operate.Selection{all, {}, {Exact: true}, {Former: true}, {Consumer: "c"}, {Topic: "t"}, {Class: "x"}, {Event: "x"}, {Error: "x"}, {RecordKey: "x"}, {Through: mark}} {
		if got, err := parseSelection(string(pairs(s))); err != nil || got != s {
			t.Errorf("%+v comes back as %+v, %v", s, got, err)
		}
	}
	if is := string(place(operate.Letter{Place: operate.Place{Consumer: "c", Topic: "t", TopicID: "id", Partition: 1}}, 7)); is != "consumer=c&offset=7&partition=1&topic=t" {
		t.Error(is)
	}
	if is := string(place(operate.Letter{Place: operate.Place{Topic: "t", TopicID: "id"}, Former: true}, new(int64))); is != "offset=0&partition=0&topic=t&topic_id=id" {
		t.Error(is)
	}
	for _, text := range []string{"1.2.3", "1.2.3.4.5", "x.2.3.4", "1.2147483648.3.4", "1.2.x.4", "1.2.3.x"} {
		want := fmt.Sprintf("%q does not name a dead letter", text)
		if _, err := parseMark(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := parseSelection("a=%zz"); err == nil {
		t.Error("a query that is none is accepted")
	}
	if s, err := newSelection(url.Values{"error": {" x "}, "through": {"x"}}); err == nil || s.Error != "x" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The command that a page names selects the letters of the page, and asks for all only where
// nothing else selects them.
func TestCommandsOfASelection(t *testing.T) {
	all := operate.Selection{Consumer: "c", Topic: "t.v1", Class: "handler", Event: "Paid", Error: "a b", RecordKey: "k", Exact: true, Former: true}
	const every = " --class handler --event Paid --error 'a b' --exact --former --record-key k --consumer c"
	for _, c := range []struct{ got, want string }{
		{listCommand(operate.Selection{}), "idemgen dead list"},
		{listCommand(all), "idemgen dead list --topic t.v1" + every},
		{askCommand("replay", operate.Selection{Consumer: "c"}), ""},
		{askCommand("replay", operate.Selection{Topic: "t.v1", Consumer: "c"}), "idemgen dead replay t.v1 --all --consumer c --reason why"},
		{askCommand("discard", all), "idemgen dead discard t.v1" + every + " --reason why"},
		{askCommand("discard", operate.Selection{Topic: "a b", Class: "x"}), "idemgen dead discard 'a b' --class x --reason why"},
		{askCommand("discard", operate.Selection{Topic: "t", Event: "x"}), "idemgen dead discard t --event x --reason why"},
		{askCommand("discard", operate.Selection{Topic: "t", Error: "x"}), "idemgen dead discard t --error x --reason why"},
		{askCommand("discard", operate.Selection{Topic: "t", RecordKey: "x"}), "idemgen dead discard t --record-key x --reason why"},
		{askCommand("discard", operate.Selection{Topic: "t", Former: true}), "idemgen dead discard t --former --reason why"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// A group is the page's selection of letters, with the group's own cause and where they are.
func TestTheSelectionOfAGroup(t *testing.T) {
	last := time.UnixMicro(1795811531422555).UTC()
	g := operate.Group{Consumer: "c", Topic: "t", Former: true, Last: last, Cause: operate.Cause{Class: "handler", Event: "Paid", Reason: "no #"}}
	want := operate.Selection{Consumer: "c", Topic: "t", Class: "handler", Event: "Paid", Error: "no #", Exact: true, Former: true}
	for _, of := range []operate.Selection{{}, {Consumer: "c"}, {Topic: "t"}, {Class: "x", Event: "y", Error: "z"}} {
		l := &letters{Selection: of}
		if got, err := parseSelection(string(l.GroupQuery(g))); err != nil || got != want {
			t.Errorf("of %+v: %+v, %v; want %+v", of, got, err, want)
		}
		through := want
		through.Through = operate.Mark{At: last, Stream: 1<<31 - 1, Offset: 1<<63 - 1, Seq: 1<<63 - 1}
		if got, err := parseSelection(string(l.AskQuery(g))); err != nil || got != through {
			t.Errorf("of %+v: %+v, %v; want %+v", of, got, err, through)
		}
	}
	l := &letters{Selection: operate.Selection{Consumer: "mine", Topic: "own", RecordKey: "k"}}
	want.Consumer, want.Topic, want.RecordKey = "mine", "own", "k"
	if got, err := parseSelection(string(l.GroupQuery(g))); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// An error is answered with its text and the status that fits, without the address of the
// database.
func TestErrorsOfPages(t *testing.T) {
	read, err := pgxpool.New(t.Context(), "postgres://someone:secret@127.0.0.1:1/shop")
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	c := &console{log: slog.New(slog.DiscardHandler), read: read}
	const away = "503 the database shop does not respond: "
	for want, err := range map[string]error{
		"400 no such verb": errors.New("no such verb"),
		"404 this database has no ledger of consumer x, nor any other: is it the right one?": &operate.NotFoundError{Name: operate.Name{Consumer: "x", Partition: operate.Any}},
		away + "it took too long":                                                 context.DeadlineExceeded,
		away + "it rejected the connection, SQLSTATE 28P01":                       errors.Join(new(pgconn.ConnectError), &pgconn.PgError{Code: "28P01"}),
		away + "it cannot be reached":                                             new(pgconn.ConnectError),
		"400 : no right (SQLSTATE 42501)":                                         &pgconn.PgError{Code: "42501", Message: "no right"},
		"503 the database took longer than 5s: choose a topic, or a smaller part": &pgconn.PgError{Code: "57014"},
	} {
		if status, text := c.explained(err); fmt.Sprint(status, " ", text) != want {
			t.Errorf("got %d %s, want %s", status, text, want)
		}
	}
}

// A page says what was done for a minute.
func TestWhatWasDoneIsSaidForAMinute(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for at, want := range map[string]string{
		"2026-01-02T03:04:05Z": "released", "2026-01-02T03:03:05Z": "released", "2026-01-02T03:03:04Z": "", "": "", "now": "",
	} {
		s := shown{Now: now, form: url.Values{"at": {at}, "done": {"released"}}}
		if got := s.Done(); got != want {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
	}
}

// Parts of a request are numbers that are not negative, and of their size.
func TestNumbersOfARequest(t *testing.T) {
	for text, want := range map[string]string{
		"partition=3&offset=4&consumer=c&topic=t": "t/3 of c 4 <nil>", "partition=0&offset=0&topic=t&consumer=c": "t/0 of c 0 <nil>",
		"partition=-1&offset=4": `partition must be a whole number, not "-1"`, "partition=x": `partition must be a whole number, not "x"`, "partition=2147483648": `partition must be a whole number, not "2147483648"`,
		"partition=1&offset=-4": `offset must be a whole number, not "-4"`, "partition=1": `offset must be a whole number, not ""`,
	} {
		form, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		name, offset, err := (&request{form: form}).place()
		if got := fmt.Sprint(name, " ", offset, " ", err); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The page of a name is found for its method, and for HEAD as for GET.
func TestPagesByNameAndMethod(t *testing.T) {
	p, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]bool{"GET dead": true, "HEAD dead": true, "POST dead": false, "GET act": true, "POST act": true, "HEAD act": true, "GET none": false, "PUT act": false} {
		method, name, _ := strings.Cut(of, " ")
		if got := p.named(name, method); (got != nil) != want || got != nil && (got.name != name || got.method != strings.Replace(method, "HEAD", "GET", 1)) {
			t.Errorf("%s: %+v", of, got)
		}
	}
}
