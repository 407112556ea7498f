package spec

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

// What README shows is what happens: the sample's spec, its generated code and its handler, and
// what the commands of the quick start print. What the go command does with them is
// TestServicesPassTheirTests's.
func TestReadmeShowsTheSample(t *testing.T) {
	readme := read(t, filepath.Join(commandtest.Repository, "README.md"))
	module(t, nil)
	said := map[string]string{}
	for _, args := range [][]string{{"init"}, {"generate", "./..."}, {"check", "./..."}} {
		code, stdout, stderr := run(t, args...)
		if said[args[0]] = stdout + stderr; code != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	spec := regexp.MustCompile(`(?m)^ *#.*\n| +#.*|^description: .*\n`)
	if shown, made := spec.ReplaceAllString(commandtest.Block(t, readme, "yaml"), ""), spec.ReplaceAllString(read(t, "idemgen.yaml"), ""); shown != strings.ReplaceAll(made, "\n\n", "\n") {
		t.Errorf("README shows the spec\n%s\ninit writes\n%s", shown, made)
	}
	code := read(t, "idem_orders_v1_gen.go") + read(t, "handler.go")
	for _, shown := range strings.Split(readme, "```go\n")[1:] {
		shown, _, _ = strings.Cut(shown, "```")
		for part := range strings.SplitSeq(shown, "\n\n") {
			if !strings.Contains(code, strings.TrimSpace(part)) {
				t.Errorf("README shows what is not generated:\n%s", part)
			}
		}
	}
	steps := readme[strings.Index(readme, "## Quick start"):]
	_, printed, _ := strings.Cut(steps, "$ go tool idemgen init\n")
	printed, _, _ = strings.Cut(printed, "...")
	rest := said["init"]
	for line := range strings.Lines(printed) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(line)+"\n")
		if !found {
			t.Errorf("init does not print %q, in the order of README:\n%s", strings.TrimSpace(line), said["init"])
		}
		rest = after
	}
	for _, command := range []string{"generate ./...", "check ./..."} {
		if !strings.Contains(steps, "$ go "+command) && !strings.Contains(steps, "$ go tool idemgen "+command) {
			t.Errorf("README has no %s", command)
		}
	}
}
