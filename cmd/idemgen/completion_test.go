package main

import (
	"strings"
	"testing"
)

// Every shell gets a script that asks idemgen itself.
func TestCompletionScripts(t *testing.T) {
	for shell, want := range map[string]string{"bash": "complete -o default", "zsh": "#compdef idemgen", "fish": "complete -c idemgen"} {
		if script := must(t, "completion", shell); !strings.Contains(script, want) || !strings.Contains(script, "__complete") {
			t.Errorf("%s: %d bytes without %q", shell, len(script), want)
		}
	}
}

// What the scripts ask for: commands, flags, and the arguments that a command takes.
func TestCompletions(t *testing.T) {
	for _, tc := range []struct{ args, want, not string }{
		{"|", "generate\tWrite what the specs ask for", "skip"},
		{"stream|", "skip\tMove forward: the offsets up to OFFSET pass without effect", "generate"},
		{"help stream re|", "release\tThe cause is gone: try again", "skip"},
		{"stream skip --|", "--reason\twhy, as a text that is kept in the ledger", "--all"},
		{"stream release --|", "--all\t", "--from"},
		{"generate |", "yaml\n:8\n", ""}, // files that end so, and folders
		{"init |", ":16\n", ""},          // folders
		{"stream skip |", ":4\n", ""},    // no files
		{"stream skip --topic |", ":4\n", ""},
		{"version |", ":4\n", ""},
		{"dead |", "show\tShow a dead letter with its record, and what can be done next", "generate"},
		{"ledger find --|", "--offset\tthe record, as PARTITION:OFFSET", "--raw"},
		{"ledger tail |", ":4\n", ""},
		{"why |", ":4\n", ""},
	} {
		line, _, _ := strings.Cut(tc.args, "|")
		args := append([]string{"__complete"}, strings.Fields(line)...)
		if line == "" || strings.HasSuffix(line, " ") || line == "stream" {
			args = append(args, "")
		}
		code, stdout, stderr := run(t, args...)
		if code != done || !strings.Contains(stdout, tc.want) || tc.not != "" && strings.Contains(stdout, tc.not) {
			t.Errorf("idemgen %s: exit code %d\n%s%s", tc.args, code, stdout, stderr)
		}
	}
}
