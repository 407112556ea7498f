package command

import (
	"strings"
	"testing"
)

// Nothing on which a terminal acts is printed, by no command: its characters are escaped, and all
// others stay as they are.
func TestNothingActsOnATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"ok    database  é 世界\n\tx":      "ok    database  é 世界\n\tx",
		"a\x1b[2Jb":                      `a\u001b[2Jb`,
		"a\u202Eb\u200bc":                `a\u202eb\u200bc`,
		"a\rb\x00\x7f":                   `a\u000db\u0000\u007f`,
		"a\xffb":                         `a\xffb`,
		"\u2028line, \u0085line, \ufeff": `\u2028line, \u0085line, \ufeff`,
	} {
		var out strings.Builder
		if n, err := (printable{&out}).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("%q: got %q, %d, %v", text, out.String(), n, err)
		}
	}
	var stdout, stderr strings.Builder
	Run(t.Context(), []string{"no\x1b[31msuch"}, &stdout, &stderr)
	if out := stdout.String() + stderr.String(); strings.Contains(out, "\x1b") || out == "" {
		t.Errorf("an unknown command: %q", out)
	}
}
