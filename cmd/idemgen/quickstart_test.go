//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/internal/proof/quickstart"
)

// placed makes the folder of a module in a place, and returns it. A workspace has a second module.
func placed(t *testing.T, place quickstart.Place) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "orders")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if place.Workspace {
		around := filepath.Dir(dir)
		commandtest.Write(t, filepath.Join(around, "go.work"), "go 1.26.0\n\nuse ./shared\n")
		commandtest.Write(t, filepath.Join(around, "shared", "go.mod"), "module example.com/shared\n\ngo 1.26.0\n")
		commandtest.Write(t, filepath.Join(around, "shared", "shared.go"), "package shared\n")
	}
	return dir
}

// README's quick start, pasted into an empty folder, is green to its end, with this repository as
// the clone: in a module alone, in a workspace of two, vendored, and both. The last go mod tidy
// makes the module complete: another one has nothing to do.
func TestQuickStartIsGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	guide, err := quickstart.Parse(read(t, filepath.Join(commandtest.Repository, "README.md")))
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range quickstart.Places {
		t.Run(place.String(), func(t *testing.T) {
			t.Parallel()
			if place != (quickstart.Place{}) {
				longtest.Skip(t) // all that is vendored is compiled again; make release-check plays it, too
			}
			isGreen(t, placed(t, place), guide.Cloned(commandtest.Repository).In(place))
		})
	}
}

// isGreen plays a guide in a folder.
func isGreen(t *testing.T, dir string, guide *quickstart.Guide) {
	environment := append(os.Environ(), "GOWORK=", "GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-s")
	cmd := exec.CommandContext(t.Context(), "sh", "-ex")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environment, strings.NewReader(guide.Script())
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"+ go tool idemgen check ./...\n", "\nok  \texample.com/orders\t"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	install := exec.CommandContext(t.Context(), "sh", "-ec", guide.Install)
	install.Dir, install.Env = dir, append(slices.Clone(environment), "GOBIN="+t.TempDir())
	if out, err := install.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", guide.Install, err, out)
	}
	const most = 39 // what the service links, what its tests link, and what the tool does
	needs := read(t, filepath.Join(dir, "go.mod"))
	if n := strings.Count(needs, "\n\t"); n > most {
		t.Errorf("go.mod requires %d modules, more than %d:\n%s", n, most, needs)
	}
	tidy := exec.CommandContext(t.Context(), "go", "mod", "tidy", "-diff")
	tidy.Dir, tidy.Env = dir, environment
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Errorf("the module is not complete: %v\n%s", err, out)
	}
}
