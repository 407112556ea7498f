package commandtest

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

var (
	codeSpans  = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
	ownCommand = regexp.MustCompile(`(?:^|[\s"]|&& )(?:go tool )?idemgen ([a-z][^\n|>#]*)`)
	remarks    = regexp.MustCompile(`(?m)(^|  )#.*`)
)

// Code returns the code of a page, without comments of shells and with continued lines joined.
func Code(page string) (all []string) {
	for _, code := range codeSpans.FindAllString(page, -1) {
		all = append(all, remarks.ReplaceAllString(strings.ReplaceAll(strings.Trim(code, "`"), "\\\n", " "), ""))
	}
	return all
}

// Lines returns the arguments of the commands of idemgen in the code of a page, in their order.
func Lines(page string) (all []string) {
	for _, code := range Code(page) {
		for _, m := range ownCommand.FindAllStringSubmatch(code, -1) {
			line, _, _ := strings.Cut(m[1], "&&")
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// Find returns the command that a line of arguments names, with the flags that the line gives.
func (c Commands) Find(line string) (*cobra.Command, error) {
	cmd, flags, err := command.Root(io.Discard, io.Discard, c(nil)...).Find(Words(line))
	if err == nil {
		err = cmd.ParseFlags(flags)
	}
	return cmd, err
}

// Play plays each command of a page in its order, as a subtest: with the function of its name,
// which gets its arguments. A command without a function fails the test, and so does a page with
// few commands. It returns the names of those that were played.
func (c Commands) Play(t *testing.T, page string, atLeast int, plays map[string]func(t *testing.T, args []string)) map[string]bool {
	lines, played := Lines(page), map[string]bool{}
	for _, line := range lines {
		cmd, _ := c.Find(line) // flags without their values are only named
		name := strings.TrimPrefix(cmd.CommandPath(), "idemgen ")
		if played[name] = true; plays[name] == nil {
			t.Errorf("nothing plays idemgen %s", line)
			continue
		}
		t.Run(strings.ReplaceAll(line, "/", "_"), func(t *testing.T) { plays[name](t, Words(line)) })
	}
	if len(lines) < atLeast {
		t.Errorf("the page has %d commands: %q", len(lines), lines)
	}
	return played
}
