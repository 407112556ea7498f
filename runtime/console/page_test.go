package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const release = "idemgen stream release --consumer projector --topic orders.v1 --partition 0 --reason record-refused"

// retries is the way of release, as a process reports it.
var retries = halt.Way{Code: halt.RecordRefused}

// troubled is a service with a halted partition, one that retries, one that works, one that nobody
// reports, and dead letters of two causes.
func troubled(t testing.TB) *site {
	db := database(t)
	first := stream(t, db, 0, 10)
	for n := range int32(3) {
		stream(t, db, n+1, 10)
	}
	reports(t, db, "a, process 1", 1,
		partition(0, "HALTED", "record-refused", "total overflows", retries), partition(1, "BACKOFF", "backoff", "disk full"), partition(2, "READY", "", ""))
	for n := range 3 {
		dead(t, db, first, int64(n), "database: OrderPaid: value "+string(rune('7'+n))+" too long", wire.Message{Value: []byte(`{"id": 1, "card": "SECRET"}`)})
	}
	dead(t, db, first, 3, "decode: not JSON", wire.Message{Value: []byte(`SECRET`)})
	return open(t, db)
}

// The overview says what makes no progress, the halted before what retries, and never calls fine
// what no process reports.
func TestOverview(t *testing.T) {
	s := troubled(t)
	s.has("", "1 partition halted", "4 dead letters", "1 partition not known", "1 partition retries by itself", "Total overflows", "Disk full",
		"No process reports it", "1 of 4 ready", "a, process 1", "v1.2.3", "PRODUCTION", "<title>HALTED 1", "value # too long")
	page := s.get("")
	if strings.Index(page, "Total overflows") > strings.Index(page, "Disk full") {
		t.Error("what retries comes before what is halted")
	}
	idemtest.Exec(t, s.db, `UPDATE idem_process SET seen_at = clock_timestamp() - interval '1 minute'`)
	s.do(http.MethodPost, "letter", url.Values{}) // nothing that was kept is shown
	eventually(t, func() bool { return strings.Contains(s.get(""), "no process of projector is left") })
}

// A halted partition without a ledger is shown as a halted one.
func TestOverviewShowsAHaltWithoutALedger(t *testing.T) {
	db := database(t)
	reports(t, db, "a, process 1", 1, partition(0, "HALTED", "ledger-missing", "the ledger is missing", retries))
	open(t, db).has("", "1 partition halted", "The ledger is missing", "<title>HALTED 1")
}

// A pause is no breakage: the pages say who paused it, since when and why, and resume it.
func TestAPauseIsEndedByThePage(t *testing.T) {
	db := database(t)
	id := stream(t, db, 0, 10)
	idemtest.Exec(t, db, `INSERT INTO idem_ledger SELECT stream, 1, gen_random_uuid(), next, next, 'p', 'o', -1, 3, 4, 0, '2026-01-02T03:04:05Z', NULL, 'operator ann: repair'
FROM idem_ledger WHERE stream = $1`, id)
	const resume = "idemgen stream resume --consumer projector --topic orders.v1 --partition 0 --reason paused"
	reports(t, db, "a, process 1", 1, partition(0, "PAUSED", "paused", "paused at 2026-01-02T03:04:05Z by operator ann: repair", halt.Way{Code: halt.Paused}))
	s := open(t, db)
	const at = "consumer=projector&topic=orders.v1&partition=0"
	s.has("", "1 partition paused", "<title>PAUSED 1", `<h1 class="banner passing">`, `<li class="card passing">`, "by operator ann: repair", `href="partition?consumer=projector&amp;partition=0&amp;topic=orders.v1">Resume</a>`)
	s.has("partition?"+at, `<span class="state passing">PAUSED</span>`, "paused at 2026-01-02T03:04:05Z by operator ann: repair", "An operator paused the partition", resume, "continues where it was paused")
	form, _ := url.ParseQuery(at + "&reason=repaired&way=" + url.QueryEscape(resume))
	if r := s.do(http.MethodPost, "act", form); r.StatusCode != http.StatusSeeOther {
		t.Fatal(r.StatusCode, body(t, r))
	}
	s.has("history", "repaired", "pause", "ann")
	s.has("partition?"+at, "Wait until the owner reports again")
}

