package resolve

import (
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
