package operators

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// ledgers is a database with two partitions of orders.v1 at offset 10, found by
// $DATABASE_URL.
func ledgers(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := someLedgers(t)
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	t.Setenv("USER", "ann")
	return db
}

// someLedgers is ledgers without the variables.
func someLedgers(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.Migrated(t, filepath.Join(commandtest.Repository, "templates", "sql"))
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', p FROM generate_series(0, 1) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 10, 10, 'g', 'w', -1, 3, 4, 0, clock_timestamp() - interval '3 days', NULL, 'host, process 1' FROM idem_stream`)
	return db
}

func TestStreamCommands(t *testing.T) {
	ledgers(t)
	const table = `
no process of projector is left: orders.v1/0-1
          no-process: no process of projector reports itself: none runs, or none reaches this
            database
          start the service; if a process runs, its log shows why it cannot reach the database

orders.v1 of projector
topic id 00000000-0000-4000-8000-000000000001
PARTITION   OF STATE          POSITION         LAG        ROW KIND           AGE DEAD LETTERS
        0    4 not known            10           -          0 genesis         3d            0
        1    4 not known            10           -          0 genesis         3d            0
`
	if got := must(t, "stream", "list"); got != table[1:] {
		t.Errorf("list:\n%s", got)
	}
	const orders = "--consumer projector --topic orders.v1 "
	for _, tc := range []struct{ args, want string }{
		{"set " + orders + "--partition 0 --to 12 --reason why --dry-run",
			`orders.v1/0 of projector: would append row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator ann: why"`},
		{"set " + orders + "--partition 0 --to 12 --reason why --operator bob",
			`orders.v1/0 of projector: appended row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator bob: why"`},
		{"set --reason why " + orders + "--partition 0 --from 12 --to 11 --apply-again",
			`orders.v1/0 of projector: appended row 2 (rewind), offset 12 -> 11: 1 offset, 11, is read again: events without a known key take effect again. "operator ann: why"`},
		{"release --all " + orders + "--partitions 8 --reason why",
			`orders.v1/0 of projector: appended row 3 (operator), offset 11 -> 11: the partition retries; the topic may have 8 partitions, no longer 4. "operator ann: why"` + "\n" +
				`orders.v1/1 of projector: appended row 1 (operator), offset 10 -> 10: the partition retries; the topic may have 8 partitions, no longer 4. "operator ann: why"`},
		{"release --all " + orders + "--partitions 8 --reason why",
			"orders.v1/0 of projector: already 8 partitions, nothing appended\norders.v1/1 of projector: already 8 partitions, nothing appended"},
		{"release " + orders + "--older-version-may-run --partition 1 --reason why",
			`orders.v1/1 of projector: appended row 2 (operator), offset 10 -> 10: any version of the service may continue, even an older one. "operator ann: why"`},
		{"set " + orders + "--partition 2 --from none --topic-id 00000000-0000-4000-8000-000000000001 --to 7 --reason why",
			`orders.v1/2 of projector: appended row 0 (genesis), offset 7 -> 7: a ledger begins at offset 7: records before it are skipped, and write no rows. "operator ann: why"`},
	} {
		if got := must(t, append([]string{"stream"}, strings.Fields(tc.args)...)...); got != tc.want+"\n" {
			t.Errorf("%s:\n%swant\n%s", tc.args, got, tc.want)
		}
	}
}

// A pause of a topic names the partitions that it does not cover, and the dry run says the same.
func TestPauseCommands(t *testing.T) {
	ledgers(t)
	const others = `orders.v1/2 of projector: NOT paused: it has no ledger yet; pause it once the service has taken it over
orders.v1/3 of projector: NOT paused: it has no ledger yet; pause it once the service has taken it over
`
	const paused = `orders.v1/0 of projector: appended row 1 (pause), offset 10 -> 10: nothing is applied until idemgen stream resume. "operator ann: why"
orders.v1/1 of projector: appended row 1 (pause), offset 10 -> 10: nothing is applied until idemgen stream resume. "operator ann: why"
`
	for _, tc := range []struct{ args, want string }{
		{"pause --topic orders.v1 --reason why --dry-run", strings.ReplaceAll(paused, "appended", "would append") + others},
		{"pause --topic orders.v1 --reason why", paused + others},
		{"pause --topic orders.v1 --partition 0 --reason why", "orders.v1/0 of projector: paused already (row 1, pause by operator ann: why), nothing appended\n"},
		{"resume --topic orders.v1 --partition 0 --reason why", `orders.v1/0 of projector: appended row 2 (operator), offset 10 -> 10: the partition continues at offset 10. "operator ann: why"` + "\n"},
		{"resume --topic orders.v1 --reason why", "orders.v1/0 of projector: not paused (row 2, operator by operator ann: why), nothing appended\n" +
			`orders.v1/1 of projector: appended row 2 (operator), offset 10 -> 10: the partition continues at offset 10. "operator ann: why"` + "\n"},
	} {
		if got := must(t, append([]string{"stream"}, strings.Fields(tc.args)...)...); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", tc.args, got, tc.want)
		}
	}
	refused(t, "this database has no ledger of orders.v1/3 of projector; it has partitions 0, 1", strings.Fields("stream pause --topic orders.v1 --partition 3 --reason why")...)
}

