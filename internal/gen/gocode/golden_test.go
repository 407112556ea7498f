package gocode_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata as the package renders it today")

// The files of topics are those beside their specs, which the command wrote. It alone knows what
// the other files hold, and what the schemas of messages say.
func TestTopicsAreTheFilesBesideTheirSpecs(t *testing.T) {
	n := 0
	for name, s := range golden(t) {
		if spec, err := os.ReadFile(filepath.Join(s.dir, "idemgen.yaml")); err != nil || bytes.Contains(spec, []byte("schema: ")) {
			continue
		}
		for _, f := range s.files {
			if strings.HasPrefix(f.Path, "idem_gen") {
				continue
			}
			n++
			if want, err := os.ReadFile(filepath.Join(s.dir, f.Path)); err != nil || !bytes.Equal(f.Content, want) {
				t.Errorf("%s: %s (%v):\n%s", name, f.Path, err, changed(string(want), string(f.Content)))
			}
		}
	}
	if n < 50 {
		t.Errorf("%d files", n)
	}
}

// What is written of types that hold others, of all notations and of each place of a field is the
// file in testdata; go test -update writes it.
func TestTypesAreTheFileInTestdata(t *testing.T) {
	spec, err := os.ReadFile("testdata/types.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, string(spec))
	files := render(t, s)
	typeCheck(t, rendered{Service: s, files: files})
	var got strings.Builder
	for _, f := range files {
		if f.Path != "idem_gen_test.go" {
			got.WriteString("-- " + f.Path + " --\n" + string(f.Content))
		}
	}
	const file = "testdata/types.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got.String() {
		t.Errorf("%v\n%s", err, changed(string(want), got.String()))
	}
}
