package operate_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An event is looked for under each key that it may have: the answers are those that say
// something, and a letter that two keys find is one answer. A record is a duplicate if the row
// that holds the key is another one than the row that covers its offset.
func TestFindByOneOfSeveralKeys(t *testing.T) {
	db := ledgers(t)
	for offset, value := range map[int]string{13: `{"id": "7", "order": "9"}`, 14: `{"id": "8"}`} {
		if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, reason, event, record, state) VALUES (1, $1, 7, 'handler: Paid: no', 'Paid', $2, 'd')`,
			offset, record.Append(nil, &wire.Message{Value: []byte(value)})); err != nil {
			t.Fatal(err)
		}
	}
	// Streams of another partition and of the former topic have rows with the numbers of the first.
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES
    ('projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', 1), ('projector', 'orders.v1', '00000000-0000-4000-8000-000000000002', 0);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at)
SELECT s, 7, gen_random_uuid(), 100, 102, 'b', -1, 3, 1, 0, timestamptz '2026-11-22 08:00Z' FROM generate_series(2, 3) s;
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at)
VALUES (2, 8, gen_random_uuid(), 102, 103, 'b', -1, 3, 1, 0, timestamptz '2026-11-22 08:00Z');
SELECT idem_keys_open('projector', '8 days');
INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT gen, md5(s::text)::uuid, 3, 0, s, 7 FROM idem_key_gen, generate_series(1, 3) s;
INSERT INTO idem_keys (gen, key, def, fp, stream, seq) SELECT gen, md5('adopted')::uuid, 0, 0, 0, 0 FROM idem_key_gen;
INSERT INTO idem_keys (gen, key, def, fp, stream, seq) SELECT gen, md5('gone')::uuid, 3, 0, 1, 99 FROM idem_key_gen`)
	field := func(name, value string) record.EventKey {
		return record.EventKey{Event: "Paid", Here: true, Fields: map[string]string{name: value}}
	}
	hash := func(here bool, text string) record.EventKey {
		key := record.EventKey{Event: "Made", Here: here}
		if err := db.QueryRow(t.Context(), `SELECT md5($1)::uuid`, text).Scan((*wire.UUID)(&key.Hash)); err != nil {
			t.Fatal(err)
		}
		return key
	}
	one, other, eight := field("id", "7"), field("order", "9"), field("id", "8")
	nobody, third := hash(true, "nobody"), record.EventKey{Here: true, Hash: [16]byte(bytes.Repeat([]byte{0xcd}, 16))}
	second := record.EventKey{Here: true, Hash: [16]byte(append(make([]byte, 8), bytes.Repeat([]byte{0xab}, 8)...))}
	const (
		holds   = "ledger row %d of orders.v1/%d applied it: offset%s, at T, in transaction N"
		letter  = "dead letter: the record at offset %d of orders.v1/0, which ledger row 7 passed at T, has this key: handler"
		unknown = "not seen yet, or outside the window: no event with this key was applied since 2026-11-23T09:00:00Z; earlier events are not known"
		covers  = "applied or duplicate: ledger row 7 covers offsets 12 to 13, at T, in transaction N; to find out which, also give --key, unless the spec ignores the record or the log has none there"
		copies  = "; if these offsets contain two copies, 0:%d may be the second"
		first   = ", which is the first copy"
		back    = "; the position has since been moved back to 14, so it is read again"
	)
	say := fmt.Sprintf
	row3, row7 := say(holds, 3, 0, " 15"), say(holds, 7, 0, "s 12 to 13")
	place := func(offset int64) *operate.Place { return &operate.Place{Offset: offset} }
	keys := func(k ...record.EventKey) []record.EventKey { return k }
	for what, c := range map[string]struct {
		at   *operate.Place
		keys []record.EventKey
		want []string
	}{
		"one letter":                {nil, keys(one), []string{say(letter, 13)}},
		"one letter of two keys":    {nil, keys(one, other), []string{say(letter, 13)}},
		"two letters":               {nil, keys(one, eight), []string{say(letter, 13), say(letter, 14)}},
		"a letter, and nothing":     {nil, keys(one, nobody), []string{say(letter, 13)}},
		"nothing, and a letter":     {nil, keys(nobody, one), []string{say(letter, 13)}},
		"a row and a letter":        {nil, keys(third, one), []string{"applied: " + row3, say(letter, 13)}},
		"nothing":                   {nil, keys(nobody, hash(true, "nor this")), []string{unknown}},
		"adopted":                   {nil, keys(hash(false, "adopted")), []string{"applied: another program had applied it: its key was adopted"}},
		"a row that was removed":    {nil, keys(hash(false, "gone")), []string{"applied: ledger row 99 of orders.v1/0 applied it; the row was removed since"}},
		"a place":                   {place(12), nil, []string{covers}},
		"one without a key":         {&operate.Place{Partition: 1, Offset: 102}, nil, []string{"applied or duplicate: ledger row 8 covers offset 102, at T, in transaction N; to find out which, also give --key, unless the spec ignores the record or the log has none there"}},
		"a place, and nothing":      {place(12), keys(nobody), []string{covers}},
		"the row of the place":      {place(12), keys(hash(false, "1")), []string{"applied: " + row7 + say(copies, 12)}},
		"the row of the place, too": {place(12), keys(nobody, hash(false, "1")), []string{"applied: " + row7 + say(copies, 12)}},
		"another partition":         {place(12), keys(hash(false, "2")), []string{"duplicate: " + say(holds, 7, 1, "s 100 to 101") + first}},
		"the former topic":          {place(12), keys(hash(false, "3")), []string{"duplicate: " + say(holds, 7, 0, "s 100 to 101") + first}},
		"another row":               {place(12), keys(third), []string{"duplicate: " + row3 + first}},
		"two keys in the row":       {place(10), keys(second), []string{"applied: " + say(holds, 2, 0, "s 10 to 14") + "; its window has passed: a duplicate that arrives now takes effect again" + say(copies, 10)}},
		"its own row":               {place(15), keys(third), []string{"applied: ledger row 3 covers offset 15, at T, in transaction N, and holds its key" + back}},
		"a place that was skipped":  {place(17), keys(third), []string{"skipped: ledger row 4 covers offsets 16 to 19, at T, in transaction N: operator ann: test data" + back}},
	} {
		found, err := operate.Find(t.Context(), db, projectorAnywhere, c.at, c.keys)
		var got []string
		for _, a := range found {
			because := regexp.MustCompile(`(in transaction )\d+`).ReplaceAllString(a.Because, "${1}N")
			got = append(got, string(a.Verdict)+": "+regexp.MustCompile(`at 20[-0-9T:]+Z`).ReplaceAllString(because, "at T"))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", what, err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// projectorAnywhere are all partitions of projector's topic.
var projectorAnywhere = operate.Name{Consumer: projector.Consumer, Topic: projector.Topic, Partition: operate.Any}