// A halted partition is released by the page alone, and the history says who did it, and why.
func TestAHaltIsEndedByThePage(t *testing.T) {
	s := troubled(t)
	at := "consumer=projector&topic=orders.v1&partition=0"
	s.has("partition?"+at, "A record is rejected", "Nothing is lost or repeated", "idemgen stream release --consumer projector", "Nothing.")
	way := url.QueryEscape(release)
	s.has("act?"+at+"&way="+way, "the partition retries", "operator", `name="reason" required`)
	form, _ := url.ParseQuery(at + "&way=" + way)
	if r := s.do(http.MethodPost, "act", form); r.StatusCode == http.StatusSeeOther {
		t.Error("a release without a reason was accepted")
	}
	form.Set("reason", "the column is wider now")
	r := s.do(http.MethodPost, "act", form)
	if r.StatusCode != http.StatusSeeOther {
		t.Fatal(r.StatusCode, body(t, r))
	}
	if to := r.Header.Get("Location"); !strings.Contains(s.get(strings.TrimPrefix(to, "/some/prefix/")), "orders.v1/0: the partition retries") {
		t.Errorf("%s does not say what was done", to)
	}
	s.has("history", "ana", "the column is wider now")
	s.logs(`msg="an operator acted" user=ana reason="the column is wider now" command="` + release + `" rows=1`)
	s.has("history.csv", "Z,ana,release,projector,orders.v1,0,10,10,0,the column is wider now")
	s.has("partition?"+at, "the column is wider now")
	form.Set("way", "idemgen stream set --consumer projector --topic orders.v1 --partition 0 --to 999 --reason x")
	if r := s.do(http.MethodPost, "act", form); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a command that the partition does not name: %d", r.StatusCode)
	}
}

