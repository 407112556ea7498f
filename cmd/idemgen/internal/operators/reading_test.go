package operators

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// placed is a record of the shop: an order is placed, under a key.
func placed(offset int64, order int, key, total string) idem.Message {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", order)
	return idem.Message{
		Topic: "orders.v1", Offset: offset, LeaderEpoch: -1, Time: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC), Key: []byte(id),
		Headers: []idem.Header{{Name: "event-type", Value: []byte("order.placed")}, {Name: "Idempotency-Key", Value: []byte(key)}},
		Value:   fmt.Appendf(nil, `{"order_id":%q,"customer_id":"c","channel":"web","total":%s,"placed_at":"2026-11-23T09:00:00Z","items":[]}`, id, total),
	}
}

// shop is a database in which the orders example applied records, found by $DATABASE_URL: two
// orders, a copy, a conflict and a record that does not decode in one batch; an order alone; a
// copy of the first one alone.
func shop(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := aShop(t)
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	return db
}

// at is the flag that names a database to a command of a test beside others.
func at(db *pgxpool.Pool) string { return "--database=" + db.Config().ConnString() }

// aShop is shop without the variable.
func aShop(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/orders/migrations")
	c, err := orders.NewConsumer(db, orders.Service{}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range [][]idem.Message{
		{placed(0, 1, "k-1", "1.50"), placed(1, 1, "k-1", "1.50"), placed(2, 1, "k-1", "99"), placed(3, 2, "k-2", `"much"`), placed(4, 3, "k-3", "3")},
		{placed(5, 4, "k-4", "4")},
		{placed(6, 1, "k-1", "1.50")},
	} {
		if _, err := w.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// changing is what differs from run to run: times, numbers of transactions, keys, the process.
var changing = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z|transaction \d+|\b[0-9a-f]{32}\b|[\w.-]+, process \d+`)

// alike is a text without what differs, and however its lines are broken.
func alike(text string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(strings.Join(strings.Fields(text), " "), "*")), " ")
}

// printed are the commands that docs/operations.md and testdata show, with what they print.
func printed(t *testing.T) (commands [][2]string) {
	t.Helper()
	_, page, _ := strings.Cut(read(t, "../../../../docs/operations.md"), "## An event seems lost")
	page, _, _ = strings.Cut(page, "\n## ")
	for i, block := range append(strings.Split(page, "```"), read(t, "testdata/printed.txt")) {
		if i%2 == 0 {
			continue
		}
		for _, part := range strings.Split("\n"+strings.TrimSpace(block), "\n$ idemgen ")[1:] {
			command, out, _ := strings.Cut(part, "\n")
			commands = append(commands, [2]string{command, out})
		}
	}
	return commands
}

// docs/operations.md shows what the commands print.
func TestOperationsShowsWhatIsPrinted(t *testing.T) {
	shop(t)
	all := printed(t)
	if len(all) < 5 {
		t.Fatalf("%d commands only", len(all))
	}
	for _, c := range all {
		args := strings.Fields(c[0])
		if strings.Contains(c[0], "--key") {
			args = append(args, "--spec", "../../../../examples/orders")
		}
		if got := must(t, args...); alike(got) != alike(c[1]) {
			t.Errorf("idemgen %s prints\n%s\ninstead of\n%s", c[0], got, c[1])
		}
	}
}

// The statement of docs/operations.md finds the batch that wrote a row.
func TestOperationsShowsStatementsThatFind(t *testing.T) {
	db := shop(t)
	_, page, _ := strings.Cut(read(t, "../../../../docs/operations.md"), "## An event seems lost")
	page, _, _ = strings.Cut(page, "\n## ")
	var found [][]string // of each statement
	for i, block := range strings.Split(page, "```sql\n") {
		if i == 0 {
			continue
		}
		sql, _, _ := strings.Cut(block, "```")
		rows, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprint(values), err
		})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		found = append(found, all)
	}
	if len(found) != 1 {
		t.Fatalf("%d statements", len(found))
	}
	if why := found[0]; len(why) != 1 || !strings.HasPrefix(why[0], "[orders.v1 0 3 5 5 ") {
		t.Errorf("the order was written by %q", why)
	}
}

