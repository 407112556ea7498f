package command_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
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
	commandtest.Module(t, files)
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
		specs, err := command.FindSpecs(strings.Fields(tc.args))
		var got []string
		for _, s := range specs {
			got = append(got, s.Path)
		}
		if err != nil || !slices.Equal(got, strings.Fields(tc.want)) {
			t.Errorf("%s: %v, %v; want %s", tc.args, got, err, tc.want)
		}
	}
}

// Who has specs in folders is told which, and how a command takes them.
func TestNoSuchSpecNamesThoseBelow(t *testing.T) {
	commandtest.Module(t, map[string]string{"billing/idemgen.yaml": "", "vendor/x/idemgen.yaml": ""})
	one := "idemgen.yaml: no such spec; below there is billing/idemgen.yaml: name its folder, as in idemgen generate billing"
	if _, err := command.FindSpecs(nil); err == nil || err.Error() != one {
		t.Errorf("%v, want %s", err, one)
	}
	for _, dir := range []string{"c1", "c2", "c3", "c4", "c5"} {
		commandtest.Write(t, dir+"/idemgen.yaml", "")
	}
	several := "idemgen.yaml: no such spec; below there are billing/idemgen.yaml, c1/idemgen.yaml, c2/idemgen.yaml, c3/idemgen.yaml, c4/idemgen.yaml and 1 more: " +
		"name a folder, as in idemgen generate billing, or all of them: idemgen generate ./..."
	for _, args := range [][]string{nil, {"."}} {
		if _, err := command.FindSpecs(args); err == nil || err.Error() != several {
			t.Errorf("%v, want %s", err, several)
		}
	}
	if _, err := command.FindSpecs([]string{"c1/other.yaml"}); err == nil || !strings.HasSuffix(err.Error(), "idemgen init writes a first one") {
		t.Error(err)
	}
}
