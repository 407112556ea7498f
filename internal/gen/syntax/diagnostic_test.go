package syntax

import (
	"reflect"
	"strings"
	"testing"
)

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func TestClosest(t *testing.T) {
	words := []string{"idempotency_key", "event_type", "events", "set", "by", "where", "if_newer", "if_missing"}
	for text, want := range map[string]string{
		"idempotency-key": "idempotency_key",
		"idempotencykey":  "idempotency_key",
		"event_types":     "event_type",
		"evnet_type":      "event_type",
		"Set":             "set",
		"sett":            "set",
		"if-newer":        "if_newer",
		"nothing_near":    "",
		"":                "",
		"xy":              "by",
	} {
		if got := Closest(text, words); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Closest("cat", []string{"rat", "bat", "hat"}); got != "bat" {
		t.Errorf("of equally near words %q, want the first of the alphabet", got)
	}
}

// TestPrint: order, gutter, caret, hint, and what must not reach a terminal.
func TestPrint(t *testing.T) {
	src := "a: 1\r\n\tpässword: hunter2, x: 1\r\nb: \x1b[31mred\u202e\n" + strings.Repeat("y", 150) + "z" + strings.Repeat("y", 300)
	var ds Diagnostics
	ds.Add(Pos{Line: 3, Col: 4, Width: 5}, "E901", "last but one", "")
	ds.Add(Pos{Line: 2, Col: 21, Width: 1}, "E104", "b", "a hint")
	ds.Add(Pos{Line: 2, Col: 21, Width: 1}, "E104", "a", "")
	ds.Add(Pos{Line: 2, Col: 21, Width: 1}, "E104", "a", "")
	ds.Add(Pos{Line: 2, Col: 21, Width: 1}, "E101", "z", "")
	ds.Add(Pos{Line: 4, Col: 151, Width: 999}, "E103", "long", "")
	ds.Mask(Pos{Line: 2, Col: 12, Width: 7})
	want := `dir/s.yaml:2:21: E101: z
    2 |  pässword: ***, x: 1
      |                 ^
dir/s.yaml:2:21: E104: a
    2 |  pässword: ***, x: 1
      |                 ^
dir/s.yaml:2:21: E104: b
    2 |  pässword: ***, x: 1
      |                 ^
      = hint: a hint
dir/s.yaml:3:4: E901: last but one
    3 | b: �[31mred�
      |    ^^^^^
dir/s.yaml:4:151: E103: long
    4 | ...` + strings.Repeat("y", 100) + "z" + strings.Repeat("y", 139) + `...
      | ` + strings.Repeat(" ", 103) + strings.Repeat("^", 140) + `
5 problems found; nothing was written
`
	if got := printed(t, ds, "dir/s.yaml", []byte(src)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Of many problems a hundred are printed.
func TestManyProblemsArePrintedInPart(t *testing.T) {
	var ds Diagnostics
	for n := range 150 {
		ds.Add(Pos{Line: 1, Col: n + 1, Width: 1}, "E104", "an error", "")
	}
	var out strings.Builder
	if err := ds.Print(&out, "s.yaml", []byte(strings.Repeat("x", 150)+"\ny\n")); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Count(text, "E104") != 100 || !strings.HasSuffix(text, "s.yaml: problems that are not shown: 50\n") {
		t.Errorf("got\n%s", text)
	}
}

// TestSecrets: what stands beside a setting of the environment is in no output,
// whatever else is wrong with the file.
func TestSecrets(t *testing.T) {
	for _, text := range []string{
		"password: hunter2\n",
		"kafka: {password: hunter2, x: a?}\n",
		"version: 1\nkafka:\n  sasl: {password: \"hunter2\", x: a[]}\n",
		"database_url: postgres://app:hunter2@db/x\n  x: 1\n",
		"version: 1\nlimits: {dsn: 'hunter2', batch_events: x}\n",
		"{\"password\": hunter2, a: *b}\n",
		"topics:\n\tdsn: hunter2\n",
	} {
		out := output(t, "s.yaml", []byte(text))
		if out == "" || strings.Contains(out, "hunter2") {
			t.Errorf("%q:\n%s", text, out)
		}
	}
}
