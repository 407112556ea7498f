package gocode_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated files of testdata/corners")

// TestGolden: the package of testdata/corners, which the tests below call, is what its
// spec renders to.
func TestGolden(t *testing.T) {
	const dir = "testdata/corners"
	for _, f := range render(t, golden(t)["corners"]) {
		path := filepath.Join(dir, f.Path)
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