const id2 = "00000000-0000-4000-8000-000000000002"

// One command adopts all partitions of a topic that was made again.
func TestAdoptSeveralPartitions(t *testing.T) {
	ledgers(t)
	out := must(t, strings.Fields("stream set --consumer projector --topic orders.v1 --from none --topic-id "+id2+" --to 1:7,0:3 --to 3:0 --reason topic-recreated")...)
	for i, line := range []string{"orders.v1/0 of projector: appended row 0 (genesis), offset 3 -> 3", "orders.v1/1 of projector: appended row 0 (genesis), offset 7 -> 7", "orders.v1/3 of projector: appended row 0 (genesis), offset 0 -> 0: a ledger begins at offset 0: all records of the log are read"} {
		if !strings.HasPrefix(strings.Split(out, "\n")[i], line) {
			t.Errorf("got:\n%swant %s", out, line)
		}
	}
}

// A command on several partitions that is refused for one of them changes none.
func TestCommandOnSeveralPartitionsIsRefusedAsAWhole(t *testing.T) {
	db := ledgers(t)
	args := strings.Fields("stream set --consumer projector --topic orders.v1 --from none --topic-id " + id2 + " --reason topic-recreated --to")
	must(t, append(args, "3:0")...)
	refused(t, "orders.v1/3 of projector has a ledger: it is at offset 0 (row 0, genesis); give that as --from to move it; nothing was appended to any partition", append(args, "2:1,3:4")...)
	if n := streamsOf(t, db, id2); n != 1 {
		t.Errorf("%d streams", n)
	}
}

// Where a command fails in the middle nevertheless, its error says which partitions are done.
func TestCommandThatFailsInTheMiddleSaysWhatIsDone(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$planted$$; END';
CREATE TRIGGER refuse BEFORE INSERT ON idem_stream FOR EACH ROW WHEN (NEW.partition = 3) EXECUTE FUNCTION refuse()`)
	adopt := strings.Fields("stream set --consumer projector --topic orders.v1 --from none --topic-id " + id2 + " --reason r --to 2:1,3:4 --json")
	code, stdout, stderr := run(t, adopt...)
	var got struct {
		Changes []struct{ Partition int } `json:"changes"`
		Error   string                    `json:"error"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err, stdout)
	}
	const want = "planted (SQLSTATE P0001); partitions 2 are done, 3 are not"
	if code != trouble || len(got.Changes) != 1 || got.Changes[0].Partition != 2 || !strings.HasSuffix(got.Error, want) || !strings.HasSuffix(stderr, want+"\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if n := streamsOf(t, db, id2); n != 1 {
		t.Errorf("%d streams", n)
	}
}

func streamsOf(t *testing.T, db *pgxpool.Pool, topicID string) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_stream WHERE topic_id = $1`, topicID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A list is readable on a terminal of 100 columns, whatever the names and reasons are.
func TestStreamListFitsATerminal(t *testing.T) {
	db := ledgers(t)
	reason := strings.TrimSpace(strings.Repeat("because of it ", 30))
	must(t, "stream", "set", "--consumer", "projector", "--topic", "orders.v1", "--partition", "0", "--to", "999999999999", "--reason", reason)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET seq = 999999999, window_seq = 0 WHERE seq = 1`)
	out := must(t, "stream", "list", "--consumer", "projector")
	for line := range strings.Lines(out) {
		if n := len(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "skip, 10 -> 999999999999: operator ann: "+reason) {
		t.Errorf("the reason is cut:\n%s", out)
	}
}

