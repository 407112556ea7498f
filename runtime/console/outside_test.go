package console_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A row of a process that cannot be read takes no page from anybody, and is shown for what it is.
// A way out that is about another consumer is no button, and is not taken.
func TestOneRowTakesNoPageAway(t *testing.T) {
	s := troubled(t)
	foreign := strings.Replace(release, "projector", "other", 1)
	idemtest.Exec(t, s.db, `INSERT INTO idem_process (process, consumer, name, version, every, report) VALUES (gen_random_uuid(), 'other', 'bad, process 9', '', '5 seconds', '{"partitions": 1}');
		UPDATE idem_process SET report = jsonb_set(report, '{partitions,0,ways}', (report #> '{partitions,0,ways}') || '[{"code": "record-refused", "consumer": "other"}]') WHERE consumer = 'projector'`)
	const at = "consumer=projector&topic=orders.v1&partition=0"
	for _, page := range []string{"", "dead", "dead?list=1", "find?topic=orders.v1&at=0:3", "history", "effects", "outbox", "guarantees", "letter?offset=1&" + at} {
		s.has(page, "HALTED 1")
	}
	s.has("", "bad, process 9", "unreadable-report", "cannot be read")
	s.has("partition?"+at, release)
	if page := s.get("partition?" + at); strings.Contains(page, "--consumer other") {
		t.Errorf("a way of another consumer is shown:\n%s", page)
	}
	form, _ := url.ParseQuery(at + "&reason=x&way=" + url.QueryEscape(foreign))
	if r := s.do(http.MethodPost, "act", form); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a way of another consumer is taken: %d", r.StatusCode)
	}
}

// Behind something that takes a prefix off the address, each form leads to a page below the
// prefix.
func TestFormsStayBelowAPrefixThatIsTakenOff(t *testing.T) {
	s := troubled(t)
	forms := map[string]string{ // in the order of their names, each still has something to do
		"act": "way=" + url.QueryEscape(release), "ask": "verb=replay&class=database&through=4102444800000000.2147483647.9.9",
		"asked": "at=1", "letter": "offset=3&verb=replay",
	}
	inner := s.handler
	s.handler = http.StripPrefix("/some/prefix", inner)
	for _, route := range console.Routes() {
		if route.Method != http.MethodPost {
			continue
		}
		text, known := forms[route.Name]
		if !known {
			t.Errorf("no form for %s: add one", route.Name)
		}
		form, err := url.ParseQuery(text + "&consumer=projector&topic=orders.v1&partition=0&reason=test")
		if err != nil {
			t.Fatal(err)
		}
		r := s.do(route.Method, route.Name, form)
		if r.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %d %s", route.Name, r.StatusCode, body(t, r))
			continue
		}
		from, _ := url.Parse("http://ops.example.com/some/prefix/" + route.Name)
		to, err := from.Parse(r.Header.Get("Location"))
		page, below := strings.CutPrefix(to.String(), "http://ops.example.com/some/prefix/")
		if err != nil || !below {
			t.Errorf("%s leads to %s, %v", route.Name, to, err)
			continue
		}
		s.get(page)
	}
}

// The history is a file that no spreadsheet takes for formulas, whatever separates its cells.
func TestHistoryHasNoFormulas(t *testing.T) {
	s := troubled(t)
	const call = "=HYPERLINK(A1)"
	for n, why := range []string{call, "\n" + call, "x;" + call, `x";"` + call, "x; " + call, "x\t" + call, "x\r" + call, "x," + call, "x|" + call, "x\n" + `"` + call, "\u00a0" + call, "＝1", "x;-1+1", "x;@SUM(1)", "x\n+1"} {
		if _, err := s.db.Exec(t.Context(), `INSERT INTO idem_operator SELECT stream, 1 + $1, 'o', 0, 0, now(), 'operator ' || $2::text || ': ' || $2::text FROM idem_stream WHERE partition = 1`, n, why); err != nil {
			t.Fatal(err)
		}
	}
	file := s.get("history.csv")
	if n := strings.Count(file, call); n != 2*11 {
		t.Errorf("%d calls are in the file:\n%s", n, file)
	}
	if found := regexp.MustCompile(`(?m)(?:^|[,;|\t\r\n])[\s\p{Zs}"]*[=+\-@＝].*`).FindAllString(file, -1); found != nil {
		t.Errorf("formulas: %q", found)
	}
	records, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(records) < 15 || len(records[1]) != 10 {
		t.Errorf("it is no CSV: %v", err)
	}
}

