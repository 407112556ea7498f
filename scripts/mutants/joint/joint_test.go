package joint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/joint"
)

const before = `package main

import (
	"errors"
	"fmt"
)

type box[T any] struct{ v T }

// get has a receiver without a name.
func (b box[T]) get(_ int, more ...string) (T, error) {
	if len(more) > 1 {
		return b.v, errors.New("more")
	}
	return b.v, nil
}

func pick[T any](a, b T, _ bool) T { return a }

func (*unnamed) say(int) { fmt.Print("say ") }

type unnamed struct{}

func main() {
	v, err := box[int]{1}.get(0, "a", "b")
	fmt.Print(v, err, " ", pick("a", "b", true), " ")
	(&unnamed{}).say(1)
}

const text = "x"
`

// TestProgramHasTheBugThatIsChosen: one program has all bugs. It is as before unless one is
// chosen, and says which functions it reaches.
func TestProgramHasTheBugThatIsChosen(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module example.com/x\n\ngo 1.24\n")
	write(t, filepath.Join(root, "main.go"), before)
	set := joint.New()
	for n, change := range [][2]string{
		{"len(more) > 1", "len(more) > 2"},
		{`errors.New("more")`, "nil"},
		{"T { return a }", "T { return b }"},
		{`fmt.Print("say ")`, `fmt.Print("SAY ")`},
	} {
		changed := joint.Sources{Before: []byte(before), After: []byte(strings.Replace(before, change[0], change[1], 1))}
		if err := set.Add(n+1, map[string]joint.Sources{"main.go": changed}); err != nil {
			t.Fatal(err)
		}
	}
	outside := joint.Sources{Before: []byte(before), After: []byte(strings.Replace(before, `text = "x"`, `text = "y"`, 1))}
	if err := set.Add(5, map[string]joint.Sources{"main.go": outside}); err == nil {
		t.Error("a bug in a constant was added")
	}
	list, err := set.Overlay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-overlay="+list, "-o", bin, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	reached := filepath.Join(t.TempDir(), "reached")
	for bug, want := range map[string]string{
		"":          "1 more a say ",
		"1":         "1 <nil> a say ",
		"2":         "1 <nil> a say ",
		"3":         "1 more b say ",
		"4":         "1 more a SAY ",
		joint.Watch: "1 more a say ",
	} {
		cmd := exec.Command(bin)
		cmd.Env = append(os.Environ(), joint.Variable+"="+bug, joint.Reached+"="+reached)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("bug %q: %v, printed %q, want %q", bug, err, out, want)
		}
	}
	if src, err := os.ReadFile(reached); err != nil || string(src) != "1\n2\n3\n4\n" {
		t.Errorf("reached %q (%v), want all four", src, err)
	}
}

func write(t *testing.T, path, src string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
}
