package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/keys.md is what this command makes now: of every key that a spec may have, which a test of
// package schema holds the JSON Schema to. Its links lead to headings.
func TestPageIsUpToDate(t *testing.T) {
	want, err := page("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/keys.md is not what go run ./scripts/keys writes now")
	}
	headings := map[string]bool{}
	for _, line := range strings.Split(string(want), "\n") {
		if title, is := strings.CutPrefix(line, "## "); is {
			if headings[anchor(title)] {
				t.Errorf("two sections are called %s", title)
			}
			headings[anchor(title)] = true
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(string(want), -1) {
		if !headings[link[1]] {
			t.Errorf("no section is called %s", link[1])
		}
	}
	for _, line := range []string{"| default | `earliest` |", "| values | `keep`, `drop` |", "| with | upsert |", "start_from: committed"} {
		if !bytes.Contains(want, []byte(line+"\n")) {
			t.Errorf("no line is %q", line)
		}
	}
}

// A key without a row in docs/spec.md is an error.
func TestEveryKeyHasARow(t *testing.T) {
	rows := readRows("## Types\n| key | value | meaning | refused |\n|---|---|---|---|\n| `enum` | list | texts | E312 |\n")
	if r, ok := (key{"enum", "type.enum", "a type"}).row(rows); !ok || r.value != "list" || r.meaning != "texts" || r.refused != "E312" {
		t.Errorf("%+v, %v", r, ok)
	}
	if r, ok := (key{"fields", "type.fields", "a type"}).row(rows); ok {
		t.Errorf("%+v", r)
	}
}
