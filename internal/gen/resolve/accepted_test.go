package resolve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// accept resolves a spec that must have no error.
func accept(t testing.TB, file string, data []byte) *model.Service {
	t.Helper()
	spec, ds := syntax.Load(file, data)
	if ds.Errors() > 0 {
		t.Fatalf("%s", printed(t, file, data))
	}
	s, more := Resolve(spec)
	if s == nil || more.Errors() > 0 {
		t.Fatalf("%s", printed(t, file, data))
	}
	return s
}

// acceptedSpec resolves testdata/golden/accepted/<name>.
func acceptedSpec(t testing.TB, name string) *model.Service {
	t.Helper()
	file := filepath.Join(golden, "accepted", name, "idemgen.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return accept(t, file, data)
}

// TestAccepted: every accepted spec resolves without an error.
func TestAccepted(t *testing.T) {
	var specs []string
	for _, pattern := range []string{"*/idemgen.yaml", "*/*/idemgen.yaml"} {
		found, err := filepath.Glob(filepath.Join(golden, "accepted", pattern))
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, found...)
	}
	if len(specs) < 30 {
		t.Fatalf("%d accepted specs", len(specs))
	}
	for _, file := range specs {
		name, err := filepath.Rel(filepath.Join(golden, "accepted"), filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { acceptedSpec(t, name) })
	}
}
