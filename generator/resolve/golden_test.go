package resolve

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/schema"
)

var update = flag.Bool("update", false, "rewrite the expected texts of testdata/golden/refused/r*")

const golden = "../../testdata/golden"

// printed runs a spec through reading and resolving and returns what a user sees.
func printed(t testing.TB, file string, data []byte) string {
	t.Helper()
	spec, ds := schema.Load(file, data)
	if spec != nil {
		_, more := Resolve(spec)
		ds.Append(more)
	}
	var b strings.Builder
	if err := ds.Print(&b, file, data); err != nil {
		t.Fatal(err)
	}
	if n := ds.Errors(); n > 0 {
		b.WriteString(schema.Summary(n))
	}
	return b.String()
}

// TestRefused: every refused spec prints exactly the text beside it.
func TestRefused(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden, "refused/*/*.yaml"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d refused specs (%v)", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := printed(t, filepath.Base(file), data)
			wantFile := filepath.Join(filepath.Dir(file), "expected.txt")
			if *update && !strings.HasPrefix(name, "s") {
				if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
