package generator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
)

// The set-up of tests goes beside the one that is there; one that cannot be read is an error.
func TestSetUpStandsBesideTheOneThatIsThere(t *testing.T) {
	for what, c := range map[string]struct {
		make          func(path string) error
		handler, logs string
	}{
		"nothing":  {func(string) error { return nil }, scaffold.SetupFile, scaffold.SetupFile},
		"a set-up": {func(path string) error { return os.WriteFile(path, []byte("package p\n"), 0o644) }, "idem_setup_handler_test.go", "idem_setup_log_test.go"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o755) }, "", ""},
	} {
		dir := t.TempDir()
		if err := c.make(filepath.Join(dir, scaffold.SetupFile)); err != nil {
			t.Fatal(err)
		}
		folder, err := output.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		u := &starters{source: &source{folder: folder}}
		for handler, want := range map[bool]string{true: c.handler, false: c.logs} {
			if got, err := u.setupFile(handler); got != want || (err == nil) != (want != "") {
				t.Errorf("%s, a handler %v: %q, %v; want %q", what, handler, got, err, want)
			}
		}
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	}
}
