package operate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A group counts its letters: those with a request, the recent ones, their record keys, and what
// is parked behind them. It has the version of its first letter, and the topic and consumer of
// all.
func TestGroupsCountTheirLetters(t *testing.T) {
	db := database(t)
	a := begin(t, db, orders, oldID)
	b := begin(t, db, operate.Name{Consumer: "audit", Topic: orders.Topic}, oldID)
	c := begin(t, db, operate.Name{Consumer: "audit", Topic: "other.v1"}, oldID)
	idemtest.Exec(t, db, `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, version, order_key, asked, asked_at, asked_by, created_at)
SELECT CASE s WHEN 'a' THEN $1::int WHEN 'b' THEN $2::int ELSE $3::int END, o, 0, state, 'Paid', reason, version, md5(k)::uuid, CASE WHEN asked > 0 THEN 'r'::"char" END,
    timestamptz '2026-01-01 12:00Z' + asked * interval '1 minute', 'ann: x', clock_timestamp() - ago * interval '1 minute' FROM (VALUES
    ('a', 1, 'd'::"char", 'handler: Paid: no 1', 'v1', 'k', 3, 90), ('a', 2, 'd', 'handler: Paid: no 2', 'v2', 'k', 2, 59), ('a', 3, 'w', 'parked: Paid: x', NULL, 'k', 0, 58), ('a', 4, 'd', 'handler: Paid: no 3', 'v2', NULL, 0, 50),
    ('b', 5, 'd', 'handler: Paid: no 4', NULL, 'l', 0, 40), ('b', 6, 'd', 'decode: Paid: bad', 'v3', NULL, 0, 61), ('c', 7, 'd', 'decode: Paid: bad', 'v4', NULL, 0, 30),
    ('a', 8, 'd', 'database: Paid: full', NULL, NULL, 0, 20), ('a', 9, 'w', 'parked: Paid: x', NULL, 'nobody', 0, 10)
) v (s, o, state, reason, version, k, asked, ago)`, a.stream, b.stream, c.stream)
	groups, err := operate.GroupsOf(t.Context(), db, operate.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range groups.Groups {
		got = append(got, fmt.Sprintf("%s: %d, waiting %d, asked %d, recent %d, keys %d, first with %q, of %q %q, over %v", g.Text(), g.Count, g.Waiting, g.Asked, g.Recent, g.Keys, g.Version, g.Consumer, g.Topic, g.Last.Sub(g.First).Round(1e9)))
	}
	const all = `handler: Paid: no #: 4, waiting 1, asked 2, recent 3, keys 2, first with "v1", of "" "orders.v1", over 50m0s
decode: Paid: bad: 2, waiting 0, asked 0, recent 1, keys 0, first with "v3", of "audit" "", over 31m0s
database: Paid: full: 1, waiting 0, asked 0, recent 1, keys 0, first with "", of "projector" "orders.v1", over 0s`
	want(t, "groups", strings.Join(got, "\n"), all)
	s, err := operate.StateOf(t.Context(), db, "projector")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Problems {
		if p.Code == "requests" {
			want(t, "the first request", p.Since.Format("15:04"), "12:02")
		}
	}
	want(t, "groups of one consumer", fmt.Sprint(len(s.Letters.Groups), " ", s.Letters.Groups[0].Count, " ", s.Letters.Groups[0].Consumer), "2 3 projector")
}

// However many causes there are, the problems count the letters of all of them.
func TestProblemsCountTheLettersOfAllGroups(t *testing.T) {
	db := database(t)
	a := begin(t, db, orders, oldID)
	idemtest.Exec(t, db, `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, created_at)
SELECT $1, n, 0, 'd', 'Paid', CASE WHEN n = 0 THEN 'interrupted: Paid: mail' ELSE 'handler: Paid: ' || translate(n::text, '0123456789', 'abcdefghij') || ' is unknown' END,
    clock_timestamp() - (121 - n) * interval '1 minute' FROM generate_series(0, 120) n`, a.stream)
	s, err := operate.StateOf(t.Context(), db, "projector")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Problems {
		if p.Subject == operate.OfLetters {
			got = append(got, p.Title)
		}
	}
	want(t, "problems", strings.Join(got, "; "), "1 call needs a decision; 120 dead letters")
}

// The page of a conflict has the row that applied the first event with its key, as long as that
// is known, and the call that was made for the second one.
func TestAConflictHasItsFirstCopy(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, key) VALUES (1, 13, 7, 'd', 'Paid', 'conflict: Paid: other content', 'cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd'),
    (1, 12, 7, 'd', 'Paid', 'conflict: Paid: other content', 'efefefef-efef-efef-efef-efefefefefef'), (1, 11, 2, 'd', 'Paid', 'handler: Paid: no', 'cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd');
INSERT INTO idem_lease (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, result)
SELECT 'projector', key::uuid, 0, 0, state, gen_random_uuid(), 1, 1, '1m', true, '1d', now(), '{"receipt": 7}' FROM (VALUES ('cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd', 'd'::"char"), ('efefefef-efef-efef-efef-efefefefefef', 'c')) v (key, state)`)
	for offset, want := range map[int64]string{
		13: `ledger row 3 of orders.v1/0 applied it: offset 15, called true {"receipt": 7}`, 12: "no first copy, called false ", 11: "no first copy, called false ",
	} {
		o, err := operate.Open(t.Context(), db, projector, offset)
		if err != nil {
			t.Fatal(err)
		}
		got := "no first copy"
		if o.First != nil {
			got, _, _ = strings.Cut(o.First.String(), ", at ")
		}
		returned := ""
		if o.Returned != nil {
			returned = *o.Returned.Text
		}
		if got = fmt.Sprint(got, ", called ", o.Called, " ", returned); got != want {
			t.Errorf("offset %d: %s, want %s", offset, got, want)
		}
	}
	idemtest.Exec(t, db, `SELECT idem_keys_open('projector', '8 days'); INSERT INTO idem_keys (gen, key, def, fp, stream, seq) SELECT gen, 'efefefef-efef-efef-efef-efefefefefef', 3, 0, 1, 2 FROM idem_key_gen`)
	o, err := operate.Open(t.Context(), db, projector, 12)
	if err != nil || o.First == nil || !strings.HasPrefix(o.First.String(), "ledger row 2 of orders.v1/0 applied it: offsets 10 to 14") {
		t.Errorf("a key of all partitions: %+v, %v", o, err)
	}
}

// A letter has all of its record: when it was made and by whom, its key, its headers and its
// value. What is stored in another form is said to be damaged.
func TestALetterHasItsRecord(t *testing.T) {
	db := ledgers(t)
	at := noon
	stored := record.Append(nil, &wire.Message{Time: at, Key: []byte("k"), Value: []byte{0xff, 0}, Headers: []wire.Header{{Name: "a", Value: []byte("1")}, {Name: "none"}}})
	if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record, result, response) VALUES
	(1, 13, 7, 'd', 'Paid', 'handler: Paid: no', $1, 'null', 'declined'), (1, 12, 7, 'd', 'Paid', 'handler: Paid: no', $2, NULL, NULL), (1, 12, 2, 'r', 'Paid', 'decode: Paid: bad', NULL, NULL, NULL),
	(1, 14, 9, 'r', 'Paid', 'handler: Paid: no', NULL, NULL, NULL), (1, 14, 4, 'd', 'Paid', 'handler: Paid: no', NULL, NULL, NULL)`, stored, stored[:3]); err != nil {
		t.Fatal(err)
	}
	o, err := operate.Open(t.Context(), db, projector, 13)
	if err != nil {
		t.Fatal(err)
	}
	r := o.Record
	want(t, "the record", fmt.Sprint(r.Time.UTC().Equal(at), " ", r.ByBroker, " ", *r.Key.Text, " ", r.Value.Hex, " ", r.Value.Text == nil, " ", len(r.Headers), " ", r.Headers[0].Name, " ", *r.Headers[0].Value.Text, " ", r.Headers[1].Name, " ", r.Headers[1].Value == nil),
		"true false k ff00 true 2 a 1 none true")
	want(t, "beside it", fmt.Sprint(*o.Returned.Text, " ", *o.Response.Text, " ", len(o.Earlier), " ", o.Damaged, " ", *o.LedgerAge > 0, " ", o.Reported == nil), "null declined 0  true true")
	if o, err = operate.Open(t.Context(), db, projector, 12); err != nil || o.Record != nil || o.Damaged == "" || len(o.Earlier) != 1 || o.Earlier[0].Seq != 2 || o.Seq != 7 {
		t.Errorf("a damaged one: %+v, %v", o, err)
	}
	if o, err = operate.Open(t.Context(), db, projector, 14); err != nil || o.Seq != 4 || len(o.Earlier) != 1 || o.Earlier[0].Seq != 9 {
		t.Errorf("an open one before a closed one: %+v, %v", o, err)
	}
}