// A group is replayed as a whole, and only it; what came after the page was read is left alone.
func TestAGroupIsReplayedByThePage(t *testing.T) {
	s := troubled(t)
	page := s.get("dead")
	ask := link(t, page, "ask?verb=replay&amp;class=database")
	var id int32
	if err := s.db.QueryRow(t.Context(), `SELECT min(stream) FROM idem_stream`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	dead(t, s.db, id, 7, "database: OrderPaid: value 99 too long", wire.Message{})
	s.has(ask, "Replay 3 dead letters?", "later ones are left alone", "idemgen dead replay orders.v1")
	form, _ := url.ParseQuery(strings.TrimPrefix(ask, "ask?"))
	form.Set("reason", "mended")
	r := s.do(http.MethodPost, "ask", form)
	if r.StatusCode != http.StatusSeeOther {
		t.Fatal(r.StatusCode, body(t, r))
	}
	asked := r.Header.Get("Location")
	s.has(asked, "ana: mended", `<td class="n">3</td><td>pending`)
	var is string
	if err := s.db.QueryRow(t.Context(), `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE asked = 'r'`).Scan(&is); err != nil || is != "0 1 2" {
		t.Errorf("requested: %s, %v", is, err)
	}
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET asked = NULL, answer = 'database: OrderPaid: still too long', answered_at = now() WHERE offs = 1;
		UPDATE idem_dead_letter SET asked = NULL, state = 'r', resolved_at = now() WHERE offs = 2`)
	s.has(asked, `<td class="n">1</td><td>pending`, `<td class="n">1</td><td>replayed`, "rejected again</span>", "still too long")
	s.has("history", "replay of 3", "mended")
	_, back, _ := strings.Cut(asked, "?")
	withdraw, _ := url.ParseQuery(back)
	withdraw.Set("reason", "not yet")
	if r := s.do(http.MethodPost, "asked", withdraw); r.StatusCode != http.StatusSeeOther {
		t.Errorf("withdraw: %d %s", r.StatusCode, body(t, r))
	}
	s.has(asked, `<td class="n">0</td><td>pending`, `<td class="n">1</td><td>withdrawn`)
	s.logs(`msg="an operator made a request about dead letters" user=ana reason=mended verb=replay selection.consumer=`, ` selection.topic=orders.v1 selection.class=database `, ` asked=3 `, ` err=<nil>`,
		`msg="an operator withdrew a request about dead letters" user=ana reason="not yet" at=`+withdraw.Get("at")+"\n")
}

// A letter shows its record only to who may see it, without what is sensitive, and each view is
// logged. It is decided on its page.
func TestALetterIsDecidedOnItsPage(t *testing.T) {
	s := troubled(t)
	at := "consumer=projector&topic=orders.v1&partition=0&offset=1"
	if page := s.get("letter?" + at); strings.Contains(page, "SECRET") || strings.Contains(page, `"id"`) || !strings.Contains(page, "Show the record") {
		t.Errorf("the record is shown without being asked for:\n%s", page)
	}
	page := s.get("record?" + at)
	if strings.Contains(page, "SECRET") || !strings.Contains(page, "&#34;card&#34;: &#34;[sensitive]&#34;") {
		t.Errorf("got\n%s", page)
	}
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET result = '{"card": "SECRET", "n": 12345}' WHERE offs = 1`)
	if page = s.get("record?" + at); strings.Contains(page, "SECRET") || !strings.Contains(page, "12345") {
		t.Errorf("what an effect returned:\n%s", page)
	}
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET response = '{"card": "SECRET", "code": "declined"}', version = 'v1.2.2' WHERE offs = 1`)
	if page = s.get("record?" + at); strings.Contains(page, "SECRET") || !strings.Contains(page, "declined") {
		t.Errorf("what the other side answered:\n%s", page)
	}
	if page = s.get("letter?" + at); strings.Contains(page, "declined") || !strings.Contains(page, "version v1.2.2") || !strings.Contains(page, "is running now (v1.2.3)") || !strings.Contains(page, "response to the call") {
		t.Error("the response is shown without being asked for")
	}
	if log := s.log.String(); !strings.Contains(log, "viewed the record") || !strings.Contains(log, "user=ana") {
		t.Errorf("the view is not logged: %s", log)
	}
	form, _ := url.ParseQuery(at + "&verb=discard&reason=test")
	if r := s.do(http.MethodPost, "letter", form); r.StatusCode != http.StatusBadRequest {
		t.Errorf("discarded without a second question: %d", r.StatusCode)
	}
	form.Set("verb", "replay")
	if r := s.do(http.MethodPost, "letter", form); r.StatusCode != http.StatusSeeOther {
		t.Errorf("replay: %d %s", r.StatusCode, body(t, r))
	}
	s.has("letter?"+at, "Withdraw the replay", "ana: test")
	form.Set("verb", "withdraw")
	if r := s.do(http.MethodPost, "letter", form); r.StatusCode != http.StatusSeeOther {
		t.Errorf("withdraw: %d", r.StatusCode)
	}
	s.has("letter?"+at, "withdrawn by ana: test", "<title>dead orders.v1/0:1")
	const letter = ` letter="orders.v1/0 offset 1 of projector"`
	s.logs(`msg="an operator viewed the record of a dead letter" user=ana`+letter, `msg="an operator decided on a dead letter" user=ana reason=test verb=replay`+letter, `user=ana reason=test verb=withdraw`+letter)
}

// An interrupted call is decided with both answers: it is made again, or its result is given.
func TestAnInterruptedCallIsDecided(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET reason = 'interrupted: OrderPaid: the outcome of the call is unknown' WHERE offs IN (0, 1)`)
	s.has("", "2 calls need a decision")
	s.has("effects", "2 interrupted calls")
	for offset, happened := range map[string]string{"0": "no", "1": "yes"} {
		at := "consumer=projector&topic=orders.v1&partition=0&offset=" + offset
		s.has("letter?"+at, "Did the call happen?")
		undecided, _ := url.ParseQuery(at + "&verb=replay&reason=asked")
		if r := s.do(http.MethodPost, "letter", undecided); r.StatusCode != http.StatusBadRequest {
			t.Errorf("a call is made again without an answer: %d", r.StatusCode)
		}
		form, _ := url.ParseQuery(at + "&verb=replay&reason=asked&happened=" + happened + "&result=" + url.QueryEscape(`{"receipt": "R-7"}`))
		if r := s.do(http.MethodPost, "letter", form); r.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %d %s", happened, r.StatusCode, body(t, r))
		}
	}
	var is string
	if err := s.db.QueryRow(t.Context(), `SELECT string_agg(concat(offs, asked, convert_from(asked_result, 'UTF8')), ' ' ORDER BY offs) FROM idem_dead_letter WHERE asked = 'r'`).Scan(&is); err != nil || is != `0r 1r{"receipt":"R-7"}` {
		t.Errorf("requested: %s, %v", is, err)
	}
}

