package operate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// letters stores n open letters in a stream, from an offset on, a second apart and the last one
// now.
func letters(t testing.TB, db *pgxpool.Pool, stream int32, from, n int, reason string) {
	t.Helper()
	idemtest.Exec(t, db, fmt.Sprintf(`INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record, order_key, created_at)
		SELECT %d, %d + i, i, 'd', 'OrderPaid', replace($$%s$$, 'N', i::text), 'x', md5((i / 10)::text)::uuid, clock_timestamp() - (%d - i) * interval '1 second' FROM generate_series(1, %d) i`,
		stream, from, reason, n, n))
}

// Every letter of a selection is on exactly one page, although many were stored at one moment and
// each page searches only a part.
func TestPagesHaveEachLetterOnce(t *testing.T) {
	db := database(t)
	a := begin(t, db, orders, oldID)
	b := begin(t, db, operate.Name{Consumer: orders.Consumer, Topic: "other.v1"}, oldID)
	letters(t, db, a.stream, 0, 60, "database: OrderPaid: rare N")
	letters(t, db, b.stream, 0, 30_000, "handler: OrderPaid: frequent N")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET created_at = clock_timestamp() - (30000 - seq) * interval '20 milliseconds' WHERE reason LIKE 'handler%';
		UPDATE idem_dead_letter SET created_at = date_trunc('second', created_at), reason = CASE WHEN seq % 500 = 0 THEN 'database: OrderPaid: rare 7' ELSE reason END; ANALYZE idem_dead_letter`)
	for _, limit := range []int{20, 70} { // pages that end at their limit, and where the search does
		seen := map[operate.Mark]int{}
		for next := (&operate.Mark{}); next != nil; {
			p, err := operate.Page(t.Context(), db, operate.Selection{Consumer: orders.Consumer, Error: "rare #"}, *next, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range p.Letters {
				seen[l.Mark()]++
			}
			next = p.Next
		}
		want(t, "letters", len(seen), 60+30_000/500)
		for m, n := range seen {
			want(t, fmt.Sprint(m), n, 1)
		}
	}
	groups, err := operate.GroupsOf(t.Context(), db, operate.Selection{Topic: orders.Topic})
	if err != nil || len(groups.Groups) != 1 || groups.Older != nil {
		t.Fatalf("groups of a topic: %v %v", groups, err)
	}
	want(t, "group", fmt.Sprint(groups.Groups[0].Cause, groups.Groups[0].Count), "{database OrderPaid rare #  } 60")
}

// A request about a selection is stored in the letters up to the newest one that was seen, and in
// no other; those that a replay must not touch are counted.
func TestRequestAboutASelection(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	letters(t, db, w.stream, 0, 4000, "database: OrderPaid: value N too long")
	letters(t, db, w.stream, 10_000, 100, "handler: OrderPaid: refused N")
	seen, err := operate.Page(t.Context(), db, operate.Selection{Topic: orders.Topic}, operate.Mark{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	letters(t, db, w.stream, 20_000, 10, "database: OrderPaid: value N too long")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET created_at = clock_timestamp() WHERE offs > 20000;
		UPDATE idem_dead_letter SET record = NULL WHERE offs IN (7, 8);
		UPDATE idem_dead_letter SET reason = 'interrupted: OrderPaid: value 9 too long' WHERE offs = 9;
		UPDATE idem_dead_letter SET state = 'w' WHERE offs = 10;
		UPDATE idem_dead_letter SET asked = 'x', asked_at = now(), asked_by = 'bob: before' WHERE offs = 11`)
	all := operate.Selection{Topic: orders.Topic, Error: "value # too long"}
	if _, err := operate.AskAll(t.Context(), db, all, "replay", ann); err == nil {
		t.Error("a request without the newest letter that was seen was accepted")
	}
	all.Through = seen.Letters[0].Mark()
	count, err := operate.CountOf(t.Context(), db, all, "replay")
	want(t, "count", fmt.Sprint(count, err), "{3995 0 0 {1 2 0} 1 1 <nil>} <nil>")
	asked, err := operate.AskAll(t.Context(), db, all, "replay", ann)
	if err == nil {
		err = asked.Run(t.Context())
	}
	want(t, "asked", fmt.Sprint(asked.Count, asked.Left, err), "3995 {1 2 0} <nil>")
	var is string
	if err := db.QueryRow(t.Context(), `SELECT string_agg(concat(asked, ' ', asked_by, ' ', n), ', ' ORDER BY asked, asked_by) FROM
		(SELECT asked, asked_by, count(*) AS n FROM idem_dead_letter GROUP BY 1, 2) d`).Scan(&is); err != nil {
		t.Fatal(err)
	}
	want(t, "letters", is, "r ann: a test 3995, x bob: before 1,   114")
	progress, err := operate.ProgressOf(t.Context(), db, asked.At)
	want(t, "progress", fmt.Sprint(progress, err), "{ann: a test 3995 0 0 0 0 replay []} <nil>")
	acts, err := operate.History(t.Context(), db, "", false, 10)
	if err != nil || len(acts) != 3 {
		t.Fatal(acts, err)
	}
	want(t, "act", fmt.Sprint(acts[0].What, acts[0].By, acts[0].Why, acts[0].Letters), "replayanna test3995")
}

