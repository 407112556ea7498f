//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

// quickStart are the commands of README's quick start, with this module as the clone.
func quickStart(t *testing.T) string {
	t.Helper()
	readme := read(t, filepath.Join(commandtest.Repository, "README.md"))
	_, section, _ := strings.Cut(readme, "\n## Quick start\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if ok && command != "go tool -modfile=tools.mod idemgen dev" { // which runs until it is ended, and has its own tests
			lines = append(lines, command)
		}
	}
	script := strings.Join(lines, "\n") + "\n"
	if len(lines) < 8 || !strings.HasPrefix(lines[0], "go mod init ") || strings.Count(script, "=../idemgen ") != 1 || strings.Count(script, "go mod tidy\n") != 1 {
		t.Fatalf("README has no quick start:\n%s", script)
	}
	return strings.ReplaceAll(script, "=../idemgen ", "="+commandtest.Repository+" ")
}

// README's quick start, pasted into an empty folder, is green to its end. The last go mod tidy
// makes the module complete: another one has nothing to do.
func TestQuickStartIsGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	dir := t.TempDir()
	script := quickStart(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-ex")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-s")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"+ go tool -modfile=tools.mod idemgen check ./...\n", "\nok  \texample.com/orders\t"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, line, _ := strings.Cut(read(t, filepath.Join(commandtest.Repository, "README.md")), "\n`go install ")
	line, _, _ = strings.Cut(line, "`")
	install := exec.CommandContext(t.Context(), "go", append([]string{"install"}, strings.Fields(line)...)...)
	install.Dir, install.Env = dir, append(cmd.Env, "GOBIN="+t.TempDir())
	if out, err := install.CombinedOutput(); err != nil {
		t.Errorf("go install %s: %v\n%s", line, err, out)
	}
	const most = 26 // what the service links, and what its tests link; nothing that generates
	needs := read(t, filepath.Join(dir, "go.mod"))
	if n := strings.Count(needs, "\n\t"); n > most {
		t.Errorf("go.mod requires %d modules, more than %d:\n%s", n, most, needs)
	}
	tidy := exec.CommandContext(t.Context(), "go", "mod", "tidy", "-diff")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Errorf("the module is not complete: %v\n%s", err, out)
	}
}
