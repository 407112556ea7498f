package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A request that names nothing, or in a wrong way, is answered with what is wrong, and the status
// that fits; nothing is changed by it.
func TestWrongRequestsAreExplained(t *testing.T) {
	s := troubled(t)
	const at = "consumer=projector&topic=orders.v1&partition=0"
	const noMark, noLedger = `"x" does not name a dead letter`, "this database has no ledger of orders.v1/9 of projector"
	for _, c := range []struct {
		method, page string
		status       int
		want         string
	}{
		{"GET", "dead?through=x", 400, noMark}, {"GET", "dead?before=x", 400, noMark}, {"GET", "ask?verb=replay&through=x", 400, noMark},
		{"GET", "asked?at=x", 400, `at must be a whole number, not "x"`}, {"GET", "asked?at=1&back=through%3Dx", 400, noMark}, {"POST", "asked?at=x&reason=y", 400, `at must be a whole number, not "x"`},
		{"POST", "asked?at=1", 400, "a reason is required"},
		{"GET", "letter?partition=x", 400, "partition must be a whole number"}, {"GET", "letter?consumer=projector&topic=orders.v1&partition=9&offset=1", 404, noLedger},
		{"GET", "record?" + at + "&offset=9", 400, "has no dead letter at offset 9"}, {"GET", "raw?" + at + "&offset=9", 400, "has no dead letter at offset 9"}, {"POST", "letter?partition=x", 400, "partition must be a whole number"},
		{"GET", "partition?partition=x", 400, "partition must be a whole number"}, {"GET", "partition?consumer=projector&topic=orders.v1&partition=9", 400, "orders.v1/9 of projector is not known"},
		{"GET", "partition?consumer=nobody&topic=orders.v1&partition=0", 400, "is not known"}, {"GET", "partition?consumer=projector&topic=none&partition=0", 400, "is not known"},
		{"GET", "topic?consumer=projector&topic=none", 400, "none of projector is not known"}, {"GET", "topic?consumer=nobody&topic=orders.v1", 400, "is not known"},
		{"GET", "act?" + at + "&way=nonsense", 400, "this way out is no longer available: reload the page of the partition"}, {"POST", "act?" + at + "&way=nonsense&reason=x", 400, "this way out is no longer available"},
		{"POST", "act?" + at + "&way=" + url.QueryEscape(release), 400, "a reason is required"}, {"GET", "act?partition=x", 400, "partition must be a whole number"},
		{"GET", "none", 404, "404 page not found"}, {"GET", "dead/none", 404, "404 page not found"}, {"POST", "dead", 405, "this page does not accept POST"}, {"PUT", "act", 405, "this page does not accept PUT"}, {"POST", "", 405, "this page does not accept POST"},
		{"POST", console.Assets()[0], 405, "assets are read-only"}, {"HEAD", console.Assets()[0], 200, ""}, {"HEAD", "dead", 200, ""}, {"GET", "dead?x=%zz", 400, "the form cannot be read"},
	} {
		r := s.do(c.method, c.page, nil)
		text := html.UnescapeString(body(t, r))
		if r.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d, want %d %q\n%s", c.method, c.page, r.StatusCode, c.status, c.want, text)
		}
		if (r.Header.Get("Allow") == "GET") != (c.status == 405 && !strings.HasPrefix(c.want, "assets")) {
			t.Errorf("%s %s: allowed are %q", c.method, c.page, r.Header.Get("Allow"))
		}
	}
	if n := changed(t, s); n != 0 {
		t.Errorf("%d changes", n)
	}
}

