package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// quickStart are the commands of README's quick start, with a local copy of idemgen in the place
// of a release.
func quickStart(t *testing.T) string {
	t.Helper()
	readme := read(t, filepath.Join(repository(), "README.md"))
	_, section, _ := strings.Cut(readme, "\n## Quick start\n")
	section, _, _ = strings.Cut(section, "\n## ")
	steps, clone, _ := strings.Cut(section, "\nWith a clone of idemgen")
	_, local, _ := strings.Cut(clone, "\n```\n")
	local, _, _ = strings.Cut(local, "\n```\n")
	var lines []string
	for line := range strings.Lines(steps) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if ok && command != "go tool idemgen dev" { // which runs until it is ended, and has its own tests
			lines = append(lines, command)
		}
	}
	if len(lines) < 6 || local == "" || !strings.HasPrefix(lines[1], "go get -tool ") || !strings.HasPrefix(lines[2], "go tool idemgen init") {
		t.Fatalf("README has no quick start:\n%s\n%s", strings.Join(lines, "\n"), local)
	}
	if n := strings.Count(steps, "go mod tidy"); n != 1 {
		t.Errorf("%d times go mod tidy", n)
	}
	script := strings.Join(append([]string{lines[0], local}, lines[2:]...), "\n") + "\n"
	return strings.ReplaceAll(script, "=../idemgen ", "="+repository()+" ")
}

// README's quick start, pasted into an empty folder, is green to its end. One go mod tidy makes
// the module complete: a second one has nothing to do.
func TestQuickStartIsGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Chdir(t.TempDir())
	script := quickStart(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-ex")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-s")
	cmd.Stdin = strings.NewReader(script)
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
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "tidy", "-diff").CombinedOutput(); err != nil {
		t.Errorf("one go mod tidy is not enough: %v\n%s", err, out)
	}
}
