package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A request whose letters take long to store is answered before that is over.
func TestALongRequestIsAnswered(t *testing.T) {
	s := troubled(t)
	ask := link(t, s.get("dead"), "ask?verb=replay&amp;class=database")
	form, _ := url.ParseQuery(strings.TrimPrefix(ask, "ask?"))
	form.Set("reason", "mended")
	idemtest.Exec(t, s.db, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN new; END $$;
		CREATE TRIGGER slow BEFORE UPDATE ON idem_dead_letter FOR EACH ROW EXECUTE FUNCTION slow()`)
	r := s.do(http.MethodPost, "ask", form)
	if to := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || !strings.Contains(to, "running=1") || s.asked() != "0 0" {
		t.Errorf("%d %s %s, requested are %s", r.StatusCode, to, body(t, r), s.asked())
	}
	eventually(t, func() bool { return s.asked() == "3 0" })
}

// asked counts the letters about which something was requested, by what.
func (s *site) asked() (is string) {
	s.t.Helper()
	err := s.db.QueryRow(s.t.Context(), `SELECT concat(count(*) FILTER (WHERE asked = 'r'), ' ', count(*) FILTER (WHERE asked = 'x')) FROM idem_dead_letter`).Scan(&is)
	if err != nil {
		s.t.Fatal(err)
	}
	return is
}

// A request about many letters is made only if it was confirmed as it is: the number is typed, a
// box is ticked where something could happen twice or never, and no further letter matches.
func TestManyLettersAreRequestedAsConfirmed(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record)
SELECT stream, n, 0, 'd', 'OrderPaid', 'handler: OrderPaid: no', '\x00' FROM idem_stream, generate_series(100, 219) n WHERE partition = 0`)
	ask := link(t, s.get("dead"), "ask?verb=replay&amp;class=handler")
	s.has(ask, "Replay 120 dead letters?")
	for _, c := range []struct {
		change string // of the form
		want   string // on the page that refuses it; "" if the request is made
	}{
		{"verb=erase", "letters can be replayed or discarded"},
		{"through=", "the request does not name the newest letter that it includes"},
		{"topic=&consumer=", "choose a topic or a consumer first"},
		{"", "type 120, the number of letters, to confirm"},
		{"count=12", "type 120, the number of letters, to confirm"},
		{"count=120&verb=discard", "check the box in the form to confirm the request"},
		{"count=120&verb=discard&sure=no", "check the box in the form to confirm the request"},
		{"count=120&meant=119", "Replay 120 dead letters?"},
		{"count=120&reason=", "reason"},
		{"count=1 20&meant=120", ""},
	} {
		form, _ := url.ParseQuery(strings.TrimPrefix(ask, "ask?"))
		form.Set("reason", "mended")
		change, _ := url.ParseQuery(c.change)
		for name, values := range change {
			form[name] = values
		}
		r := s.do(http.MethodPost, "ask", form)
		text := html.UnescapeString(body(t, r))
		if made := r.StatusCode == http.StatusSeeOther; made != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%q: %d %s", c.change, r.StatusCode, text)
		}
		if is := s.asked(); is != map[bool]string{true: "120 0", false: "0 0"}[c.want == ""] {
			t.Errorf("%q: requested are %s", c.change, is)
		}
	}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// The form of a confirmation asks about the letters that its page counts, whatever their error
// holds: a browser sends other ends of lines, and a page shows hidden characters by their numbers.
func TestAConfirmationAsksAboutWhatItCounts(t *testing.T) {
	t.Cleanup(console.KeepNothing())
	s := troubled(t)
	for i, reason := range []string{"first\nsecond", "cursor\x1b[2Jmoved", strings.Repeat("word ", 60) + "more", " in blanks "} {
		idemtest.Exec(t, s.db, `DELETE FROM idem_dead_letter`)
		id := stream(t, s.db, int32(50+i), 10)
		dead(t, s.db, id, 3, "handler: OrderPaid: "+reason, wire.Message{Topic: "orders.v1", Value: []byte("x")})
		ask := link(t, s.get("dead?topic=orders.v1"), "ask?verb=replay&amp;")
		form := url.Values{"reason": {"mended"}}
		for _, field := range hiddenField.FindAllStringSubmatch(s.get(ask), -1) {
			form.Set(field[1], strings.ReplaceAll(html.UnescapeString(field[2]), "\n", "\r\n"))
		}
		if r := s.do(http.MethodPost, "ask", form); r.StatusCode != http.StatusSeeOther || s.asked() != "1 0" {
			t.Errorf("%q: %d, requested are %s", reason, r.StatusCode, s.asked())
		}
	}
}
