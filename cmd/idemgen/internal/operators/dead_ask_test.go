package operators

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// lettersOf are ledgers with letters in partition 0: two that are dead, the second without its
// record, one that waits, and one that was replayed.
func lettersOf(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := ledgers(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record, resolved_by)
SELECT stream, offs, 0, state, event, reason, record, resolved_by FROM idem_stream, (VALUES
    (3, 'd'::"char", 'OrderPlaced', 'database: OrderPlaced: no', '\x01'::bytea, NULL),
    (4, 'd', NULL, 'decode: no', NULL, NULL),
    (5, 'w', 'OrderPlaced', 'parked: waits behind offset 3', '\x01', NULL),
    (6, 'r', 'OrderPlaced', 'database: OrderPlaced: no', '\x01', 'bob: mended')) AS l (offs, state, event, reason, record, resolved_by) WHERE partition = 0`)
	return db
}

// A list begins with how many there are of each class, and names the letter behind which another
// one waits. What can be done about either is another thing.
func TestDeadLettersThatPark(t *testing.T) {
	db := lettersOf(t)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET order_key = md5('k')::uuid, parks = true WHERE offs IN (3, 5)`)
	list := must(t, "dead", "list")
	if !strings.HasPrefix(list, "1 database, 1 decode, 1 parked\n\norders.v1 of projector\n") || !strings.Contains(list, "\n          waits behind 0:3\n") {
		t.Errorf("dead list prints\n%s", list)
	}
	if all := must(t, "dead", "list", "--state", "all", "--limit", "1"); !strings.HasPrefix(all, "2 database, 1 decode, 1 parked\n\n") {
		t.Errorf("dead list prints\n%s", all)
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = NULL`)
	for of, want := range map[string]string{
		"0:3": "and discard this one: later records of the record key wait until then",
		"0:4": "a dead letter claims no key",
		"0:5": "next:\n  replay or discard the dead letter behind which it waits; then it continues by itself: idemgen dead show orders.v1 0:3 --consumer projector\n",
	} {
		if out := must(t, "dead", "show", "orders.v1", of); !strings.Contains(out, want) {
			t.Errorf("%s: %s\nwant %q", of, out, want)
		}
	}
}

func TestDeadCommandsAsk(t *testing.T) {
	lettersOf(t)
	const here = "orders.v1/0 offset "
	const quiet = "\norders.v1/0: no process reports this partition: if the service does not run, start it"
	for _, tc := range []struct{ args, want string }{
		{"replay orders.v1 0:3 --reason mended --dry-run", here + "3 of projector: would request to replay it (database: OrderPlaced: no)"},
		{"discard orders.v1 --all --reason old --dry-run",
			here + "3 of projector: would request to discard it (database: OrderPlaced: no)\n" + here + "4 of projector: would request to discard it (decode: no)"},
		{"replay orders.v1 --event OrderPlaced --reason mended", here + "3 of projector: requested to replay it" + quiet},
		{"discard orders.v1 --all --reason old", here + "4 of projector: requested to discard it" + quiet},
		{"discard orders.v1 --class decode --reason old", "no dead letter matches"},
		{"discard orders.v1 --record-key k --erase --reason old", "no dead letter matches"},
	} {
		if got := must(t, append([]string{"dead"}, strings.Fields(tc.args)...)...); got != tc.want+"\n" {
			t.Errorf("%s:\n%swant\n%s", tc.args, got, tc.want)
		}
	}
}

// A record key selects letters for lists and requests, as on the page. What a replay cannot apply
// is left out and counted.
func TestDeadCommandsSelectByRecordKey(t *testing.T) {
	db := lettersOf(t)
	key := record.OrderKey([]byte("k"))
	if _, err := db.Exec(t.Context(), `UPDATE idem_dead_letter SET order_key = $1 WHERE offs IN (3, 4)`, key); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET order_key = NULL WHERE offs = 3; UPDATE idem_dead_letter SET order_key = md5('other')::uuid WHERE offs = 5`)
	if list := must(t, strings.Fields("dead list --record-key k")...); !strings.HasPrefix(list, "1 decode\n") {
		t.Error(list)
	}
	for args, want := range map[string]string{
		"discard orders.v1 --record-key k":              "orders.v1/0 offset 4 of projector: would request to discard it (decode: no)\n",
		"replay orders.v1 --record-key k":               "no dead letter matches\nleft out: 1 without a record, which can only be discarded\n",
		"discard orders.v1 --record-key hex:6b":         "orders.v1/0 offset 4 of projector: would request to discard it (decode: no)\n",
		"discard orders.v1 --record-key hex:6B --erase": "orders.v1/0 offset 4 of projector: would request to discard it (decode: no)\n",
		"replay orders.v1 --record-key none":            "no dead letter matches\n",
		"discard orders.v1 --former":                    "no dead letter matches\n",
	} {
		if got := must(t, strings.Fields("dead "+args+" --reason why --dry-run")...); got != want {
			t.Errorf("%s:\n%swant\n%s", args, got, want)
		}
	}
}