// An act of an operator is named by what it did, not by the kind of its row.
func TestHistoryNamesActs(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	if _, err := operate.Release(t.Context(), db, orders, operate.Leave{}, ann); err != nil {
		t.Fatal(err)
	}
	remade := orders
	remade.TopicID = newID
	if _, err := operate.Set(t.Context(), db, remade, operate.Target{From: halt.NoLedger, To: 7}, ann); err != nil {
		t.Fatal(err)
	}
	acts, err := operate.History(t.Context(), db, "", false, 10)
	if err != nil {
		t.Fatal(err)
	}
	var what []string
	for _, a := range acts {
		what = append(what, a.What)
	}
	want(t, "acts", fmt.Sprint(what), "[read from offset 7 release genesis]")
}

// What operators did stays in the history, however many letters were answered since.
func TestHistoryIsNotBuriedUnderAnswers(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	if _, err := operate.Release(t.Context(), db, orders, operate.Leave{}, ann); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, fmt.Sprintf(`INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
		SELECT %d, n, gen_random_uuid(), 10, 10, 'l', -1, 3, 4, 0 FROM generate_series(2, 8000) n`, w.stream))
	acts, err := operate.History(t.Context(), db, "", false, 10)
	if err != nil || len(acts) != 2 || acts[0].By != "ann" {
		t.Errorf("got %+v, %v", acts, err)
	}
}

