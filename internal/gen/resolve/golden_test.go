package resolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

const golden = "../../../testdata/golden"

// printed runs a spec through reading and resolving and returns what a user sees.
func printed(t testing.TB, file string, data []byte) string {
	t.Helper()
	spec, ds := syntax.Load(file, data)
	if spec != nil {
		_, more := Resolve(spec)
		ds.Append(more)
	}
	var b strings.Builder
	if err := ds.Print(&b, file, data); err != nil {
		t.Fatal(err)
	}
	if n := ds.Errors(); n > 0 {
		b.WriteString(syntax.Summary(n) + "; nothing was written\n")
	}
	return b.String()
}

// Each refused spec has the problems that its expected.txt has, and no others. What takes more
// than the spec is tested with the command: other files, and what was generated before.
func TestRefused(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden, "refused", "*", "idemgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		dir := filepath.Dir(file)
		if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
			continue
		}
		spec, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(want), "no such file") {
			continue
		}
		n++
		if got := printed(t, "idemgen.yaml", spec); got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", filepath.Base(dir), got, want)
		}
	}
	if n < 100 {
		t.Errorf("only %d specs", n)
	}
}