func TestDeadCommandsRefuse(t *testing.T) {
	lettersOf(t)
	must(t, strings.Fields("dead discard orders.v1 0:3 --reason old --operator bob")...)
	for _, tc := range []struct{ args, want string }{
		{"replay orders.v1 0:3 --reason x", "a discard is already requested, since 20"},
		{"replay orders.v1 0:3 --reason x", "by bob: old"},
		{"replay orders.v1 0:4 --reason x", "it can only be discarded"},
		{"discard orders.v1 0:5 --reason x", "waits behind a dead letter of its record key"},
		{"discard orders.v1 0:6 --reason x", "was replayed by bob: mended"},
		{"discard orders.v1 0:2 --reason x", "there is no dead letter at offset 2: it took effect"},
		{"discard orders.v1 0:12 --reason x", "the partition is at offset 10"},
		{"discard orders.v2 0:1 --reason x", "this database has no ledger of topic orders.v2; it has topics orders.v1"},
		{"discard orders.v2 --all --reason x", "this database has no ledger of topic orders.v2; it has topics orders.v1"},
		{"replay orders.v1 0:4 0:5 --reason x", "nothing was requested"},
		{"discard orders.v1 0:4 --record-key k --erase --reason x", "--erase applies to a record key"},
		{"discard orders.v1 --record-key hex:2a0 --erase --reason x", "want two hexadecimal digits for each byte after hex:"},
		{"discard orders.v1 --record-key hex: --topic-id 00000000-0000-4000-8000-000000000001 --reason x", "--topic-id names the topic of PARTITION:OFFSET"},
		{"discard orders.v1 --record-key k --erase --topic-id 00000000-0000-4000-8000-000000000001 --reason x", "--topic-id names the topic of PARTITION:OFFSET"},
		{"discard orders.v1 0:4 --topic-id 00000000-0000-4000-8000-00000000ffff --reason x", "with topic id 00000000-0000-4000-8000-00000000ffff"},
		{"show orders.v1 0:4 --topic-id 00000000-0000-4000-8000-00000000ffff", "with topic id 00000000-0000-4000-8000-00000000ffff"},
		{"list --exact", "--exact selects a group: give its --class"},
		{"discard orders.v1 --reason x", "say which letters to discard"},
		{"discard orders.v1 --erase --reason x", "--erase applies to a record key: give --record-key"},
		{"replay --reason x", "want TOPIC"},
		{"replay projector orders.v1 0:3 --reason x", "a consumer is named by --consumer"},
		{"show projector orders.v1 0:3", "a consumer is named by --consumer"},
		{"replay orders.v1 0:3 --consumer nobody --reason x", "no ledger of orders.v1/0 of nobody"},
		{"replay orders.v1 --reason x", "say which letters to replay"},
		{"replay orders.v1 0:1 --all --reason x", "either PARTITION:OFFSET"},
		{"replay orders.v1 1742 --reason x", "\"1742\" is not PARTITION:OFFSET"},
		{"replay orders.v1 0:4", "reason"},
		{"replay orders.v1 --all --reason x --result {}", "--result applies to one letter"},
		{"replay orders.v1 0:3 0:5 --reason x --result {}", "--result applies to one letter"},
		{"replay orders.v1 0:3 --reason x --result {\"id\":m-1}", "the result is not JSON: invalid character 'm'"},
		{"replay orders.v1 0:4 --reason x --result {}", "it can only be discarded"},
		{"discard orders.v1 0:3 --reason x --result {}", "unknown flag"},
		{"replay orders.v1 0:3 --reason x --result=", "it is empty: the result of an effect without a result is null"},
		{"replay orders.v1 --event= --reason x", "it is empty"},
		{"replay orders.v1 --class decod --reason x", "did you mean decode?"},
		{"discard orders.v1 --event OrderPlacde --reason x", "orders.v1 never had a dead letter of event OrderPlacde"},
	} {
		code, stdout, stderr := run(t, append([]string{"dead"}, strings.Fields(tc.args)...)...)
		if code != trouble || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit code %d, %s%s, want %q", tc.args, code, stdout, stderr, tc.want)
		}
	}
}

