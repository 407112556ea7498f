package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

// members are what each command has in its JSON, beside error.
var members = map[string][]string{
	"generate": {"changes", "diagnostics"}, "check": {"changes", "diagnostics"}, "init": {"changes", "diagnostics"}, "case": {"changes"}, "plan": {"changes", "diagnostics"}, "explain": {"diagnostics", "topics"}, "version": {"commit", "go", "version"},
	"stream": {}, "stream list": {"problems", "streams"}, "stream set": {"changes"}, "stream release": {"changes"}, "stream pause": {"changes"}, "stream resume": {"changes"},
	"dead": {}, "dead list": {"by_class", "dead_letters"}, "dead show": {}, "dead replay": {"letters"}, "dead discard": {"letters"},
	"find": {"answers"}, "doctor": {"checks"}, "adopt": {}, "adopt keys": {"events"},
}

// fails runs a command that must end in trouble, with one object on stdout that has its
// members, and an error that holds want.
func fails(t *testing.T, path, want string, args ...string) {
	t.Helper()
	args = append(strings.Fields(path), args...)
	code, stdout, stderr := run(t, args...)
	var got map[string]any
	commandtest.Parse(t, stdout, &got)
	text, _ := got["error"].(string)
	delete(got, "error")
	if code != trouble || !slices.Equal(slices.Sorted(maps.Keys(got)), members[path]) || !strings.Contains(text, want) || text == "" {
		t.Errorf("idemgen %v: exit code %d, stdout %s, stderr %s\nwant %q", args, code, stdout, stderr, want)
	}
	for name, value := range got {
		if list, ok := value.([]any); path != "version" && (!ok || len(list) > 0) {
			t.Errorf("idemgen %v: %s is %v", args, name, value)
		}
	}
}

// With --json a command whose arguments are wrong prints the object that it always prints.
func TestJSONOfWrongArguments(t *testing.T) {
	seen := 0
	idemgen.Every(func(cmd *cobra.Command) {
		if command.AnswerOf(cmd) == nil {
			return
		}
		seen++
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		fails(t, path, "unknown flag --nonsense; see idemgen help "+path, "--nonsense", "--json")
		fails(t, path, "unknown flag --nonsense; see idemgen help "+path, "--json", "--nonsense")
	})
	if seen != len(members) {
		t.Errorf("%d commands have --json, want %d", seen, len(members))
	}
	fails(t, "stream", "stream needs a command", "--json")
	fails(t, "stream set", "missing: --reason, ", "--json")
	fails(t, "stream list", `takes only flags, not "here"`, "--json", "here")
	fails(t, "version", `takes only flags, not "now"`, "--json", "now")
}

// With --json a command that fails at its work prints the object, too.
func TestJSONOfTrouble(t *testing.T) {
	module(t, nil)
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/x")
	for _, verb := range []string{"generate", "check"} {
		fails(t, verb, "idemgen.yaml: no such spec", "--json")
		fails(t, verb, "an argument is empty", "--json", "")
	}
	fails(t, "init", "(E215)", "--json", "--package", "main")
	write(t, "go.mod", "// empty\n")
	fails(t, "init", "names no module", "--json")
	const name = " --json --consumer c --topic t --reason r "
	for path, args := range map[string]string{
		"stream list": "--json", "dead list": "--json", "dead show": "t 0:1 --consumer c --json", "find": "t --offset 0:1 --json",
		"stream set": "--partition 0 --to 1" + name, "stream release": "--all" + name,
	} {
		fails(t, path, "connect to the database", strings.Fields(args)...)
	}
}

// A module that is not tidy is told in words of ours, also in the JSON.
func TestJSONOfAModuleThatIsNotTidy(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec, "hand.go": "package orders\n\nimport _ \"example.com/b\"\n"})
	write(t, "go.mod", "module example.com/orders\n\ngo 1.26\n\nrequire (\n\texample.com/b v0.0.0\n\texample.com/c v0.0.1\n)\n\n"+
		"replace example.com/b => ./b\n\nreplace example.com/c => ./c\n")
	write(t, "b/go.mod", "module example.com/b\n\ngo 1.26\n\nrequire example.com/c v0.0.2\n")
	write(t, "b/b.go", "package b\n")
	write(t, "c/go.mod", "module example.com/c\n\ngo 1.26\n")
	for _, verb := range []string{"generate", "check"} {
		fails(t, verb, "go.mod or go.sum is not complete", "--json")
		_, _, stderr := run(t, verb)
		if !strings.HasSuffix(stderr, "): run go mod tidy first\n") || strings.Contains(stderr, "exit status") {
			t.Error(stderr)
		}
	}
}