// An exact selection is one group, whatever other letters contain.
func TestAnExactSelectionIsOneGroup(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	letters(t, db, w.stream, 0, 3, "handler: OrderPaid: timeout")
	letters(t, db, w.stream, 100, 5, "handler: OrderPaid: timeout of call N")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET event = NULL, reason = 'handler: timeout' WHERE offs = 1`)
	for _, tc := range []struct {
		event, text string
		want        int
	}{{"OrderPaid", "timeout", 2}, {"OrderPaid", "timeout of call #", 5}, {"", "timeout", 1}} {
		s := operate.Selection{Topic: orders.Topic, Class: "handler", Event: tc.event, Error: tc.text, Exact: true}
		page, err := operate.Page(t.Context(), db, s, operate.Mark{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		count, err := operate.CountOf(t.Context(), db, s, "replay")
		want(t, "letters", fmt.Sprint(len(page.Letters), count.Meant, err), fmt.Sprint(tc.want, tc.want, " <nil>"))
		list, err := operate.Letters(t.Context(), db, s, 1)
		want(t, "list", fmt.Sprint(len(list.Letters), list.More, list.Sums, err), fmt.Sprintf("1 %t [{handler %d}] <nil>", tc.want > 1, tc.want))
		s.Through = page.Letters[0].Mark()
		asked, err := operate.AskAll(t.Context(), db, s, "replay", ann)
		if err == nil {
			err = asked.Run(t.Context())
		}
		want(t, "asked", fmt.Sprint(asked.Count, err), fmt.Sprint(tc.want, " <nil>"))
	}
}

// Letters of a topic that was made again can be read and discarded, with those parked behind them,
// although no process owns them. They cannot be replayed.
func TestLettersOfAFormerTopic(t *testing.T) {
	db := database(t)
	was := begin(t, db, orders, oldID)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '1 hour'`)
	begin(t, db, orders, newID)
	letters(t, db, was.stream, 0, 4, "handler: OrderPaid: refused")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET order_key = md5('k')::uuid, state = CASE WHEN offs IN (2, 3) THEN 'w'::"char" ELSE 'd' END WHERE offs < 4`)
	o, err := operate.Open(t.Context(), db, orders, 4)
	if err != nil || !o.Former || o.Record == nil && o.Damaged == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	one, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: orders.Consumer, Topic: orders.Topic, Offset: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operate.Ask(t.Context(), db, one, "replay", nil, ann); err == nil || !strings.Contains(err.Error(), "it can only be discarded") {
		t.Errorf("replay: %v", err)
	}
	now, err := operate.Ask(t.Context(), db, one, "discard", nil, ann)
	if err != nil || now[0].State != "discarded" || now[0].End.By != "ann: a test" {
		t.Errorf("%+v, %v", now, err)
	}
	s := operate.Selection{Topic: orders.Topic, Through: one[0].Mark()}
	count, err := operate.CountOf(t.Context(), db, s, "replay")
	want(t, "count", fmt.Sprint(count, err), "{0 0 0 {0 0 1} 0 0 <nil>} <nil>")
	count, err = operate.CountOf(t.Context(), db, s, "discard")
	want(t, "count of a discard", fmt.Sprint(count, err), "{1 0 1 {0 0 0} 0 2 <nil>} <nil>")
	groups, err := operate.GroupsOf(t.Context(), db, operate.Selection{Former: true})
	if err != nil || len(groups.Groups) != 1 || !groups.Groups[0].Former {
		t.Errorf("groups of the former topic: %+v, %v", groups, err)
	}
	if list, err := operate.Letters(t.Context(), db, operate.Selection{Topic: orders.Topic, Exact: true, Class: "handler", Event: "OrderPaid", Error: "refused"}, 9); err != nil || len(list.Letters) > 0 {
		t.Errorf("a group of the present topic has letters of the former one: %+v, %v", list, err)
	}
	for _, tc := range []struct{ verb, want, states string }{{"replay", "0 1", "dwwx"}, {"discard", "3 0", "xxxx"}} {
		asked, err := operate.AskAll(t.Context(), db, s, tc.verb, ann)
		if err == nil {
			err = asked.Run(t.Context())
		}
		var states string
		if err == nil {
			err = db.QueryRow(t.Context(), `SELECT string_agg(state::text, '' ORDER BY offs) FROM idem_dead_letter`).Scan(&states)
		}
		want(t, tc.verb, fmt.Sprint(asked.Count, asked.Left.Former, err, states), tc.want+" <nil>"+tc.states)
	}
}

// A text of an error is found as it is written, also with characters that SQL takes for any text;
// # stands for any text.
func TestAnErrorIsFoundByItsText(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	texts := []string{"50% off", "50x off", "a_b", "axb", `c\d`, "c%d", "cd"}
	for i, text := range texts {
		if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) VALUES ($1, $2, 0, 'd', $3)`, w.stream, i, "handler: "+text); err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range map[string]string{
		"50% off": "0", "50# off": "0 1", "0%": "0", "a_b": "2", "a#b": "2 3", "_": "2", `c\d`: "4", `\`: "4", "c%d": "5", "%": "0 5", "c#d": "4 5 6", "cd": "6", "": "0 1 2 3 4 5 6",
	} {
		list, err := operate.Letters(t.Context(), db, operate.Selection{Error: part}, 10)
		if err != nil {
			t.Fatal(err)
		}
		var found []int
		for _, l := range list.Letters {
			found = append(found, int(l.Offset))
		}
		slices.Sort(found)
		if got := strings.Trim(fmt.Sprint(found), "[]"); got != want {
			t.Errorf("%q finds %s, want %s", part, got, want)
		}
	}
}

// Letters are meant by partition and then in the order of their logs, the former topic's first.
func TestLettersAreMeantInTheOrderOfTheirLogs(t *testing.T) {
	db := database(t)
	was := begin(t, db, orders, oldID)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '1 hour'`)
	second := orders
	second.Partition = 1
	is, other := begin(t, db, orders, newID), begin(t, db, second, newID)
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, created_at)
SELECT s, o, q, 'd', 'decode: bad', clock_timestamp() - random() * interval '1 minute' FROM (VALUES ($3::int, 1, 1), ($2::int, 7, 2), ($1::int, 9, 1), ($2, 3, 1), ($2, 7, 1), ($1, 5, 1)) v (s, o, q)`,
		was.stream, is.stream, other.stream)
	meant, _, err := operate.Meant(t.Context(), db, operate.Selection{Consumer: orders.Consumer, Topic: orders.Topic}, "discard")
	var got []string
	for _, l := range meant {
		got = append(got, fmt.Sprintf("%s %d:%d %d", l.TopicID[35:], l.Partition, l.Offset, l.Seq))
	}
	want(t, "letters", fmt.Sprint(got, err), "[1 0:5 1 1 0:9 1 2 0:3 1 2 0:7 1 2 0:7 2 2 1:1 1] <nil>")
}

// An offset of a topic that was made again means the letter of the present one, even if its ledger
// is the older one. A letter of the former one is meant by its topic id, or if there is no other.
func TestAnOffsetMeansTheLetterOfThePresentTopic(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	typo := orders
	typo.TopicID = newID
	_, err := operate.Set(t.Context(), db, typo, operate.Target{From: halt.NoLedger, To: 0}, ann)
	if err != nil {
		t.Fatal(err)
	}
	w.batch(5) // so this one is the present one
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason)
SELECT stream, o, 1, 'd', 'decode: bad' FROM idem_stream, (VALUES (7), (8)) v (o) WHERE o = 7 OR topic_id = $1`, newID)
	for place, want := range map[operate.Place]string{{Offset: 7}: oldID, {Offset: 7, TopicID: newID}: newID, {Offset: 8}: newID} {
		place.Consumer, place.Topic = orders.Consumer, orders.Topic
		found, err := operate.FindLetters(t.Context(), db, []operate.Place{place})
		if err != nil || len(found) != 1 || found[0].TopicID != want {
			t.Errorf("%+v means %+v, %v", place, found, err)
		}
	}
}

// A request about more letters than are changed at a time is made of all of them.
func TestManyLettersAreAskedAbout(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	letters(t, db, w.stream, 0, 1001, "handler: OrderPaid: refused")
	meant, _, err := operate.Meant(t.Context(), db, operate.Selection{Topic: orders.Topic}, "discard")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := operate.Ask(t.Context(), db, meant, "discard", nil, ann)
	if err == nil {
		asked, err = operate.TakeBack(t.Context(), db, asked, ann)
	}
	want(t, "letters", fmt.Sprint(len(meant), len(asked), err), "1001 1001 <nil>")
	for _, l := range asked {
		if l.Asked() != "" || l.Request.Answer != "withdrawn by ann: a test" {
			t.Fatalf("%+v", l.Request)
		}
	}
	idemtest.Exec(t, db, `DELETE FROM idem_dead_letter WHERE offs = 501`)
	_, err = operate.Refresh(t.Context(), db, asked)
	refused(t, err, "orders.v1/0 offset 501 of projector: the row of the letter was deleted")
	_, err = operate.Ask(t.Context(), db, asked, "discard", nil, ann)
	refused(t, err, "the row of the letter was deleted")
}
