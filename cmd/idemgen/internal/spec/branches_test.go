package spec

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// git runs git in the current folder, with settings of its own.
func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustGit(t *testing.T, args ...string) string {
	t.Helper()
	out, err := git(t, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// branches leaves a repository in which two branches have each added a column, and a merge of
// the second into the first has stopped.
func branches(t *testing.T) {
	t.Helper()
	module(t, map[string]string{"idemgen.yaml": spec})
	mustGit(t, "init", "-q", "-b", "main")
	commit := func(message string) {
		must(t, "generate")
		mustGit(t, "add", "-A")
		mustGit(t, "commit", "-q", "-m", message)
	}
	commit("first")
	mustGit(t, "checkout", "-q", "-b", "other")
	edit(t, "idemgen.yaml", "      customer_id: text\n", "      customer_id: text\n      place: {type: text, default: here}\n")
	edit(t, "idemgen.yaml", "set: {status: {value: placed}}", "set: {status: {value: placed}, place: {value: there}}")
	commit("place")
	mustGit(t, "checkout", "-q", "main")
	edit(t, "idemgen.yaml", "      status: text\n", "      status: text\n      note: {type: text, default: none}\n")
	write(t, "idemgen.yaml", strings.Replace(read(t, "idemgen.yaml"), "set: {status: {value: placed}}", "set: {status: {value: placed}}\n            leave: [note]", 1))
	commit("note")
	if out, err := git(t, "merge", "other"); err == nil {
		t.Fatalf("the merge went well:\n%s", out)
	}
	write(t, "idemgen.yaml", strings.NewReplacer("      customer_id: text\n", "      customer_id: text\n      place: {type: text, default: here}\n",
		"      status: text\n", "      status: text\n      note: {type: text, default: none}\n",
		"set: {status: {value: placed}}", "set: {status: {value: placed}, place: {value: there}}\n            leave: [note]").Replace(spec))
}

// Two branches that both appended a migration are told apart, and the way on that the error names
// works: the migration of the branch that was merged first stays as it is, the other change
// comes behind it.
func TestTwoBranchesThatBothAppended(t *testing.T) {
	branches(t)
	refused(t, "idem.state.yaml:", "generate")
	refused(t, "this looks like an unresolved merge: take this file and the migrations of the branch that was merged first", "generate")
	mustGit(t, "checkout", "--ours", "idem.state.yaml")
	refused(t, "migrations/0004_order_projector.sql:", "generate")
	refused(t, "this looks like an unresolved merge of two branches that both appended a migration: keep idem.state.yaml and the migrations", "check")
	mustGit(t, "checkout", "--ours", "migrations")
	ours := read(t, "migrations/0004_order_projector.sql")
	must(t, "generate")
	must(t, "check")
	if read(t, "migrations/0004_order_projector.sql") != ours || !strings.Contains(ours, "note") {
		t.Errorf("the first branch's migration changed:\n%s", ours)
	}
	if theirs := read(t, "migrations/0005_order_projector.sql"); !strings.Contains(theirs, "ADD COLUMN place") || strings.Contains(theirs, "note") {
		t.Error(theirs)
	}
}

// A migration of the other branch that lies beside the state of this one is not taken for ours.
func TestAMigrationOfTheOtherBranchIsRefused(t *testing.T) {
	branches(t)
	mustGit(t, "checkout", "--ours", "idem.state.yaml", "migrations")
	mustGit(t, "show", "other:migrations/0004_order_projector.sql")
	theirs, err := git(t, "show", "other:migrations/0004_order_projector.sql")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "migrations/0005_order_projector.sql", theirs)
	refused(t, "migrations/0005_order_projector.sql is not recorded in idem.state.yaml", "generate")
	refused(t, "if two branches have both appended, keep idem.state.yaml", "check")
}

// Nobody says in which order two migrations of one number are applied.
func TestTwoMigrationsOfOneNumber(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	write(t, "migrations/0003_mine.sql", "SELECT 1;\n")
	refused(t, "migrations/0003_mine.sql and migrations/0003_order_projector.sql have the same number", "generate")
}

// Files that were written stay as they are, so that their format stays, too.
func TestTheFormatOfMigrationsStays(t *testing.T) {
	for _, tc := range []struct{ was, is, file string }{
		{"sql", "goose", "0001_idem_core_1.sql"}, {"sql", "golang_migrate", "0001_idem_core_1.sql"},
		{"goose", "sql", "00001_idem_core_1.sql"}, {"goose", "golang_migrate", "00001_idem_core_1.sql"},
		{"golang_migrate", "sql", "000001_idem_core_1.up.sql"}, {"golang_migrate", "goose", "000001_idem_core_1.up.sql"},
	} {
		module(t, map[string]string{"idemgen.yaml": strings.Replace(spec, "\ntables:", "\nmigrations: {format: "+tc.was+"}\ntables:", 1)})
		must(t, "generate")
		must(t, "check")
		edit(t, "idemgen.yaml", "format: "+tc.was, "format: "+tc.is)
		refused(t, "migrations/"+tc.file+" has the format "+tc.was+", and idemgen.yaml says "+tc.is, "generate")
	}
}

// Numbers go on behind those of a tool that makes them of the time.
func TestNumbersMadeOfTheTimeGoOn(t *testing.T) {
	module(t, map[string]string{
		"idemgen.yaml":                       strings.Replace(spec, "\ntables:", "\nmigrations: {format: goose}\ntables:", 1),
		"migrations/20230201093158_them.sql": "-- +goose Up\nSELECT 1;\n",
		"migrations/20230201093159_them.go":  "package migrations\n",
	})
	must(t, "generate")
	read(t, "migrations/20230201093160_idem_core_1.sql")
	read(t, "migrations/20230201093162_order_projector.sql")
	must(t, "check")
}
