package spec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/golden as the command does it today")

const golden = "../../../../testdata/golden"

// The packages of testdata/golden/accepted are what idemgen generates for their specs, and
// so are those of testdata/golden/behaviour, which tests of package generated call.
func TestGoldenAccepted(t *testing.T) {
	if *update {
		must(t, "generate", golden+"/accepted/...", golden+"/behaviour/...")
	}
	if code, diff, stderr := run(t, "check", golden+"/accepted/...", golden+"/behaviour/..."); code != done {
		t.Errorf("exit code %d; run make generate, and read the diff\n%s%s", code, diff, stderr)
	}
}

// Every spec of testdata/golden/refused is refused with exactly the text beside it.
func TestGoldenRefused(t *testing.T) {
	cases, err := os.ReadDir(golden + "/refused")
	if err != nil || len(cases) < 100 {
		t.Fatalf("%d refused specs (%v)", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			expected, err := filepath.Abs(filepath.Join(golden, "refused", c.Name(), "expected.txt"))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(filepath.Dir(expected))
			args := append([]string{"check"}, refusedSpecs(t)...)
			code, stdout, text := run(t, args...)
			if code != trouble || stdout != "" {
				t.Fatalf("exit code %d\n%s", code, stdout)
			}
			written := text
			if args[0] == "check" {
				written = generateSaysTheSame(t, args, text)
			}
			same(t, expected, written)
		})
	}
}

// generateSaysTheSame fails unless generate says what check said, and that it wrote nothing. It
// returns that.
func generateSaysTheSame(t *testing.T, args []string, text string) string {
	t.Helper()
	args[0] = "generate"
	code, stdout, written := run(t, args...)
	if code != trouble || stdout != "" || strings.Replace(written, "; nothing was written", "", 1) != text {
		t.Errorf("generate has exit code %d\n%s%s\nand check says\n%s", code, stdout, written, text)
	}
	return written
}

// refusedSpecs names the specs of the case in the working directory: idemgen.yaml, several files
// beside one another, or folders. Where before.yaml is beside the spec, that was generated first.
func refusedSpecs(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat("before.yaml"); err == nil {
		now := read(t, "idemgen.yaml")
		module(t, map[string]string{"idemgen.yaml": read(t, "before.yaml")})
		must(t, "generate")
		write(t, "idemgen.yaml", now)
	}
	if _, err := os.Stat("idemgen.yaml"); err == nil {
		return nil
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) > 0 {
		return files
	}
	return []string{"./..."}
}

// versions is the first version of a service. Its topics differ in where copies may come from.
const versions = `version: 1
consumer: cash
package: first

tables:
  entries:
    primary_key: [entry]
    columns:
      entry: text
      kind: text
      amount: bigint

topics:
  payments.v1:
    event_type: {header: type}
    idempotency_key:
      source: {header: request}
      window: 8d
    events:
      Paid:
        type: in
        fields: {entry: string, amount: int64}
        write: [{insert: entries, set: {kind: {value: paid}}}]
  sales.v1:
    record_key: {shop: string}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key:
      source: [shop, {header: request}]
      window: 8d
      copies: same_partition
    events:
      Sold:
        type: in
        fields: {entry: string, amount: int64}
        write: [{insert: entries, set: {kind: {value: sold}}}]
`

// changes are what each version changes in the one before it: old text, new text.
var changes = []struct {
	name  string
	edits [][2]string
}{
	{"first", nil},
	{"field", [][2]string{
		{"amount: bigint\n", "amount: bigint\n      note: nullable text\n"},
		{"amount: int64}", "amount: int64, note: optional string}"}, {"amount: int64}", "amount: int64, note: optional string}"},
	}},
	{"event", [][2]string{
		{"  sales.v1:", `      Refunded:
        type: out
        fields: {entry: string, amount: int64}
        write: [{insert: entries, set: {kind: {value: refunded}}, leave: [note]}]
  sales.v1:`},
		{"{kind: {value: sold}}}]\n", `{kind: {value: sold}}}]
      Returned:
        type: out
        fields: {entry: string, amount: int64}
        write: [{insert: entries, set: {kind: {value: returned}}, leave: [note]}]
`},
	}},
	{"compare", [][2]string{
		{"      window: 8d\n    events", "      window: 8d\n      compare: [amount]\n    events"},
		{"      copies: same_partition\n", "      copies: same_partition\n      compare: [amount]\n"},
	}},
	{"moved", [][2]string{
		{"source: {header: request}", "source: {header: number}"},
		{"source: [shop, {header: request}]", "source: [shop, {header: number}]"},
	}},
}

// The packages of testdata/golden/versions are what idemgen generates for one service while
// its spec changes step by step, with the state that each step leaves to the next. Tests of
// package generated run them side by side.
func TestGoldenVersions(t *testing.T) {
	versionsDir, err := filepath.Abs(golden + "/versions")
	if err != nil {
		t.Fatal(err)
	}
	module(t, map[string]string{"idemgen.yaml": versions})
	for i, c := range changes {
		for _, e := range c.edits {
			edit(t, "idemgen.yaml", e[0], e[1])
		}
		if i > 0 {
			edit(t, "idemgen.yaml", "package: "+changes[i-1].name, "package: "+c.name)
		}
		must(t, "generate")
		files, err := filepath.Glob("*_gen.go")
		if err != nil || len(files) != 3 {
			t.Fatal(files, err)
		}
		for _, f := range append(files, "idemgen.yaml") {
			same(t, filepath.Join(versionsDir, c.name, f), read(t, f))
		}
	}
	migrations, err := filepath.Glob("migrations/*_cash.sql")
	if err != nil || len(migrations) != 2 {
		t.Fatal(migrations, err)
	}
	for _, f := range migrations {
		same(t, filepath.Join(versionsDir, f), read(t, f))
	}
}

// same fails unless a golden file holds text; with -update it is written.
func same(t *testing.T, golden, text string) {
	t.Helper()
	if *update {
		write(t, golden, text)
	}
	if have, err := os.ReadFile(golden); err != nil || string(have) != text {
		t.Errorf("%s is not what idemgen generates (%v); run go test ./cmd/idemgen/internal/spec -run TestGolden -update, and read the diff", golden, err)
	}
}
