package resolve

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/schema"
)

// goldenSpecs are all specs under testdata/golden.
func goldenSpecs(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden, "*/*/*.yaml"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d specs (%v)", len(files), err)
	}
	var out [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// modelOrError fails unless there is a model or an error, and not both.
func modelOrError(t *testing.T, data []byte) {
	t.Helper()
	spec, ds := schema.Load("s", data)
	if spec == nil {
		return
	}
	service, more := Resolve(spec)
	ds.Append(more)
	if ds.Errors() == 0 && service == nil && !spec.Library {
		t.Errorf("neither a model nor an error:\n%s", data)
	}
	if more.Errors() > 0 && service != nil {
		t.Errorf("a model in spite of an error:\n%s", data)
	}
}

// TestMissingLine: a spec that lacks any one of its lines gives a model or an error.
func TestMissingLine(t *testing.T) {
	for _, data := range goldenSpecs(t) {
		if len(data) > 6000 && testing.Short() {
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := range lines {
			modelOrError(t, bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil))
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, data := range goldenSpecs(f) {
		f.Add(data)
	}
	f.Fuzz(modelOrError)
}
