package resolve

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/longtest"
)

// goldenSpecs are all specs under testdata/golden, smaller ones first.
func goldenSpecs(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden, "*/*/*.yaml"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d specs (%v)", len(files), err)
	}
	var out [][]byte
	for _, file := range files {
		if filepath.Base(file) == "idem.state.yaml" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	slices.SortStableFunc(out, func(a, b []byte) int { return len(a) - len(b) })
	return out
}

// modelOrError fails unless there is a model or an error, and not both.
func modelOrError(t *testing.T, data []byte) {
	t.Helper()
	spec, ds := syntax.Load("s", data)
	if spec == nil {
		return
	}
	service, more := Resolve(spec)
	ds.Append(more)
	if ds.Errors() == 0 && service == nil {
		t.Errorf("neither a model nor an error:\n%s", data)
	}
	if more.Errors() > 0 && service != nil {
		t.Errorf("a model in spite of an error:\n%s", data)
	}
}

// ordinary is the size of a spec each of whose lines is looked at.
const ordinary = 3000

// TestMissingLine: a spec that lacks one of its lines gives a model or an error. Two lines with
// the same words of the language stand for each other, if the lines behind them do, too: names do
// not matter.
func TestMissingLine(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	words, seen := builtWords(t), map[string]bool{}
	for _, data := range goldenSpecs(t) {
		if len(data) > ordinary {
			break
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := range lines {
			place := shape(words, bytes.Join(lines[i:min(i+2, len(lines))], nil))
			if !seen[place] {
				seen[place] = true
				modelOrError(t, without(lines, i))
			}
		}
	}
	if len(seen) < 2000 {
		t.Errorf("%d lines only", len(seen))
	}
}

// TestAnyMissingLine: a spec that lacks any one of its lines gives a model or an error.
func TestAnyMissingLine(t *testing.T) {
	longtest.Skip(t)
	for _, data := range goldenSpecs(t) {
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := range lines {
			modelOrError(t, without(lines, i))
		}
	}
}

func without(lines [][]byte, i int) []byte {
	return bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil)
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_.-]*`)

// shape is a text with x for each name.
func shape(words map[string]bool, text []byte) string {
	return string(word.ReplaceAllFunc(text, func(name []byte) []byte {
		if words[string(name)] {
			return name
		}
		return []byte("x")
	}))
}

func FuzzResolve(f *testing.F) {
	for _, data := range goldenSpecs(f) {
		f.Add(data)
	}
	f.Fuzz(modelOrError)
}
