package draw_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/compile"
	"github.com/idemgen/idemgen/scripts/mutants/draw"
)

const source = `package x

import "errors"

func f(a, b int, done chan int) (int, error) {
	defer close(done)
	if a < b && b != 0 {
		return 0, errors.New("less")
	}
	switch a {
	case 1, 2:
		a = b - 1
	}
	select {
	case <-done:
	default:
		panic("never")
	}
	return g(a, b, true), nil
}

func g(a, b int, sum bool) int {
	if sum {
		return a + b
	}
	return a
}
`

// TestEachPlaceHasItsBugs: the list has each change that another program makes, and Draw takes
// those that compile, in an order that its seed decides.
func TestEachPlaceHasItsBugs(t *testing.T) {
	root := t.TempDir()
	for name, src := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.24\n", "x.go": source} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := compile.New(root, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Package(".")
	if err != nil {
		t.Fatal(err)
	}
	src := []byte(source)
	all := draw.All(p, func(string) []byte { return src })
	var got []string
	for _, b := range all {
		got = append(got, strings.TrimPrefix(b.Text(src), "x.go:"))
	}
	want := []string{
		"6: a statement is dropped: defer close(done)",
		"7: a condition is negated: a < b && b != 0 -> !(a < b && b != 0)",
		"7: an operand of a condition is dropped: a < b && b != 0 -> a < b",
		"7: an operand of a condition is dropped: a < b && b != 0 -> b != 0",
		"7: a bound is shifted: < -> <=",
		`8: nil is returned for an error: errors.New("less") -> nil`,
		"11: a case is dropped: case 1, 2: a = b - 1",
		"11: a case is dropped: , 2",
		"12: a statement is dropped: a = b - 1",
		"12: plus and minus are exchanged: - -> +",
		"15: a case is dropped: case <-done:",
		`16: a case is dropped: default: panic("never")`,
		"19: arguments are exchanged: a, b -> b, a",
		"19: true and false are exchanged: true -> false",
		"23: a condition is negated: sum -> !(sum)",
		"24: plus and minus are exchanged: + -> -",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	compiles := func(b draw.Bug) bool { return c.Check(".", map[string][]byte{b.Path: b.Apply(src)}) == nil }
	drawn := draw.Draw(all, 100, 1, compiles)
	if len(drawn) != len(want)-1 { // without the last use of errors, its import is an error
		t.Errorf("%d of the bugs compile, want all but one", len(drawn))
	}
	if again := draw.Draw(all, 100, 1, compiles); !slices.Equal(again, drawn) {
		t.Error("one seed draws in two orders")
	}
	if other := draw.Draw(all, 100, 2, compiles); slices.Equal(other, drawn) {
		t.Error("two seeds draw in one order")
	}
}
