package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// ledgers is a database with two partitions of orders.v1 at offset 10, found by
// $DATABASE_URL.
func ledgers(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, filepath.Join("..", "..", "templates", "sql"))
	idemtest.Exec(t, db, `
INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', p FROM generate_series(0, 1) p;
INSERT INTO idem_ledger SELECT stream, 0, gen_random_uuid(), 10, 10, 'g', -1, 3, 4, 0, clock_timestamp() - interval '3 days', NULL, 'host, process 1' FROM idem_stream`)
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	t.Setenv("USER", "ann")
	return db
}

func TestStreamCommands(t *testing.T) {
	ledgers(t)
	const table = `
orders.v1 of projector
topic id 00000000-0000-4000-8000-000000000001
PARTITION   OF      POSITION        ROW  KIND           AGE  IDENTITY WINDOW ROWS DEAD LETTERS
        0    4            10          0  genesis         3d  00000003           1            0
        1    4            10          0  genesis         3d  00000003           1            0
`
	if got := must(t, "stream", "list"); got != table[1:] {
		t.Errorf("list:\n%s", got)
	}
	const orders = "--consumer projector --topic orders.v1 "
	for _, tc := range []struct{ args, want string }{
		{"skip " + orders + "--partition 0 --to 12 --reason why --dry-run",
			`orders.v1/0 of projector: would append row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator ann: why"`},
		{"skip " + orders + "--partition 0 --to 12 --reason why --operator bob",
			`orders.v1/0 of projector: appended row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator bob: why"`},
		{"rewind --reason why " + orders + "--partition 0 --from 12 --to 11 --apply-again",
			`orders.v1/0 of projector: appended row 2 (rewind), offset 12 -> 11: 1 offset, 11, is read again: what has no known key takes effect again. "operator ann: why"`},
		{"confirm-partitions " + orders + "--partitions 8 --reason why",
			`orders.v1/0 of projector: appended row 3 (fence), offset 11 -> 11: the topic may have 8 partitions, no longer 4. "operator ann: why"` + "\n" +
				`orders.v1/1 of projector: appended row 1 (fence), offset 10 -> 10: the topic may have 8 partitions, no longer 4. "operator ann: why"`},
		{"confirm-partitions " + orders + "--partitions 8 --reason why",
			"orders.v1/0 of projector: already 8 partitions, nothing appended\norders.v1/1 of projector: already 8 partitions, nothing appended"},
		{"release " + orders + "--older-version-may-run --partition 1 --reason why",
			`orders.v1/1 of projector: appended row 2 (operator), offset 10 -> 10: any version of the service may go on, also an older one. "operator ann: why"`},
		{"adopt " + orders + "--partition 2 --topic-id 00000000-0000-4000-8000-000000000001 --to 7 --reason why",
			`orders.v1/2 of projector: appended row 0 (genesis), offset 7 -> 7: a ledger begins at offset 7: nothing is known of the offsets before it. "operator ann: why"`},
	} {
		if got := must(t, append([]string{"stream"}, strings.Fields(tc.args)...)...); got != tc.want+"\n" {
			t.Errorf("%s:\n%swant\n%s", tc.args, got, tc.want)
		}
	}
}

const id2 = "00000000-0000-4000-8000-000000000002"