// A record key by which somebody filters is a value of a record, and so may be a text of an error:
// the log has neither, whatever is done with them.
func TestLogHasNoKey(t *testing.T) {
	s := troubled(t)
	if _, err := s.db.Exec(t.Context(), `UPDATE idem_dead_letter SET order_key = $1`, record.OrderKey([]byte("SECRETKEY"))); err != nil {
		t.Fatal(err)
	}
	const selection = "consumer=projector&topic=orders.v1&class=database&through=4102444800000000.2147483647.9.9&key=SECRETKEY&error=value+%23+too"
	for _, route := range console.Routes() {
		form, err := url.ParseQuery(selection + "&verb=replay&reason=mended&at=1&partition=0&offset=1&back=" + url.QueryEscape(selection))
		if err != nil {
			t.Fatal(err)
		}
		page := route.Name
		if route.Method == http.MethodGet {
			page, form = page+"?"+form.Encode(), nil
		}
		s.do(route.Method, page, form)
	}
	log := s.log.String()
	if !strings.Contains(log, "selection.by_key=true") || !strings.Contains(log, "selection.by_error=true") || !strings.Contains(log, "asked=") {
		t.Errorf("nothing was requested: %s", log)
	}
	for _, secret := range []string{"SECRETKEY", "value #", "value+", "SECRET"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log: %s", secret, log)
		}
	}
}

// No page has a form that would be refused: neither for a user who may not act, nor where the
// operators' role lacks a right. There it says which right, and how to grant it.
func TestFormsNeedTheRightsOfTheRole(t *testing.T) {
	s := troubled(t)
	s.user.Act = false
	if page := s.get("dead"); strings.Contains(page, "Replay 3") {
		t.Error("a form for a user who may not act")
	}
	s.user.Act = true
	s.has("dead", "Replay 3")
	s.handler = handler(t, s, s.reader)
	s.has("dead", "Requests are not possible", "GRANT UPDATE ON idem_dead_letter TO", "Show the letters")
	for _, page := range []string{"", "dead", "dead?list=1&topic=orders.v1", "letter?consumer=projector&topic=orders.v1&partition=0&offset=1"} {
		if is := s.get(page); strings.Contains(is, `method="post"`) || strings.Contains(is, "ask?verb=") {
			t.Errorf("page %q has a form:\n%s", page, is)
		}
	}
	idemtest.Exec(t, s.db, fmt.Sprintf(`GRANT INSERT, DELETE ON idem_ledger TO %[1]s; GRANT INSERT ON idem_stream TO %[1]s; GRANT UPDATE (asked) ON idem_dead_letter TO %[1]s;
		GRANT USAGE ON SEQUENCE idem_fence TO %[1]s`, "reader_"+s.db.Config().ConnConfig.Database))
	eventually(t, func() bool { return strings.Contains(s.get("dead"), "Replay 3") })
}

// Where a migration locks a table of the runtime, the overview says who holds it and how to end
// that, in place of an error.
func TestOverviewOfALockedLedger(t *testing.T) {
	s := troubled(t)
	tx, err := s.db.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), `SET LOCAL application_name = 'a migration'; LOCK TABLE idem_ledger IN ACCESS EXCLUSIVE MODE`, pgx.QueryExecModeSimpleProtocol)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		page := s.get("")
		return strings.Contains(page, "LOCKED") && strings.Contains(page, "Table idem_ledger: held by pid") && strings.Contains(page, "<span>Ready</span><strong>?</strong>") && strings.Contains(page, "pg_terminate_backend")
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return !strings.Contains(s.get(""), "LOCKED") })
}
