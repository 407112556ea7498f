package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindSpecs(t *testing.T) {
	files := map[string]string{
		"sub/other.yaml":               "",
		"sub/deep/vendored/notes.yaml": "",
		"nested/go.mod":                "module nested\n",
		"testdata/deep/go.mod":         "module deep\n",
	}
	for _, dir := range []string{
		".", "a", "sub", "vendor/x", "testdata/x", "node_modules/x", ".hidden", "_old", "nested", "nested/in", "testdata/deep",
	} {
		files[filepath.Join(dir, "idemgen.yaml")] = ""
	}
	module(t, files)
	for _, tc := range []struct{ args, want string }{
		{"", "idemgen.yaml"},
		{"sub", "sub/idemgen.yaml"},
		{"./sub/", "sub/idemgen.yaml"},
		{"./sub/other.yaml sub", "./sub/other.yaml sub/idemgen.yaml"},
		{"./...", "a/idemgen.yaml idemgen.yaml sub/idemgen.yaml"},
		{"...", "a/idemgen.yaml idemgen.yaml sub/idemgen.yaml"},
		{"sub/... ./sub sub/idemgen.yaml", "sub/idemgen.yaml"},
		{"testdata/...", "testdata/x/idemgen.yaml"},
		{"nested/...", "nested/idemgen.yaml nested/in/idemgen.yaml"},
	} {
		specs, err := findSpecs(strings.Fields(tc.args))
		var got []string
		for _, s := range specs {
			got = append(got, s.Path)
		}
		if err != nil || !slices.Equal(got, strings.Fields(tc.want)) {
			t.Errorf("%s: %v, %v; want %s", tc.args, got, err, tc.want)
		}
	}
}