func TestStreamRefuses(t *testing.T) {
	ledgers(t)
	for args, want := range map[string]string{
		"":      "release     Resume halted partitions",
		"frobs": `unknown command "frobs"; see idemgen help stream`,
		"set":   `idemgen: missing: --reason, --topic; usage: idemgen stream set --topic T {--partition N --to OFFSET | --to PARTITION:OFFSET,... | [--partition N] --at TIME} [--consumer C] [--from OFFSET|none] [--apply-again] --reason TEXT; see idemgen help stream set`,
		"release --consumer projector --topic orders.v1 --reason r":                                                                      "want --partition N for one, or --all",
		"release --consumer projector --topic orders.v1 --partition 0 --all --reason r":                                                  "want --partition N for one, or --all",
		"release --consumer projector --topic orders.v1 --partition 0 --reason r --operator=":                                            "it is empty: the ledger keeps who acted",
		"set --from none --consumer projector --topic orders.v1 --partition 20 --partitions 12 --topic-id " + id2 + " --to 0 --reason r": "--partition 20: the topic has 12 partitions, numbered from 0",
		"set --from none --consumer projector --topic orders.v1 --partition 20 --topic-id " + id2 + " --to 0 --reason r":                 "the topic has 4 partitions, numbered from 0: there is no partition 20",
		"set --from none --consumer projector --topic orders.v1 --partition 2 --topic-id " + id2 + " --to 2:7 --reason r":                "want --partition N --to OFFSET, or --to PARTITION:OFFSET",
		"set --from none --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 7 --reason r":                                "want --partition N --to OFFSET, or --to PARTITION:OFFSET",
		"set --from none --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 1:7,1:8 --reason r":                          "partition 1 has two offsets",
		"set --from none --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 1:-7 --reason r":                             "want PARTITION:OFFSET",
		"release --consumer projector --topic orders.v1 --partition 4 --partitions 4 --reason r":                                         "there is no partition 4 of 4, which are numbered from 0",
		"set --consumer projector --topic orders.v1 --partition 0 --from 12 --to 11 --reason r":                                          "is at offset 10 (row 0, genesis by host, process 1), not 12",
		"set --consumer projector --topic orders.v1 --partition 0 --to 11 --apply-again --reason r":                                      "--apply-again only moves back, and 11 is not before it",
		"set --consumer projector --topic orders.v1 --to 1:3 --from 10 --reason r":                                                       "--from OFFSET applies to one partition",
		"set --consumer projector --topic orders.v1 --partition 0 --to 12 --reason " + strings.Repeat("x", 501):                          "the reason has 501 characters, more than 500",
		"set --consumer projector --topic orders.v1 --partition 0 --to 12 --reason \x1b[31mred":                                          "the reason contains characters that cannot be printed",
		"set --consumer projector --topic orders.v1 --partition 0 --to 12 --reason r --operator " + strings.Repeat("x", 101):             "the operator's name has 101 characters, more than 100",
		"list here": `list takes only flags, not "here"; see idemgen help stream list`,
		"release --consumer projector --topic orders.v1 --to 3":                                           "idemgen: unknown flag --to; see idemgen help stream release",
		"set --database postgres://127.0.0.1:1/x --consumer c --topic t --partition 0 --to -4 --reason r": "idemgen: --to cannot be \"-4\": want a number from 0 to 9223372036854775807; see idemgen help stream set",
		"release --consumer projector --topic orders --all --reason r":                                    "it has topics orders.v1",
		"release --all --consumer projector --topic orders.v1 --partitions 4294967297 --reason r":         "want a number from 0 to 2147483647",
		"release --all --consumer projector --topic orders.v1 --partitions 3 --reason r":                  "already records 4 partitions (row 0, genesis by host, process 1), and 3 are fewer",
		"release --consumer projector --topic orders.v1 --partition -3 --reason r":                        "want a number from 0 to 2147483647",
		"set --consumer projector --topic orders.v1 --partition 0 --to 5 --reason r":                      "--apply-again",
		"set --consumer projector --topic orders.v1 --partition 0 --to 5 --from none --reason r":          "needs --topic-id",
		"set --consumer projector --topic orders.v1 --partition 0 --to 5 --from all --reason r":           "want an offset, or none",
		"release --all --consumer projector --topic orders.v1 --partitions 0 --reason r":                  "at least one partition",
	} {
		code, stdout, stderr := run(t, append([]string{"stream"}, strings.Fields(args)...)...)
		if code != trouble || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("idemgen stream %s: exit code %d, stdout %q, stderr:\n%s", args, code, stdout, stderr)
		}
	}
	if err := os.Unsetenv("DATABASE_URL"); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := run(t, "stream", "list"); !strings.Contains(stderr, "--database or $DATABASE_URL missing") {
		t.Error(stderr)
	}
}

// No error shows the address or the password.
func TestStreamNeverTellsTheDatabase(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@127.0.0.1:1/db", "postgres://u:hunter2@127.0.0.1:x/db", "postgres://u:%zzhunter2@127.0.0.1/db",
		"host=127.0.0.1 port=1 password=hunter2", "password=hunter2 port=x", "hunter2",
		"postgres://u:x@hunter2@127.0.0.1:1/db", "postgres://localhost:1/hunter2@127.0.0.1/db",
	} {
		code, stdout, stderr := run(t, "stream", "list", "--database", url)
		if code != trouble || strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%s: exit code %d\n%s", url, code, stderr)
		}
	}
}

