package operators

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/halt"
)

// operations is docs/operations.md.
const operations = "../../../../docs/operations.md"

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
	cmd, err := idemgen.Find(strings.TrimPrefix(line, "idemgen "))
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return cmd
}

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

// docs/operations.md has a row for every halt, and shows no command that is refused. It says of
// the two ways out of a missing ledger what the help of set says.
func TestOperationsHasEveryHalt(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/x")
	page, commands := read(t, operations), 0
	for _, code := range haltCodes(t) {
		if !regexp.MustCompile("(?m)^\\| `" + string(code) + "` \\| .+ \\|$").MatchString(page) {
			t.Errorf("no row for %s", code)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "idemgen stream ") && strings.Contains(line, " --reason ") {
			accepted(t, strings.TrimSuffix(line, "\n"))
			commands++
		}
	}
	if commands < 5 {
		t.Errorf("%d commands were found", commands)
	}
	_, page, _ = strings.Cut(page, "\n### "+string(halt.LedgerMissing)+"\n")
	page, _, _ = strings.Cut(page, "\n### ")
	_, help, _ := run(t, "stream", "set", "--help")
	for _, what := range []string{halt.Skips, halt.Rereads} {
		for place, text := range map[string]string{"docs/operations.md": page, "the help of set": help} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), what) {
				t.Errorf("%s does not say of ledger-missing: %s", place, what)
			}
		}
	}
}
