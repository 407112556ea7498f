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
		{"|", "generate\tWrite the files that the specs describe", "release"},
		{"stream|", "set\tSet the offset of the next record to apply", "generate"},
		{"help stream re|", "release\tResume halted partitions", "list"},
		{"stream set --|", "--reason\treason, which the ledger keeps", "--all"},
		{"stream release --|", "--all\t", "--from"},
		{"generate |", "yaml\n:8\n", ""}, // files that end so, and folders
		{"init |", ":16\n", ""},          // folders
		{"stream set |", ":4\n", ""},     // no files
		{"stream set --topic |", ":4\n", ""},
		{"version |", ":4\n", ""},
		{"dead |", "show\tShow a dead letter with its record and the possible next steps", "generate"},
		{"find --|", "--offset\tthe record, as PARTITION:OFFSET", "--raw"},
		{"find |", ":4\n", ""},
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