// No error of the server shows what was mistyped in an address, and each says what is wrong.
func TestStreamNeverTellsAMistypedPassword(t *testing.T) {
	at := ledgers(t).Config().ConnConfig
	for _, c := range []struct{ user, database, more, told string }{
		{"admin:hunter2", at.Database, "", "SQLSTATE 28"},
		{at.User, at.Database + ":hunter2", "", "the database does not exist: SQLSTATE 3D000"},
		{at.User, at.Database, "work_mem=hunter2", "the server rejected a setting of the address: SQLSTATE 22023"},
	} {
		url := fmt.Sprintf("host=%s port=%d user=%s dbname=%s password=%s %s", at.Host, at.Port, c.user, c.database, cmp.Or(at.Password, "x"), c.more)
		code, stdout, stderr := run(t, "stream", "list", "--database", url)
		if code != trouble || strings.Contains(stdout+stderr, "hunter2") || !strings.Contains(stderr, c.told) {
			t.Errorf("user %s, database %s, %s: exit code %d\n%s", c.user, c.database, c.more, code, stderr)
		}
	}
}

// A password that is a word of a message, or a letter, garbles no message.
func TestPasswordIsNotMaskedInOtherWords(t *testing.T) {
	db := ledgers(t)
	at := db.Config().ConnConfig
	told := func(password string) string {
		url := fmt.Sprintf("host=%s port=%d user=%s dbname=%s password=%s", at.Host, at.Port, at.User, at.Database, password)
		_, _, stderr := run(t, "stream", "release", "--database", url, "--consumer", "order-projector", "--topic", "p", "--partition", "0", "--reason", "r")
		return stderr
	}
	for _, password := range []string{"p", "order", "projector"} {
		if got := told(password); !strings.Contains(got, "order-projector") || got != told("qqqqq") {
			t.Errorf("with the password %s: %s", password, got)
		}
	}
}

// The fields of --json are those that docs/operations.md names.
func TestStreamJSON(t *testing.T) {
	ledgers(t)
	page := read(t, "../../../../docs/operations.md")
	members := func(name string, args ...string) []map[string]any {
		var got map[string][]map[string]any
		commandtest.Parse(t, must(t, append([]string{"stream"}, args...)...), &got)
		delete(got, "problems")
		if len(got) != 1 || len(got[name]) != 2 || !strings.Contains(page, "`"+name+"`:") {
			t.Fatalf("%v", got)
		}
		return got[name]
	}
	changes := members("changes", "release", "--json", "--consumer", "projector", "--topic", "orders.v1", "--all", "--reason", "r")
	list := members("streams", "list", "--json", "--consumer", "projector")
	if list[0]["tail"].(map[string]any)["position"] != 10.0 || changes[0]["seq"] != 1.0 || changes[0]["appended"] != true {
		t.Errorf("%v\n%v", list, changes)
	}
	documented := func(fields map[string]any) {
		for name := range fields {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/operations.md does not name %q", name)
			}
		}
	}
	documented(changes[0])
	documented(list[0])
	documented(list[0]["tail"].(map[string]any))
	code, stdout, stderr := run(t, "stream", "list", "--json", "--consumer", "nobody")
	if want := "no ledger of consumer nobody; it has consumers projector\""; code != trouble || !strings.Contains(stdout, want) || stderr == "" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	empty := idemtest.DB(t)
	idemtest.Migrate(t, empty, filepath.Join(commandtest.Repository, "templates", "sql"))
	if out := must(t, "stream", "list", "--json", "--database", empty.Config().ConnString()); out != "{\n  \"problems\": [],\n  \"streams\": []\n}\n" {
		t.Errorf("nothing is %q", out)
	}
}

// The stream of a topic that was made again is told apart from the former one.
func TestStreamListMarksTheFormerTopic(t *testing.T) {
	ledgers(t)
	must(t, strings.Fields("stream set --consumer projector --topic orders.v1 --from none --topic-id "+id2+" --to 0:0,1:0 --reason r")...)
	out := must(t, "stream", "list")
	if strings.Count(out, "PARTITION") != 2 || strings.Count(out, "(former)") != 1 ||
		strings.Index(out, "topic id "+id2+"\n") > strings.Index(out, "topic id 00000000-0000-4000-8000-000000000001 (former)\n") {
		t.Error(out)
	}
}
