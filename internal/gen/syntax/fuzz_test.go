package syntax

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func seeds(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(refusedDir + "/*/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d seeds (%v)", len(files), err)
	}
	var out [][]byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return append(out, []byte(full))
}

// FuzzLoad: no input makes Load panic; every problem stands inside the file; what is
// accepted has all its parts; and no file is called broken YAML that the parser reads.
func FuzzLoad(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkLoad(t, data)
	})
}

func checkLoad(t *testing.T, data []byte) {
	t.Helper()
	spec, ds := Load("x.yaml", data)
	src := newSource(data)
	for _, d := range ds.Sorted() {
		if d.Pos.Line < 1 || d.Pos.Line > len(src.lines) || d.Pos.Col < 1 || d.Pos.Col > len(src.lines[d.Pos.Line-1])+1 || d.Pos.Width < 1 {
			t.Fatalf("%+v is outside of the file", d)
		}
		if d.Code == "" || d.Message == "" || strings.ContainsAny(d.Message+d.Hint, "\n\t") {
			t.Fatalf("%+v", d)
		}
		// The parser accepts tabs in places where editors and people see indentation.
		if d.Code == "E101" && !strings.Contains(d.Message, "tab") {
			if _, err := parseYAML(data); err == nil {
				t.Fatalf("the parser accepts this: %+v\n%q", d, data)
			}
		}
	}
	if err := ds.Print(io.Discard, "x.yaml", data); err != nil {
		t.Fatal(err)
	}
	if (spec.Broken || len(ds.Sorted()) > 0) != (ds.Errors() > 0) {
		t.Fatalf("broken: %v, errors: %d", spec.Broken, ds.Errors())
	}
	if ds.Errors() == 0 {
		checkWhole(t, spec)
	}
}

// checkWhole: an accepted spec has everything that resolve relies on.
func checkWhole(t *testing.T, s *Spec) {
	t.Helper()
	if s.Consumer == nil || s.Package == nil || len(s.Topics) == 0 {
		t.Fatalf("%+v", s)
	}
	for _, table := range s.Tables {
		if table.PrimaryKey == nil || len(table.Columns) == 0 {
			t.Fatalf("%+v", table)
		}
		for _, c := range table.Columns {
			if c.Type.Word == "" && c.Type.Text == "" {
				t.Fatalf("%+v", c)
			}
		}
	}
	for _, topic := range s.Topics {
		if len(topic.Events) == 0 {
			t.Fatalf("%+v", topic)
		}
		for _, e := range topic.Events {
			for _, f := range e.Fields {
				if f.Type == nil {
					t.Fatalf("%+v", f)
				}
			}
			for _, step := range e.Write {
				if step.Verb.Value == "" || step.Table.Value == "" {
					t.Fatalf("%+v", step)
				}
			}
		}
	}
}

// TestTruncated: a spec that is cut anywhere, or has a byte changed anywhere, never
// panics.
func TestTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	data := []byte(full)
	const signs = "\t{:\"\n-# ?"
	for i := range data {
		checkLoad(t, data[:i])
		if i%3 > 0 { // a sign in place of each third byte
			continue
		}
		changed := bytes.Clone(data)
		changed[i] = signs[i/3%len(signs)]
		checkLoad(t, changed)
	}
}
