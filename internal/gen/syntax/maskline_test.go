package syntax

import (
	"strings"
	"testing"
)

// What is hidden in a file that is no valid YAML is found in one pass over each line: a line of
// a megabyte with a key at every step took minutes when each match read on to the line's end.
func TestLongLinesThatAreNoYAMLAreReadOnce(t *testing.T) {
	text := "x: " + strings.Repeat("{a: ", 200_000) + "password: secret"
	_, ds := Parse([]byte(text))
	if len(ds.masked) != 1 || ds.masked[0].Col != len([]rune(text))-len("secret")+1 {
		t.Errorf("masked %v", ds.masked)
	}
	if at := environmentLine.FindStringSubmatchIndex(text); at[5]-at[4] != 1 {
		t.Errorf("a match reads %d characters of the value", at[5]-at[4])
	}
}