// What became of a record is found by its place and by its key, and the other pages show what they
// are for.
func TestTheOtherPages(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, written_at) SELECT 'order', 'a', 'OrderSent', now() - interval '5 minutes' FROM generate_series(1, 3)`)
	s.has("find?topic=orders.v1&at=0:3", "dead letter", "letter?consumer=projector")
	s.has("find?topic=orders.v1&key=key%3Dabc", "not seen yet")
	s.has("find?topic=orders.v1&key=abc", "not seen yet")
	s.has("find?topic=orders.v1&at=x", "PARTITION:OFFSET")
	s.has("find?topic=nothing", "this database has no ledger of topic nothing")
	s.has("dead?list=1", "orders.v1/0:3", "orders.v1/0:0")
	s.has("dead?list=1&error=value+%23+too&topic=orders.v1", "Replay all that match")
	s.has("dead?error=nothing", "No open dead letters match")
	s.has("history?owners=1", "genesis")
	s.has("outbox", "3 events wait", "No relay of idemgen leads", "OrderSent")
	s.has("guarantees", "Its idempotency key is header")
	s.has("effects", "No call is running or failing")
}

// Partitions that are halted for one reason are released together, and each page says what was
// done while the owner has not reported again. What works has a page, too.
func TestPartitionsOfOneReasonAreReleasedTogether(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `UPDATE idem_process SET report = jsonb_set(report, '{partitions,1}', report #> '{partitions,0}' || '{"partition": 1}')`)
	at := "consumer=projector&topic=orders.v1&partition=0"
	s.has("", "2 partitions halted", `<a href="partition?consumer=projector&amp;partition=1&amp;topic=orders.v1">orders.v1/1</a>`)
	s.has("partition?"+at, "Preview for all 2 partitions", "All that are halted for this reason")
	form, _ := url.ParseQuery(at + "&all=1&reason=mended&way=" + url.QueryEscape(release))
	s.has("act?"+form.Encode(), "Confirm: 2 partitions of orders.v1")
	if r := s.do(http.MethodPost, "act", form); r.StatusCode != http.StatusSeeOther {
		t.Fatal(r.StatusCode, body(t, r))
	}
	var is string
	if err := s.db.QueryRow(t.Context(), `SELECT string_agg(concat(partition, ' ', info), ', ' ORDER BY partition) FROM idem_ledger JOIN idem_stream USING (stream) WHERE writer = 'o'`).Scan(&is); err != nil || is != "0 operator ana: mended, 1 operator ana: mended" {
		t.Errorf("rows: %s, %v", is, err)
	}
	s.has("partition?"+at, "Wait until the owner reports again")
	s.has("partition?consumer=projector&topic=orders.v1&partition=2", "READY", "lag 20")
}

