package syntax

import (
	"bytes"
	"strings"
	"testing"
)

// TestParse: scalars keep their text, nothing is read as a number, a bool or a date.
func TestParse(t *testing.T) {
	n, ds := Parse([]byte("a: 010\nb: [yes, 1e3, 2020-01-01, 'null', null]\nc: {d: \"x\\ty\"}\na: twice\n"))
	if ds.Errors() != 0 {
		t.Fatal(printed(t, ds, "x", nil))
	}
	if got := n.Get("a").Text; got != "010" {
		t.Errorf("a: %q", got)
	}
	var items []string
	for _, i := range n.Get("b").Items {
		items = append(items, i.Text)
	}
	if got := strings.Join(items, " "); got != "yes 1e3 2020-01-01 null null" {
		t.Errorf("b: %q", got)
	}
	if b := n.Get("b").Items; b[3].null() || !b[4].null() {
		t.Errorf("null in quotes: %v, plain: %v", b[3].null(), b[4].null())
	}
	if d := n.Get("c").Get("d"); d.Text != "x\ty" || d.Pos != (Pos{Line: 3, Col: 8, Width: 6}) {
		t.Errorf("c.d: %+v", d)
	}
	if len(n.Pairs) != 4 || n.Get("x") != nil {
		t.Errorf("%d pairs", len(n.Pairs))
	}
	if n, ds := Parse([]byte("# nothing\n")); n != nil || ds.Errors() != 0 {
		t.Errorf("an empty document: %v, %d errors", n, ds.Errors())
	}
}

// TestFileLimits: what is at the limit passes, what is beyond it is E103.
func TestFileLimits(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		ok   bool
	}{
		"1 MiB":           {"a: 1\n" + strings.Repeat("#", MaxFileSize-6) + "\n", true},
		"1 MiB and 1":     {"a: 1\n" + strings.Repeat("#", MaxFileSize-5) + "\n", false},
		"10 MiB":          {strings.Repeat("a: 1\n", 2<<20), false},
		"64 levels":       {strings.Repeat("[", 64) + strings.Repeat("]", 64), true},
		"65 levels":       {strings.Repeat("[", 65) + strings.Repeat("]", 65), false},
		"64 block levels": {strings.Repeat("- ", 64) + "x", true},
		"65 block levels": {strings.Repeat("- ", 65) + "x", false},
		"1000 items":      {strings.Repeat("- x\n", 1000), true},
		"1001 items":      {strings.Repeat("- x\n", 1001), false},
		"1000 flow items": {"[" + strings.Repeat("x, ", 1000) + "]", true},
		"1001 flow items": {"[" + strings.Repeat("x, ", 1001) + "]", false},
		"50000 values":    {strings.Repeat("-\n"+strings.Repeat(" - x\n", 998), 50) + "-\n" + strings.Repeat(" - x\n", 48), true},
		"50001 values":    {strings.Repeat("-\n"+strings.Repeat(" - x\n", 998), 50) + "-\n" + strings.Repeat(" - x\n", 49), false},
		"a million open":  {strings.Repeat("[", 1_000_000), false},
		"deep and nested": {strings.Repeat("- ", 500_000) + "x", false},
	} {
		_, ds := Parse([]byte(c.data))
		codes := map[string]bool{}
		for _, d := range ds.Sorted() {
			codes[d.Code] = true
		}
		if ok := len(codes) == 0; ok != c.ok || !ok && (len(codes) != 1 || !codes["E103"]) {
			t.Errorf("%s: %v", name, codes)
		}
	}
}

// What YAML allows is read, unless it holds what specs may not.
func TestSoundFilesAreRead(t *testing.T) {
	for _, text := range []string{
		"a:\n- x\n- y\nb: 1\n",
		"a:\n  - x: 1\n    y: 2\n  -\n    x: 3\n",
		"a: it's & *that* ! # note\n",
		"a: one\n  two & *three\n  'four'\nb: 1\n",
		"a: |\n  *x\n  &y: {\n\n  \"\nb: 1\n",
		"- |2\n   *x\n- >-\n  &y\n",
		"a:\n  |\n  *x\nb: 1\n",
		"a: 'x: y'\n\"b c\": 'it''s {'\n",
		"a: \"x\n  y\\\" *z\n\n  \"\nb: [\n1,\n 2 # {\n]\n",
		"a: {b: c:d, e: -f, g: \"h\"}\n",
		"? a\n: b\n? [c, d]\n: e\n",
		"---\na: 1\n...\n",
		"a: http://x.y/z?q=1&r=*\n",
		"a: {b: [c, 'd', {e: f}], g: }\n",
		"a:\n\n# x\n    # y\n  b: 1\n",
		"a: {b: \"numeric(12,2)\", c: (x), d: f(x)}\n",
	} {
		if _, ds := Parse([]byte(text)); ds.Errors() > 0 && !strings.HasPrefix(text, "? ") { // whose second key is a list
			t.Errorf("%q:\n%s", text, printed(t, ds, "x", []byte(text)))
		}
	}
}

// A file that YAML refuses is told by the line that breaks it, and the place on it.
func TestBrokenFilesTellTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: [c, d}\n":              `x:1:13: E101: not valid YAML: "}" does not close "["`,
		"a: [b, - c]\n":                `x:1:8: E101: not valid YAML: inside { } and [ ] a list item has no "-"`,
		"a:\n  b: {c: d, e:\nf: g\n":   `x:2:6: E101: not valid YAML: "{" is not closed`,
		"a: {b: @c}\n":                 `x:1:8: E101: not valid YAML: a string cannot start with "@"`,
		"a: 1\nb: }c\n":                `x:2:4: E101: not valid YAML: a string cannot start with "}"`,
		"a: {b:[c]}\n":                 `x:1:7: E113: YAML does not allow "[" after a value inside { } or [ ]`,
		"a: 'b\nc: d\n":                `x:1:4: E101: not valid YAML: this quote is not closed`,
		"a:\n  b: 1\n\n  c: \"\\q\"\n": `x:4:3: E101: not valid YAML: there is no such \ escape in "..."; in '...' a \ is a \`,
		"a: *b\n":                      `x:1:1: E102: YAML aliases are not allowed (*b)`,
		"a:\n  - b\n  c: d\n":          `x:3:3: E101: not valid YAML: a list continues here, and its items start with "- "`,
	} {
		_, ds := Parse([]byte(text))
		if got := printed(t, ds, "x", []byte(text)); !strings.HasPrefix(got, want+"\n") {
			t.Errorf("%q:\n%swant %s", text, got, want)
		}
	}
}

// Nothing behind the largest size of a file is looked at, also not to show a place in it.
func TestWhatIsTooLargeIsNotSplit(t *testing.T) {
	if n := len(newSource(bytes.Repeat([]byte("\n"), 2*MaxFileSize)).lines); n > MaxFileSize+1 {
		t.Errorf("%d lines", n)
	}
}