// A replay calls an interrupted effect again, so that those who mean many letters must say so.
func TestDeadReplayLeavesOutInterruptedCalls(t *testing.T) {
	const asked, left = "orders.v1/0 offset 3 of projector: would request to replay it", "left out: 1 of interrupted calls"
	for name, change := range map[string]string{
		"its reason":  `UPDATE idem_dead_letter SET reason = 'interrupted: OrderPlaced: nobody knows' WHERE offs = 3`,
		"last answer": `UPDATE idem_dead_letter SET asked_at = now(), answer = 'interrupted: OrderPlaced: nobody knows' WHERE offs = 3`,
	} {
		t.Run(name, func(t *testing.T) {
			db := lettersOf(t)
			idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'x' WHERE offs = 4`)
			idemtest.Exec(t, db, change)
			for args, want := range map[string]string{"--all": left, "--event OrderPlaced": left, "0:3": asked} {
				got := must(t, strings.Fields("dead replay orders.v1 --reason x --dry-run "+args)...)
				if !strings.Contains(got, want) || strings.Contains(got, asked) == strings.Contains(got, left) {
					t.Errorf("%s: %s", args, got)
				}
			}
			got := must(t, strings.Fields("dead discard orders.v1 --reason x --dry-run --all")...)
			if !strings.Contains(got, "would request to discard it") {
				t.Error(got)
			}
		})
	}
	db := lettersOf(t)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET reason = 'interrupted: OrderPlaced: nobody knows' WHERE offs = 3`)
	if got := must(t, strings.Fields("dead replay orders.v1 --class interrupted --reason x --dry-run")...); !strings.Contains(got, asked) {
		t.Error(got)
	}
}

// A result goes with the request, as compact JSON, and is nowhere shown. Until somebody does what
// was asked, show says so.
func TestDeadReplayWithAResult(t *testing.T) {
	db := shop(t)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET reason = 'interrupted: OrderPlaced: nobody knows', key = '5f0c6bb5-ae0d-4bd3-8a1d-2c1d5c2f6f01' WHERE offs = 3`)
	const key = "5f0c6bb5ae0d4bd38a1d2c1d5c2f6f01" // as Delivery.Key is written
	shown, found := must(t, "dead", "show", "orders.v1", "0:3"), must(t, "find", "orders.v1", "--offset", "0:3")
	if !strings.Contains(shown, "key        "+key+"\n") || strings.Contains(shown, "first copy") || !strings.Contains(found, "key "+key) {
		t.Error(shown, found)
	}
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '3 days'`)
	show := []string{"dead", "show", "orders.v1", "0:3"}
	const replay = "idemgen dead replay orders.v1 0:3"
	if got := must(t, show...); !strings.Contains(got, "if it did nothing: "+replay) || !strings.Contains(got, "if it succeeded: "+replay) || !strings.Contains(got, "effect.result of OrderPlaced names in the spec") || strings.Contains(got, "owner ") {
		t.Error(got)
	}
	if got := must(t, "dead", "replay", "orders.v1", "0:3", "--reason", "asked", "--operator", "ann", "--result", `{ "id": "m-1" }`); !strings.HasPrefix(got, "orders.v1/0 offset 3 of order-projector: requested to replay it\n") {
		t.Error(got)
	}
	row, err := db.Query(t.Context(), `SELECT convert_from(asked_result, 'UTF8') || ' ' || (asked_number = (SELECT last_value FROM idem_fence)) FROM idem_dead_letter WHERE asked = 'r'`)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := pgx.CollectExactlyOneRow(row, pgx.RowTo[string]); err != nil || kept != `{"id":"m-1"} true` {
		t.Error(kept, err)
	}
	got := must(t, show...)
	for _, part := range []string{"request    to replay it with a given result, made at 20", "ann: asked; no answer yet", "owner      no process reports this partition: if the service does not run, start it"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'r', resolved_by = asked_by, asked = NULL, asked_result = NULL, answer = 'replayed' WHERE asked = 'r'`)
	for _, out := range []string{must(t, show...), must(t, "dead", "list", "--state", "all")} {
		for _, part := range []string{"to replay it with a given result, made at 20", "by ann: asked; the answer: replayed"} {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), part) {
				t.Errorf("%q is not in\n%s", part, out)
			}
		}
	}
	if got += must(t, append(show, "--json")...); strings.Contains(got, "m-1") || !strings.Contains(got, `"with_result": true`) {
		t.Error(got)
	}
}

// With --wait the command prints the owner's answers, and fails if a letter stays dead.
func TestDeadCommandsWait(t *testing.T) {
	db := lettersOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // an owner
		for ctx.Err() == nil {
			_, _ = db.Exec(ctx, `UPDATE idem_dead_letter SET asked = NULL, answer = CASE offs WHEN 3 THEN 'database: again' ELSE 'discarded' END,
				state = CASE offs WHEN 3 THEN 'd'::"char" ELSE 'x' END WHERE asked IS NOT NULL`)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if got := must(t, strings.Fields("dead discard orders.v1 0:4 --reason old --wait 10s")...); got != "orders.v1/0 offset 4 of projector: discarded\n" {
		t.Error(got)
	}
	code, stdout, stderr := run(t, strings.Fields("dead replay orders.v1 0:3 --reason mended --wait 10s --json")...)
	var answer struct {
		Letters []struct {
			State   string
			Request struct{ Answer string }
		}
		Error string
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != trouble {
		t.Fatal(code, err, stderr)
	}
	if len(answer.Letters) != 1 || answer.Letters[0].Request.Answer != "database: again" || answer.Error != "1 of 1 letters stay dead" {
		t.Errorf("%+v", answer)
	}
	cancel()
	_, _, stderr = run(t, strings.Fields("dead replay orders.v1 0:3 --reason mended --wait 1ms")...)
	if !strings.Contains(stderr, "no outcome for 1 of 1 letters within 1ms: the request stays pending") {
		t.Error(stderr)
	}
}

// A terminal is never given what the text of somebody's error says to it.
func TestTextsOfOthersGiveTheTerminalNoOrders(t *testing.T) {
	db := lettersOf(t)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET reason = E'effect: OrderPlaced: no \x1b[2J\u202Eé', record = NULL WHERE offs = 3`)
	for _, args := range []string{"dead list", "dead show orders.v1 0:3"} {
		if got := must(t, strings.Fields(args)...); !strings.Contains(got, `no \u001b[2J\u202eé`) || strings.ContainsAny(got, "\x1b\u202E") {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// What was asked and is not done yet can be taken back, of one letter and of all.
func TestDeadReplayIsTakenBack(t *testing.T) {
	shop(t)
	letter := []string{"orders.v1", "0:3", "--reason", "not now", "--operator", "ann"}
	takeBack := append([]string{"dead", "replay", "--take-back"}, letter...)
	fails(t, "dead replay", "there is no pending request", append(takeBack[2:], "--json")...)
	must(t, append([]string{"dead", "discard"}, letter...)...)
	fails(t, "dead replay", "--take-back", append(letter, "--json")...)
	if got := must(t, takeBack...); got != "orders.v1/0 offset 3 of order-projector: stays dead: withdrawn by ann: not now\n" {
		t.Error(got)
	}
	must(t, append([]string{"dead", "replay"}, letter...)...)
	all := strings.Fields("dead replay orders.v1 --all --take-back --operator ann --reason x")
	if got := must(t, all...); strings.Count(got, "withdrawn by") != 1 {
		t.Error(got)
	}
	fails(t, "dead replay", "none of the others can be", append(takeBack[2:], "--json", "--result", "null")...)
}
