package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

// members are what each command has in its JSON, beside error.
var members = map[string][]string{
	"generate": {"changes", "diagnostics"}, "check": {"changes", "diagnostics"}, "init": {"changes", "diagnostics"}, "case": {"changes"}, "plan": {"changes", "diagnostics"}, "explain": {"diagnostics", "topics"}, "version": {"commit", "go", "version"},
	"stream": {}, "stream list": {"problems", "streams"}, "stream set": {"changes"}, "stream release": {"changes"}, "stream pause": {"changes"}, "stream resume": {"changes"},
	"dead": {}, "dead list": {"by_class", "dead_letters"}, "dead show": {}, "dead replay": {"letters"}, "dead discard": {"letters"},
	"find": {"answers"}, "doctor": {"checks"}, "adopt": {}, "adopt keys": {"events"},
}

// fails runs a command that must end in trouble, with one object on stdout that has its members.
func fails(t *testing.T, path, want string, args ...string) {
	t.Helper()
	idemgen.Fails(t, members[path], path, want, args...)
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
