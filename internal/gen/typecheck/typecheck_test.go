package typecheck

import (
	"strings"
	"testing"
)

// What does not compile is told with its place, also in a test, and what compiles is not.
func TestWhatDoesNotCompileIsTold(t *testing.T) {
	c, err := New(t.Context(), ".", "fmt", "testing")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ path, name, text, want string }{
		{"example.com/a", "a.go", "package a\n\nimport \"fmt\"\n\nvar One = fmt.Sprint(1)\n", ""},
		{"example.com/b", "b.go", "package b\n\nimport \"example.com/a\"\n\nvar _ string = a.One\n", ""},
		{"example.com/b", "b.go", "package b\n\nimport \"example.com/a\"\n\nvar _ int = a.One\n", "b.go:5:13: cannot use"},
		{"example.com/c", "c_test.go", "package c\n\nimport \"testing\"\n", `c_test.go:3:8: "testing" imported and not used`},
		{"example.com/d", "d.go", "package d\n\nvar _ = \n", "d.go:3:10: expected operand"},
		{"example.com/e", "e.go", "package e\n\nimport \"net/http\"\n\nvar _ http.Client\n", "list it for the checker"},
	} {
		err := c.Check(step.path, []File{{step.name, []byte(step.text)}})
		if text := errorText(err); (step.want == "") != (text == "") || !strings.Contains(text, step.want) {
			t.Errorf("%s: %q, want %q", step.text, text, step.want)
		}
	}
	if err := c.CheckDir("example.com/f", t.TempDir()); !strings.Contains(errorText(err), "has no Go files") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := c.CheckDir("example.com/typecheck", "."); err == nil {
		t.Error("imports that are not listed are not missed")
	}
}

// The go command runs in the folder that is given, and its error says what it printed.
func TestWhereImportsAreFound(t *testing.T) {
	dir := t.TempDir()
	if _, err := New(t.Context(), dir+"/none", "fmt"); !strings.HasPrefix(errorText(err), "go list: ") {
		t.Errorf("in no folder: %v", err)
	}
	if _, err := New(t.Context(), dir, "example.com/none"); !strings.Contains(errorText(err), "exit status 1\n") || !strings.Contains(errorText(err), "example.com/none") {
		t.Errorf("of no module: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