// A lag that is not known of each partition is never said to be the whole, and letters that wait
// for the owner's answer are not fine.
func TestWhatIsNotKnownIsSaid(t *testing.T) {
	s := troubled(t)
	s.has("", "at least 60")
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = now() - interval '1 minute', asked_by = 'ana: x'; DELETE FROM idem_process`)
	reports(t, s.db, "a, process 1", 1, partition(0, "READY", "", ""), partition(1, "READY", "", ""), partition(2, "READY", "", ""), partition(3, "READY", "", ""))
	eventually(t, func() bool {
		page := s.get("")
		return strings.Contains(page, "4 requests about dead letters pending") && strings.Contains(page, "<title>RETRYING") && strings.Contains(page, `data-h="lag">80<`)
	})
	idemtest.Exec(t, s.db, fmt.Sprintf(`REVOKE SELECT ON idem_outbox FROM %s; DELETE FROM idem_process`, "reader_"+s.db.Config().ConnConfig.Database))
	reports(t, s.db, "a, process 1", 1, partition(0, "READY", "", ""), partition(1, "READY", "", ""), partition(2, "READY", "", ""))
	reports(t, s.db, "vm, process 2", 60, partition(3, "READY", "", ""))
	eventually(t, func() bool {
		page := s.get("")
		return strings.Contains(page, "<strong>?</strong>") && strings.Contains(page, "<p>vm, process 2 has been silent")
	})
	s.has("outbox", "has no right to read idem_outbox", "GRANT SELECT ON idem_outbox TO")
	if is := s.get("outbox"); strings.Contains(is, "Nothing was changed") || strings.Contains(is, "events wait") {
		t.Errorf("a table that cannot be read is shown as if it could, or as a failed request:\n%s", is)
	}
}

// Parked records belong to the group of the letter that they wait for. They have no group of their
// own, from which nothing could be asked.
func TestParkedRecordsBelongToTheirGroup(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET order_key = md5(offs::text)::uuid, parks = true;
		INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, order_key) SELECT stream, 100 + n, 0, 'w', 'OrderPaid', 'parked: OrderPaid: behind', md5('1')::uuid FROM idem_stream, generate_series(1, 25) n WHERE partition = 0`)
	s.has("dead", "25 parked behind them", "Replay 3", "3 record keys")
	if page := s.get("dead"); strings.Contains(page, "parked</span>") || strings.Count(page, `<li class="card">`) != 2 {
		t.Errorf("groups:\n%s", page)
	}
	s.has("letter?consumer=projector&topic=orders.v1&partition=0&offset=1", "25 parked behind it", "The first 20;", "0:101")
}

// Every link of every page leads to a page.
func TestLinksLeadSomewhere(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET order_key = md5('k')::uuid, parks = true; UPDATE idem_dead_letter SET state = 'w', reason = 'parked: behind' WHERE offs > 1;
		UPDATE idem_dead_letter SET asked = 'r', asked_at = now(), asked_by = 'ana: x' WHERE offs = 1`)
	seen, next := map[string]bool{}, []string{"", "find?topic=orders.v1&at=0:1", "dead?list=1&topic=orders.v1"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if seen[page] {
			continue
		}
		seen[page] = true
		r := s.do(http.MethodGet, page, nil)
		text := body(t, r)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", page, r.StatusCode, text)
			continue
		}
		for _, m := range regexp.MustCompile(`href="([^"#]*)"`).FindAllStringSubmatch(text, -1) {
			next = append(next, html.UnescapeString(strings.TrimPrefix(m[1], "./")))
		}
	}
	if len(seen) < 25 {
		t.Errorf("%d pages only", len(seen))
	}
}
