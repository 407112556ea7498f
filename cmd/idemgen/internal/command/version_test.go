package command_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

func TestVersionAsJSON(t *testing.T) {
	must := commandtest.Commands(func([]string) []*cobra.Command { return nil }).Must
	var b struct{ Version, Commit, Go string }
	commandtest.Parse(t, must(t, "version", "--json"), &b)
	is := command.Version()
	if text := must(t, "version"); is.Version == "" || b != is || text != "idemgen "+is.String()+"\n" || text != must(t, "--version") || !strings.HasPrefix(b.Go, "go1.") {
		t.Errorf("%+v, and as text %s", b, text)
	}
	is.Version, is.Commit, is.Go = "v0.1.0", "3f0c", "go1.26.8"
	if text := is.String(); text != "v0.1.0, commit 3f0c, go1.26.8" {
		t.Error(text)
	}
}
