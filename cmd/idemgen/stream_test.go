package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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

var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func TestStreamCommands(t *testing.T) {
	ledgers(t)
	const table = `
CONSUMER   TOPIC      PARTITION  TOPIC ID                              POSITION  ROW  KIND     WRITTEN  AGE  PARTITIONS  IDENTITY  WINDOW ROWS  DEAD LETTERS  LAST OPERATOR
projector  orders.v1  0          00000000-0000-4000-8000-000000000001  10        0    genesis  T        3d   4           00000003        1            0             -
projector  orders.v1  1          00000000-0000-4000-8000-000000000001  10        0    genesis  T        3d   4           00000003        1            0             -
`
	lines := strings.Split(must(t, "stream", "list"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(stamp.ReplaceAllString(line, "T")), " ")
	}
	var wanted []string
	for line := range strings.Lines(table[1:]) {
		wanted = append(wanted, strings.Join(strings.Fields(line), " "))
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(wanted, "\n")+"\n" {
		t.Errorf("list:\n%s", got)
	}
	const orders = "--consumer projector --topic orders.v1 "
	for _, tc := range []struct{ args, want string }{
		{"skip " + orders + "--partition 0 --to 12 --reason why --dry-run",
			`orders.v1/0 of projector: would append row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator ann: why"`},
		{"skip " + orders + "--partition 0 --to 12 --reason why --operator bob",
			`orders.v1/0 of projector: appended row 1 (skip), offset 10 -> 12: 2 offsets, 10 to 11, pass without effect. "operator bob: why"`},
		{"rewind --reason why " + orders + "-partition 0 -from 12 -to 11 -apply-again",
			`orders.v1/0 of projector: appended row 2 (rewind), offset 12 -> 11: 1 offset, 11, is read again: what has no remembered key takes effect again. "operator ann: why"`},
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

func TestStreamRefuses(t *testing.T) {
	ledgers(t)
	for args, want := range map[string]string{
		"":          "list|confirm-partitions|adopt|skip|rewind|release",
		"frobs":     "list|confirm-partitions|adopt|skip|rewind|release",
		"skip":      "--partition, --to, --consumer, --topic, --reason missing",
		"list here": `"here" is no flag`,
		"release --consumer projector --topic orders.v1 --to 3":                                            "idemgen: stream release: flag provided but not defined: -to; see idemgen help stream release",
		"skip --database postgres://127.0.0.1:1/x --consumer c --topic t --partition 0 --to -4 --reason r": "idemgen: stream skip: --to -4: there is no such offset",
		"release --consumer projector --topic orders --reason r":                                           "it has topics orders.v1",
		"confirm-partitions --consumer projector --topic orders.v1 --partitions 4294967297 --reason r":     "cannot be",
		"confirm-partitions --consumer projector --topic orders.v1 --partitions 3 --reason r":              "says 4 partitions already (row 0, genesis by host, process 1), and 3 are fewer",
		"release --consumer projector --topic orders.v1 --partition -3 --reason r":                         "cannot be",
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
	} {
		code, stdout, stderr := run(t, "stream", "list", "--database", url)
		if code != trouble || strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%s: exit code %d\n%s", url, code, stderr)
		}
	}
}

// No argument that looks like a database's address is shown, wherever it stands.
func TestNoArgumentShowsAPassword(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/db")
	for _, secret := range []string{"postgres://bob:s3cretpw@h/db", "bob:s3cretpw@h", "host=h password=s3cretpw", "postgres://bob:\"s3cretpw@h"} {
		for _, args := range [][]string{
			{secret}, {"help", secret}, {"generate", secret}, {"check", secret + "/..."}, {"generate", "-" + secret}, {"generate", "-strict=" + secret},
			{"init", secret, "there"}, {"init", "-consumer", secret}, {"version", secret}, {"stream", secret}, {"stream", "list", secret},
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
		must(t, "stream", "release", "--json", "--consumer", "projector", "--topic", "orders.v1", "--reason", "r"): &changes,
		must(t, "stream", "list", "--json", "--consumer", "projector"):                                             &list,
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
	if strings.Count(out, "(former)") != 1 || !strings.Contains(out, "1          00000000-0000-4000-8000-000000000001 (former)") {
		t.Error(out)
	}
}

// The help of one command tells of its own flags only, and of all of them.
func TestStreamHelpOfOneCommand(t *testing.T) {
	for _, v := range streamVerbs() {
		text := must(t, "stream", v.name, "-h")
		if text != must(t, "help", "stream", v.name) || !strings.HasPrefix(text, "usage: idemgen stream "+v.name+" ") {
			t.Errorf("%s:\n%s", v.name, text)
		}
		for _, f := range streamFlags {
			may, must := v.has(f.name)
			has := may || must || f.name == "database" || f.name == "json"
			if strings.Contains(text, "\n  --"+f.name+f.value+" ") != has {
				t.Errorf("%s: --%s: takes it %v, told\n%s", v.name, f.name, has, text)
			}
		}
		for name := range strings.FieldsSeq(strings.ReplaceAll(v.flags, "*", "")) {
			if !strings.Contains(text, "\n  --"+name) {
				t.Errorf("%s: nothing of --%s", v.name, name)
			}
		}
	}
}
