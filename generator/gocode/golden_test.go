package gocode_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated files of testdata")

// TestGolden: the packages of testdata, which other tests call, are what their specs
// render to.
func TestGolden(t *testing.T) {
	for _, name := range []string{"apart", "corners", "shared", "waves"} {
		for _, f := range render(t, golden(t)[name]) {
			path := filepath.Join("testdata", name, f.Path)
			if *update {
				if err := os.WriteFile(path, f.Content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			have, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, f.Content) {
				t.Errorf("%s differs; run go test -update and read the diff\n%s", path, diff(string(have), string(f.Content)))
			}
		}
	}
}
