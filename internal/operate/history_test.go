package operate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// actsOf returns the acts of a history, a line each.
func actsOf(t *testing.T, db operate.DB, consumer string, takeOvers bool, limit int) []string {
	t.Helper()
	acts, err := operate.History(t.Context(), db, consumer, takeOvers, limit)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, a := range acts {
		all = append(all, fmt.Sprintf("%s %s %s/%d %s by %s because %s, %d to %d, operator %v, %d letters",
			a.At.Format("15:04"), a.Consumer, a.Topic, a.Partition, a.What, a.By, a.Why, a.From, a.To, a.Operator, a.Letters))
	}
	return all
}

// The history has each act once, from whichever table still has it, with the newest first: rows of
// ledgers that are no batch, rows of operators whose ledger was cut, and requests about letters.
func TestHistoryHasEachActOnce(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
UPDATE idem_ledger SET writer = 'o' WHERE kind IN ('s', 'r');
INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES
    ('projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', 1), ('audit', 'orders.v1', '00000000-0000-4000-8000-000000000001', 0);
INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info) VALUES
    (1, 4, 's', 16, 20, '2026-11-23 09:04Z', 'operator ann: test data'), -- as the ledger has it
    (2, 1, 'o', 5, 5, '2026-11-23 08:30Z', 'operator cid: mended: twice'),
    (2, 2, 'l', 5, 5, '2026-11-23 08:31Z', 'replayed by ann: ok'),
    (3, 3, 'p', 7, 7, '2026-11-23 10:30Z', 'operator dan: maintenance'),
    (3, 4, 'g', 0, 9, '2026-11-23 10:31Z', 'operator dan: recreated');
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, asked, asked_at, asked_by) VALUES
    (1, 11, 2, 'd', 'decode: bad', 'r', '2026-11-23 11:00Z', 'ann: mended'), (2, 12, 2, 'd', 'decode: bad', 'r', '2026-11-23 11:00Z', 'ann: mended'),
    (1, 13, 2, 'd', 'decode: bad', 'x', '2026-11-23 11:01Z', 'bob: no such order'), (3, 1, 2, 'x', 'decode: bad', NULL, '2026-11-23 11:02Z', 'eve: old: too old'),
    (3, 2, 2, 'r', 'decode: bad', NULL, '2026-11-23 11:03Z', 'idemgen: a retry');
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) VALUES (1, 14, 7, 'd', 'decode: bad')`)
	all := []string{
		"11:02 audit orders.v1/0 discard by eve because old: too old, -1 to -1, operator true, 1 letters",
		"11:01 projector orders.v1/0 discard by bob because no such order, -1 to -1, operator true, 1 letters",
		"11:00 projector orders.v1/-1 replay by ann because mended, -1 to -1, operator true, 2 letters",
		"10:31 audit orders.v1/0 read from offset 9 by dan because recreated, 0 to 9, operator true, 0 letters",
		"10:30 audit orders.v1/0 pause by dan because maintenance, 7 to 7, operator true, 0 letters",
		"09:06 projector orders.v1/0 fence by second host, process 2 because , 12 to 12, operator false, 0 letters",
		"09:05 projector orders.v1/0 rewind by bob because prices were wrong, 20 to 12, operator true, 0 letters",
		"09:04 projector orders.v1/0 skip by ann because test data, 16 to 20, operator true, 0 letters",
		"09:01 projector orders.v1/0 fence by first host, process 1 because , 10 to 10, operator false, 0 letters",
		"09:00 projector orders.v1/0 genesis by first host, process 1 because , 10 to 10, operator false, 0 letters",
		"08:30 projector orders.v1/1 release by cid because mended: twice, 5 to 5, operator true, 0 letters",
	}
	without := func(texts ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(line string) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
		})
	}
	for _, c := range []struct {
		consumer  string
		takeOvers bool
		limit     int
		want      []string
	}{
		{"", true, 100, all},
		{"", false, 100, without(" fence ")},
		{"projector", true, 100, without(" audit ")},
		{"audit", false, 100, without(" projector ")},
		{"", true, 11, all},
		{"", true, 10, all[:10]},
		{"", true, 4, all[:4]},
		{"", true, 1, all[:1]},
		{"nobody", true, 100, nil},
	} {
		got := actsOf(t, db, c.consumer, c.takeOvers, c.limit)
		want(t, fmt.Sprintf("history of %q, %v, %d", c.consumer, c.takeOvers, c.limit), strings.Join(got, "\n"), strings.Join(c.want, "\n"))
	}
}
