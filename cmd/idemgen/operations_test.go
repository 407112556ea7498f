package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
)

// entry is a section of docs/operations.md and the commands in it.
func entries(t *testing.T) map[string][]string {
	t.Helper()
	found, section := map[string][]string{}, ""
	for line := range strings.Lines(read(t, "../../docs/operations.md")) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "### "); ok {
			section = title
			found[section] = nil
		}
		if strings.HasPrefix(line, "idemgen ") {
			found[section] = append(found[section], line)
		}
	}
	return found
}

// words splits a command line as a shell does.
var words = regexp.MustCompile(`"[^"]*"|\S+`)

func parsed(t *testing.T, line string) *streamCall {
	t.Helper()
	args := words.FindAllString(line, -1)
	for i := range args {
		args[i] = strings.Trim(args[i], `"`)
	}
	var stderr strings.Builder
	if len(args) < 2 || args[1] != "stream" {
		t.Fatalf("%s: not a command of stream", line)
	}
	s, _, ok := (&call{args: args[2:], stdout: &stderr, stderr: &stderr}).parseStream()
	if !ok {
		t.Errorf("%s: %s", line, stderr.String())
		return nil
	}
	return s
}

// docs/operations.md has an entry for every halt, with the command that its error prints,
// and shows no command that is refused.
func TestOperationsHasEveryHalt(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://localhost/x")
	all := entries(t)
	for _, code := range halt.Codes {
		commands, ok := all[string(code)]
		if !ok || len(commands) == 0 {
			t.Errorf("no entry with a command for %s", code)
			continue
		}
		s := parsed(t, commands[0])
		if s == nil {
			continue
		}
		if s.verb.name != code.Verb() || s.by.Reason != string(code) {
			t.Errorf("%s: %s is not what the error prints", code, commands[0])
		}
	}
	for _, commands := range all {
		for _, line := range commands {
			parsed(t, line)
		}
	}
}
