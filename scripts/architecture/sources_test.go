package architecture

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What is committed is text that people read: no program, nothing that was built.
func TestNoProgramIsCommitted(t *testing.T) {
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("this is no clone of the repository: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	if len(files) < 100 {
		t.Fatalf("%d files", len(files))
	}
	for _, name := range files {
		content, err := os.ReadFile("../../" + name)
		if os.IsNotExist(err) {
			continue // it is about to be removed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "!<arch>"} {
			if bytes.HasPrefix(content, []byte(magic)) {
				t.Errorf("%s is a program, or a part of one: remove it from the repository", name)
			}
		}
	}
}