// One command adopts all partitions of a topic that was made again.
func TestAdoptSeveralPartitions(t *testing.T) {
	db := ledgers(t)
	out := must(t, strings.Fields("stream adopt --consumer projector --topic orders.v1 --topic-id "+id2+" --to 1:7,0:3 --to 3:0 --reason topic-recreated")...)
	for i, line := range []string{"orders.v1/0 of projector: appended row 0 (genesis), offset 3 -> 3", "orders.v1/1 of projector: appended row 0 (genesis), offset 7 -> 7", "orders.v1/3 of projector: appended row 0 (genesis), offset 0 -> 0"} {
		if !strings.HasPrefix(strings.Split(out, "\n")[i], line) {
			t.Errorf("got:\n%swant %s", out, line)
		}
	}
	code, stdout, stderr := run(t, strings.Fields("stream adopt --consumer projector --topic orders.v1 --topic-id "+id2+" --to 2:1,3:4 --reason again")...)
	if code != trouble || !strings.Contains(stdout, "orders.v1/2 of projector: appended") || !strings.Contains(stderr, "1 of 2 partitions are done") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	var n int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_stream WHERE topic_id = $1`, id2).Scan(&n); err != nil || n != 4 {
		t.Error(n, err)
	}
}

// A list is readable on a terminal of 100 columns, whatever the names and reasons are.
func TestStreamListFitsATerminal(t *testing.T) {
	db := ledgers(t)
	reason := strings.TrimSpace(strings.Repeat("because of it ", 30))
	must(t, "stream", "skip", "--consumer", "projector", "--topic", "orders.v1", "--partition", "0", "--to", "999999999999", "--reason", reason)
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
		"":      "confirm-partitions The topic may have COUNT partitions",
		"frobs": `unknown command "frobs"; see idemgen help stream`,
		"skip":  `required flag(s) "consumer", "partition", "reason", "to", "topic" not set; see idemgen help stream skip`,
		"release --consumer projector --topic orders.v1 --reason r":                                                            "at least one of the flags in the group [partition all] is required",
		"release --consumer projector --topic orders.v1 --partition 0 --all --reason r":                                        "if any flags in the group [partition all] are set none of the others can be",
		"release --consumer projector --topic orders.v1 --partition 0 --reason r --operator=":                                  "--operator is empty",
		"adopt --consumer projector --topic orders.v1 --partition 20 --partitions 12 --topic-id " + id2 + " --to 0 --reason r": "--partition 20 is none of 12",
		"adopt --consumer projector --topic orders.v1 --partition 20 --topic-id " + id2 + " --to 0 --reason r":                 "the topic has 4 partitions, numbered from 0: there is no partition 20",
		"adopt --consumer projector --topic orders.v1 --partition 2 --topic-id " + id2 + " --to 2:7 --reason r":                "want --partition N --to OFFSET, or --to PARTITION:OFFSET",
		"adopt --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 7 --reason r":                                "want --partition N --to OFFSET, or --to PARTITION:OFFSET",
		"adopt --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 1:7,1:8 --reason r":                          "partition 1 has two offsets",
		"adopt --consumer projector --topic orders.v1 --topic-id " + id2 + " --to 1:-7 --reason r":                             "want PARTITION:OFFSET",
		"confirm-partitions --consumer projector --topic orders.v1 --partition 4 --partitions 4 --reason r":                    "--partition 4 is none of 4",
		"skip --consumer projector --topic orders.v1 --partition 0 --from 12 --to 11 --reason r":                               "--to 11 is not behind --from 12",
		"rewind --consumer projector --topic orders.v1 --partition 0 --from 3 --to 3 --apply-again --reason r":                 "--to 3 is not before --from 3",
		"skip --consumer projector --topic orders.v1 --partition 0 --to 1:3 --reason r":                                        "want a number from 0",
		"skip --consumer projector --topic orders.v1 --partition 0 --to 12 --reason " + strings.Repeat("x", 501):               "the reason has 501 characters, more than 500",
		"skip --consumer projector --topic orders.v1 --partition 0 --to 12 --reason \x1b[31mred":                               "the reason holds characters that cannot be printed",
		"skip --consumer projector --topic orders.v1 --partition 0 --to 12 --reason r --operator " + strings.Repeat("x", 101):  "the operator's name has 101 characters, more than 100",
		"list here": `list takes no arguments but flags, and "here" is none; see idemgen help stream list`,
		"release --consumer projector --topic orders.v1 --to 3":                                            "idemgen: unknown flag: --to; see idemgen help stream release",
		"skip --database postgres://127.0.0.1:1/x --consumer c --topic t --partition 0 --to -4 --reason r": "idemgen: invalid argument \"-4\" for \"--to\" flag: want a number from 0 to 9223372036854775807; see idemgen help stream skip",
		"release --consumer projector --topic orders --all --reason r":                                     "it has topics orders.v1",
		"confirm-partitions --consumer projector --topic orders.v1 --partitions 4294967297 --reason r":     "want a number from 0 to 2147483647",
		"confirm-partitions --consumer projector --topic orders.v1 --partitions 3 --reason r":              "says 4 partitions already (row 0, genesis by host, process 1), and 3 are fewer",
		"release --consumer projector --topic orders.v1 --partition -3 --reason r":                         "want a number from 0 to 2147483647",
		"rewind --consumer projector --topic orders.v1 --partition 0 --to 5 --reason r":                    "--apply-again",
		"skip --consumer projector --topic orders.v1 --partition 0 --to 5 --reason r":                      "moves forward only",
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

// No argument that looks like a database's address is shown, wherever it stands.
func TestNoArgumentShowsAPassword(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/db")
	for _, secret := range []string{"postgres://bob:s3cretpw@h/db", "bob:s3cretpw@h", "host=h password=s3cretpw", "postgres://bob:\"s3cretpw@h"} {
		for _, args := range [][]string{
			{secret}, {"help", secret}, {"generate", secret}, {"check", secret + "/..."}, {"generate", "-" + secret}, {"generate", "--strict=" + secret},
			{"init", secret, "there"}, {"init", "--consumer", secret}, {"version", secret}, {"stream", secret}, {"stream", "list", secret},
			{"stream", "list", "-" + secret}, {"stream", "list", "--json=" + secret},
			{"stream", "release", "--consumer", "c", "--topic", "t", "--reason", "r", "--partition", secret},
			{"stream", "release", "--consumer", "c", "--topic", "t", "--reason", "r", "--partition=" + secret},
		} {
			module(t, nil)
			code, stdout, stderr := run(t, args...)
			if code != trouble || strings.Contains(stdout+stderr, "s3cretpw") {
				t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
			}
		}
	}
}

// The fields of --json are those that docs/operations.md names.
func TestStreamJSON(t *testing.T) {
	ledgers(t)
	page := read(t, "../../docs/operations.md")
	var changes, list []map[string]any
	for out, into := range map[string]*[]map[string]any{
		must(t, "stream", "release", "--json", "--consumer", "projector", "--topic", "orders.v1", "--all", "--reason", "r"): &changes,
		must(t, "stream", "list", "--json", "--consumer", "projector"):                                                      &list,
	} {
		if err := json.Unmarshal([]byte(out), into); err != nil || len(*into) != 2 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
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
	refused(t, "no ledger of consumer nobody; it has consumers projector", "stream", "list", "--json", "--consumer", "nobody")
	empty := idemtest.DB(t)
	idemtest.Migrate(t, empty, filepath.Join("..", "..", "templates", "sql"))
	if out := must(t, "stream", "list", "--json", "--database", empty.Config().ConnString()); out != "[]\n" {
		t.Errorf("nothing is %q", out)
	}
}

// The stream of a topic that was made again is told apart from the former one.
func TestStreamListMarksTheFormerTopic(t *testing.T) {
	ledgers(t)
	must(t, strings.Fields("stream adopt --consumer projector --topic orders.v1 --partition 1 --topic-id 00000000-0000-4000-8000-000000000002 --to 0 --reason r")...)
	out := must(t, "stream", "list")
	if strings.Count(out, "(former)") != 1 || !strings.Contains(out, "topic id 00000000-0000-4000-8000-000000000001 (former)\n") {
		t.Error(out)
	}
}
