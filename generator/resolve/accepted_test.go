package resolve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// accept resolves a spec that must have no error.
func accept(t testing.TB, file string, data []byte) *model.Service {
	t.Helper()
	spec, ds := schema.Load(file, data)
	if ds.Errors() > 0 || spec == nil {
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
	data, err := os.ReadFile(filepath.Join(golden, "accepted", name, "idemgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return accept(t, "idemgen.yaml", data)
}

// TestAccepted: every accepted spec resolves without an error.
func TestAccepted(t *testing.T) {
	dirs, err := os.ReadDir(filepath.Join(golden, "accepted"))
	if err != nil || len(dirs) < 4 {
		t.Fatalf("%d accepted specs (%v)", len(dirs), err)
	}
	for _, d := range dirs {
		t.Run(d.Name(), func(t *testing.T) { acceptedSpec(t, d.Name()) })
	}
}