func TestDeadLettersAreChosen(t *testing.T) {
	db := shop(t)
	count := func(args string) int {
		t.Helper()
		var got struct {
			Letters []operate.Letter `json:"dead_letters"`
			Sums    []operate.Sum    `json:"by_class"`
			Counted bool             `json:"counted_all"`
			More    *bool            `json:"more"`
		}
		commandtest.Parse(t, must(t, strings.Fields("dead list --json "+args)...), &got)
		if left := args == "--limit 1"; got.More == nil || *got.More != left {
			t.Errorf("dead list %s: more: %v, want %t", args, got.More, left)
		}
		return len(got.Letters)
	}
	for args, want := range map[string]int{
		"": 2, "--class conflict": 1, "--class handler": 0, "--event OrderPlaced": 2, "--event OrderPaid": 0, "--limit 1": 1, "--topic orders.v1": 2, "--consumer order-projector --state open": 2,
	} {
		if got := count(args); got != want {
			t.Errorf("dead list %s: %d, want %d", args, got, want)
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'x', resolved_at = now(), resolved_by = 'ann: test data' WHERE offs = 2`)
	if open, all := count(""), count("--state all"); open != 1 || all != 2 {
		t.Errorf("%d are open, %d are there", open, all)
	}
	if out := must(t, "dead", "show", "orders.v1", "0:2"); !strings.Contains(out, "by ann: test data") || !strings.HasSuffix(out, "nothing: it is discarded\n") {
		t.Error(out)
	}
	if out := must(t, "dead", "list", "--limit", "1"); strings.Contains(out, "--limit shows more") {
		t.Error("one is left, and the list says that there are more")
	}
}

// The bytes of a payload come out as they went in, on stdout or in a new file.
func TestRawPayload(t *testing.T) {
	shop(t)
	want := string(placed(3, 2, "k-2", `"much"`).Value)
	show := []string{"dead", "show", "orders.v1", "0:3", "--raw"}
	if got := must(t, append(show, "-")...); got != want {
		t.Errorf("%q", got)
	}
	file := filepath.Join(t.TempDir(), "payload")
	if got := must(t, append(show, file)...); got != fmt.Sprintf("%s: %d bytes\n", file, len(want)) || read(t, file) != want {
		t.Errorf("%q", got)
	}
	refused(t, "file exists", append(show, file)...)
	fails(t, "dead show", "leave out --json", "orders.v1", "0:3", "--raw", "-", "--json")
}

// A payload that is no text is shown in hex, and harms no terminal.
func TestPayloadThatIsNoText(t *testing.T) {
	db := shop(t)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = decode('0100' || '00' || '021b' || '051b5b326a' || '01' || '0261' || '00', 'hex') WHERE offs = 3`)
	out := must(t, "dead", "show", "orders.v1", "0:3")
	if strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	for _, want := range []string{"record key hex:1b\n", "header     a: none\n", "payload    4 bytes, no text\n", "00000000  1b 5b 32 6a"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %q", out, want)
		}
	}
	if got := must(t, "dead", "show", "orders.v1", "0:3", "--raw", "-"); got != "\x1b[2j" {
		t.Errorf("--raw writes %q", got)
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = NULL WHERE offs = 3`)
	if out := must(t, "dead", "show", "orders.v1", "0:3"); !strings.Contains(out, "not kept: only its offset") {
		t.Error(out)
	}
}

// Of a letter whose call was made show says what it returned, and advises nothing that has it made
// again.
func TestDeadShowOfACallThatWasMade(t *testing.T) {
	db := shop(t)
	for _, c := range []struct{ set, says, not string }{
		{`reason = 'database: OrderPlaced: refused', result = '{"id":"m-1"}'`, `the call was made; it returned {"id":"m-1"}`, "claims no key"},
		{`reason = 'conflict: OrderPlaced: other content', result = 'null'`, "the call was made; it has no result, as its type says", "a key of its own"},
		{`reason = 'conflict: OrderPlaced: other content', result = ''`, "Under another key it would be repeated", "a key of its own"},
		{`reason = 'result: OrderPlaced: result.id is missing', result = '{}'`, "--result 'the result, as JSON'", "fix the cause"},
		{`reason = 'conflict: OrderPlaced: other content', result = NULL`, "a key of its own", "the call"},
	} {
		idemtest.Exec(t, db, `UPDATE idem_dead_letter SET `+c.set+` WHERE offs = 3`)
		out := must(t, "dead", "show", "orders.v1", "0:3")
		if !strings.Contains(out, c.says) || strings.Contains(out, c.not) {
			t.Errorf("%s:\n%s", c.set, out)
		}
	}
}

func TestReadingCommandsSayWhatIsWrong(t *testing.T) {
	shop(t)
	for args, want := range map[string]string{
		"dead lst":                   `unknown command "lst" (did you mean list?)`,
		"dead list --consumer order": "it has consumers order-projector",
		"dead list --topic orders":   "it has topics orders.v1",
		"dead list --class conflct":  "did you mean conflict?",
		"dead list --state closed":   "want one of open, all",
		"dead list --limit 0":        "want a number from 1",
		"dead show orders.v1":        "show needs PARTITION:OFFSET",
		"dead show orders.v1 3":      "is not PARTITION:OFFSET, such as 0:4711",
		"dead show orders.v1 0:4":    "has no dead letter at offset 4; the nearest are 0:3, 0:2",
		"dead show orders.v1 7:4":    "it has partitions 0",
		"find orders.v1":             "find needs --offset PARTITION:OFFSET or --key NAME=VALUE",
		"find orders --offset 0:1":   "it has topics orders.v1",
		"find orders.v1 --key k-1":   "--key wants NAME=VALUE",
		"find orders.v1 --key a=b":   "idemgen.yaml: no such spec",
		"find orders.v1 --key a=b --spec ../../../../examples/orders":                                 "no event has a key of a: OrderPlaced has Idempotency-Key; ",
		"find orders.v1 --key Idempotency-Key=k --event Order --spec ../../../../examples/orders":     `topic orders.v1 has no event "Order"`,
		"find orders.v1 --consumer nobody --key Idempotency-Key=k --spec ../../../../examples/orders": "is the spec of consumer order-projector, not of nobody",
		"find orders.v1 --key Idempotency-Key= --spec ../../../../examples/orders":                    "is empty, but part of the key",
	} {
		refused(t, want, strings.Fields(args)...)
	}
}

// The dead letter of an event is found by the event's key, which is all that a caller may know: as
// long as it is open, and when it is closed.
func TestFindFindsADeadLetterByItsKey(t *testing.T) {
	db := shop(t)
	find := func(key string) string {
		return must(t, "find", "orders.v1", "--key", "Idempotency-Key="+key, "--spec", "../../../../examples/orders")
	}
	if out := find("k-2"); !strings.HasPrefix(out, "dead letter\n") || !strings.Contains(out, "the record at offset 3 of orders.v1/0") || !strings.Contains(out, "idemgen dead show ") {
		t.Errorf("of an open letter: %s", out)
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'x', resolved_at = now(), resolved_by = 'ann' WHERE offs = 3`)
	if out := find("k-2"); !strings.HasPrefix(out, "discarded\n") {
		t.Errorf("of a discarded letter: %s", out)
	}
	for _, key := range []string{"k", "much", "k-22"} { // the record holds the first two elsewhere
		if out := find(key); !strings.HasPrefix(out, "not seen yet") {
			t.Errorf("%s: %s", key, out)
		}
	}
}
