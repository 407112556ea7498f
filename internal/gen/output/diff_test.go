package output

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	old := "// " + Marker + "\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for _, tc := range []struct {
		name string
		c    Change
		want string
	}{
		{"line changed", Change{Op: Replace, Policy: Owned, old: []byte(old), new: []byte(strings.Replace(old, "5", "five", 1))},
			"--- f\n+++ f\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"missing", Change{Op: Create, Policy: Owned, new: []byte("a\nb\n")},
			"--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"stale", Change{Op: Remove, Policy: Owned, old: []byte("a\nb")},
			"--- f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		{"line endings only", Change{Op: Replace, Policy: Owned, old: []byte("a\r\nb\r\n"), new: []byte("a\nb\n")},
			"f: only the line endings differ: CRLF on disk, LF generated; .gitattributes keeps them (eol=lf)\n"},
		{"scaffold", Change{Op: Create, Policy: Scaffold, new: []byte("a\n")}, ""},
	} {
		tc.c.Path = "f"
		if got := tc.c.Diff(); got != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tc.name, got, tc.want)
		}
	}
}

// text is some lines, several of them equal.
func text(r *rand.Rand) []string {
	lines := make([]string, r.IntN(12))
	for i := range lines {
		lines[i] = fmt.Sprintf("%c\n", 'a'+r.IntN(9))
	}
	return lines
}

// What Diff prints is a patch that git accepts.
func TestDiffIsAPatch(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("this test needs git:", err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		dir := t.TempDir()
		a := strings.Join(text(r), "") + strings.Repeat("same\n", 9) + strings.Join(text(r), "")
		b := strings.Join(text(r), "") + strings.Repeat("same\n", 9) + strings.Join(text(r), "")
		if a == b {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(a), 0o644); err != nil {
			t.Fatal(err)
		}
		patch := (&Change{Op: Replace, Policy: Owned, Path: "f", old: []byte(a), new: []byte(b)}).Diff()
		cmd := exec.Command(git, "apply", "-p0", "--unidiff-zero")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, patch)
		}
		if got := read(t, dir, "f"); got != b {
			t.Fatalf("after the patch %q, want %q", got, b)
		}
	}
}
