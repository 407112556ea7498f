package operators

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/halt"
)

// entry is a section of docs/operations.md and the commands in it.
func entries(t *testing.T) map[string][]string {
	t.Helper()
	found, section := map[string][]string{}, ""
	for line := range strings.Lines(read(t, "../../../../docs/operations.md")) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "### "); ok {
			section = title
			found[section] = nil
		}
		if strings.HasPrefix(line, "idemgen ") {
			found[section] = append(found[section], line)
		}
	}
	return found
}

// haltCodes are the codes that package halt declares.
func haltCodes(t *testing.T) (codes []halt.Code) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Code = "([^"]+)"`).FindAllStringSubmatch(read(t, "../../../../runtime/halt/halt.go"), -1) {
		codes = append(codes, halt.Code(m[1]))
	}
	if !slices.Contains(codes, halt.TopicRecreated) || !slices.Contains(codes, halt.Runtime) {
		t.Fatalf("the codes of halts were not found: %v", codes)
	}
	return codes
}

// accepted runs a command line up to where it connects to the database, and returns the
// command.
func accepted(t *testing.T, line string) *cobra.Command {
	t.Helper()
	args := commandtest.Words(line)
	if code, _, stderr := run(t, args[1:]...); code != trouble || !strings.HasPrefix(stderr, "idemgen: connect to the database that $DATABASE_URL names: ") {
		t.Errorf("%s: %s", line, stderr)
	}
	cmd, flags, err := command.Root(io.Discard, io.Discard, Commands()...).Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(flags)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return cmd
}

// moving are the codes of halts that a new position ends.
var moving = []halt.Code{halt.TopicRecreated, halt.LedgerMissing, halt.LedgerGone, halt.RetentionPassed, halt.LogTruncated}

// The command of each way out of a halt is one that idemgen takes.
func TestCommandsOfWaysAreTaken(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/x")
	id := "11111111-2222-3333-4444-555555555555"
	for _, way := range []halt.Way{
		{Partition: 3}, {All: true, Partitions: 12}, {All: true, Partitions: 4, Fewer: true}, {Older: true},
		{Move: &halt.Move{From: 5000, To: 4711, ApplyAgain: true}, TopicID: id}, {Move: &halt.Move{From: 4711, To: 4711}},
		{Move: &halt.Move{From: halt.NoLedger}, TopicID: id, Partitions: 12}, halt.Way{}.Pass(4711),
	} {
		way.Code, way.Consumer, way.Topic = halt.Runtime, "projector", "orders.v1"
		if name := accepted(t, way.String()).Name(); name != way.Verb() || way.Costs() == "" {
			t.Errorf("%s: %s", way, name)
		}
	}
}

// docs/operations.md has an entry for every halt, with the command that its error prints,
// and shows no command that is refused.
func TestOperationsHasEveryHalt(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/x")
	all := entries(t)
	for _, code := range haltCodes(t) {
		commands, ok := all[string(code)]
		if !ok || len(commands) == 0 {
			t.Errorf("no entry with a command for %s", code)
			continue
		}
		cmd := accepted(t, commands[0])
		way := halt.Way{Code: code}
		if slices.Contains(moving, code) {
			way.Move = &halt.Move{}
		}
		if cmd.Name() != way.Verb() || cmd.Flag("reason") == nil || cmd.Flag("reason").Value.String() != string(code) {
			t.Errorf("%s: %s is not what the error prints", code, commands[0])
		}
	}
	missing := all[string(halt.LedgerMissing)]
	if len(missing) != 2 || accepted(t, missing[1]).Name() != "set" {
		t.Errorf("ledger-missing has two ways out, and not %q", missing)
	}
	_, page, _ := strings.Cut(read(t, "../../../../docs/operations.md"), "\n### "+string(halt.LedgerMissing)+"\n")
	page, _, _ = strings.Cut(page, "\n### ")
	_, help, _ := run(t, "stream", "set", "--help")
	for _, what := range []string{halt.Skips, halt.Rereads} {
		for place, text := range map[string]string{"docs/operations.md": page, "the help of set": help} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), what) {
				t.Errorf("%s does not say of ledger-missing: %s", place, what)
			}
		}
	}
	for _, commands := range all {
		for _, line := range commands {
			accepted(t, line)
		}
	}
}
