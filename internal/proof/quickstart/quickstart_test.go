package quickstart

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T) (*Guide, string) {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Parse(string(readme))
	if err != nil {
		t.Fatal(err)
	}
	return g, string(readme)
}

// What README adds for a workspace and for vendored modules comes where it says.
func TestPlaces(t *testing.T) {
	g, _ := parsed(t)
	for place, want := range map[Place]string{
		{}:                                "init, get, tool, tidy",
		{Workspace: true}:                 "init, use, get, tool, tidy",
		{Vendored: true}:                  "init, get, mod vendor, tool, tidy, mod vendor",
		{Workspace: true, Vendored: true}: "init, use, get, work vendor, tool, tidy, work vendor",
	} {
		for _, guide := range []*Guide{g, g.Cloned("/clone")} {
			var got []string
			for _, command := range guide.In(place).Commands {
				for prefix, word := range map[string]string{
					"go mod init ": "init", "go work use .": "use", "go get -tool ": "get", "go mod edit -tool=": "get", "go mod vendor": "mod vendor",
					"go work vendor": "work vendor", "go tool idemgen init": "tool", "go mod tidy": "tidy",
				} {
					if strings.HasPrefix(command, prefix) {
						got = append(got, word)
					}
				}
			}
			if text := strings.Join(got, ", "); text != want {
				t.Errorf("%s: %s, want %s", place, text, want)
			}
		}
	}
	if commands := g.Cloned("/clone").Commands; !strings.Contains(commands[1], "=/clone ") || slices.Equal(commands, g.Commands) {
		t.Errorf("with a clone: %q", commands)
	}
}

// A README that lacks one of the commands, or names two versions, is refused.
func TestReadmeWithoutACommand(t *testing.T) {
	g, readme := parsed(t)
	for _, gone := range []string{"$ go mod init", "$ go get -tool", "$ " + Dev, "`go work use .`", "`go mod vendor`", "`go work vendor`", "-replace=", "`go install ", "cmd/idemgen@" + g.Version + "`"} {
		if _, err := Parse(strings.ReplaceAll(readme, gone, "")); err == nil {
			t.Errorf("without %q it is read", gone)
		}
	}
}