// A way out that is about all partitions is taken once, and if one of several fails, the page
// says what was done before.
func TestWaysOfSeveralPartitionsAreTakenOnce(t *testing.T) {
	s := troubled(t)
	const more = `UPDATE idem_process SET report = jsonb_set(jsonb_set(report, '{partitions,0,ways}', '%[1]s'), '{partitions,1}', report #> '{partitions,0}' || '{"partition": 1, "ways": %[1]s}')`
	const at = "consumer=projector&topic=orders.v1&partition=0&all=1&reason=mended&way="
	all := halt.Way{Code: halt.PartitionsChanged, Consumer: "projector", Topic: "orders.v1", All: true, Partitions: 6}
	idemtest.Exec(t, s.db, fmt.Sprintf(more, `[{"code": "partitions-changed", "all": true, "partitions": 6}]`))
	way := url.QueryEscape(all.String())
	if page := html.UnescapeString(s.get("act?" + at + way)); strings.Count(page, "the topic may have 6 partitions, no longer 4") != 4 || strings.Count(page, all.String()) != 2 {
		t.Errorf("the preview of one command for all partitions:\n%s", page)
	}
	idemtest.Exec(t, s.db, fmt.Sprintf(more, `[{"code": "record-refused"}]`)+`;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$planted$$; END';
CREATE TRIGGER refuse BEFORE INSERT ON idem_ledger FOR EACH ROW WHEN (NEW.stream = 2) EXECUTE FUNCTION refuse()`)
	change, _ := url.ParseQuery("consumer=projector&topic=orders.v1&partition=0&offset=0&verb=replay&reason=x")
	if r := s.do(http.MethodPost, "letter", change); r.StatusCode != http.StatusSeeOther { // after it, nothing that was kept is shown
		t.Fatal(r.StatusCode, body(t, r))
	}
	form, _ := url.ParseQuery(at + url.QueryEscape(release))
	r := s.do(http.MethodPost, "act", form)
	if text := body(t, r); r.StatusCode != http.StatusBadRequest || !strings.Contains(text, "planted") || !strings.Contains(text, "1 rows were appended before this error") {
		t.Errorf("one fails: %d\n%s", r.StatusCode, text)
	}
}

// The page of a topic has the partitions of the former one of its name, and that of the
// guarantees says whose spec is not known. That of a partition has its own last five acts.
func TestPagesHaveWhatIsTheirs(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('projector', 'orders.v1', '00000000-0000-4000-8000-00000000f0e0', 0), ('audit', 'orders.v1', '00000000-0000-4000-8000-000000000001', 0), ('projector', 'other.v1', '00000000-0000-4000-8000-00000000aaaa', 0);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at)
SELECT stream, 0, gen_random_uuid(), 4711, 4711, 'g', -1, 3, 1, 0, '2026-01-01' FROM idem_stream WHERE stream > 4;
INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info)
SELECT stream, 10 + n, 'o', 5, 5, timestamptz '2026-01-02' + n * interval '1 minute', format('operator ann: because %s/%s of %s', n, partition, topic) FROM idem_stream, generate_series(1, 6) n WHERE partition < 2 AND topic_id <> '00000000-0000-4000-8000-00000000f0e0'`)
	former, present, _ := strings.Cut(s.get("topic?consumer=projector&topic=orders.v1"), "The former topic")
	if strings.Contains(former, "4 711") || !strings.Contains(present, "00000000f0e0") || strings.Count(present, "<td class=\"name\">") != 1 {
		t.Errorf("the former topic:\n%s", present)
	}
	if page := s.get("topic?consumer=projector&topic=other.v1"); strings.Contains(page, "The former topic") || strings.Count(page, `href="partition?`) != 1 {
		t.Errorf("another topic:\n%s", page)
	}
	s.has("guarantees", "The spec of audit is not known here", "Its idempotency key is header")
	page := s.get("partition?consumer=projector&topic=orders.v1&partition=0")
	for n := range 7 {
		if text := fmt.Sprintf("because %d/0 of orders.v1", n); strings.Contains(page, text) != (n > 1) {
			t.Errorf("%s: %v", text, n > 1)
		}
	}
	other := s.get("partition?consumer=projector&topic=orders.v1&partition=1")
	if strings.Contains(page, "/1 of") || strings.Contains(page, "other.v1") || strings.Contains(other, "/0 of") {
		t.Errorf("acts of other partitions:\n%s\n%s", page, other)
	}
}
