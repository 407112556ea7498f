package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A row that was written is read again as it was.
func TestRowsAreWrittenAndRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	out, err := create(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{
		row{id: "P1b", name: "a/b", goal: atLeast(0.75)}.entry(figure{value: 0.7, least: 0.6, most: 0.8, ours: cost{1, 2}, theirs: cost{3, 4}}, "2 cores", "v0.1.0"),
		row{id: "P15b", name: "milliseconds", goal: lessIsBetter}.entry(figure{value: 7, least: 6, most: 8}, "2 cores", "v0.1.0"),
	}
	for _, e := range want {
		if err := json.NewEncoder(out).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readEntries(file)
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] || !got[1].LessIsBetter {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("{\"id\":\"P1b\"}\n{\"id\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readEntries(file); err == nil || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("a file that was cut off: %v", err)
	}
}

// A row is marked if its best round is worse than the worst round of then, in its own direction.
func TestWhatFellIsMarked(t *testing.T) {
	then := []entry{
		{ID: "P1a", Value: 1.2, Least: 1.1, Most: 1.3, Ours: cost{0.5, 0.25}, Theirs: cost{0.75, 0.25}, Version: "v0.1.0", Conditions: "2 cores"},
		{ID: "P9", Value: 20, Least: 10, Most: 30, LessIsBetter: true},
		{ID: "P17", Name: "4 consumers/one", Value: 1, Least: 1, Most: 1},
	}
	for _, c := range []struct {
		now  entry
		want string // the end of its line
	}{
		{entry{ID: "P1a", Value: 1, Least: 0.9, Most: 1.09}, "0.25/0.25  worse"},
		{entry{ID: "P1a", Value: 1, Least: 0.9, Most: 1.11}, "0.25/0.25"},
		{entry{ID: "P1a", Value: 1.5, Least: 1.4, Most: 1.6}, "0.25/0.25"},
		{entry{ID: "P9", Value: 35, Least: 31, Most: 40, LessIsBetter: true}, "worse"},
		{entry{ID: "P9", Value: 35, Least: 29, Most: 40, LessIsBetter: true}, "20.00 (10.00 to 30.00)"},
		{entry{ID: "P9", Value: 5, Least: 4, Most: 6, LessIsBetter: true}, "20.00 (10.00 to 30.00)"},
		{entry{ID: "P17", Name: "16 consumers/one", Value: 0.5, Least: 0.5, Most: 0.5}, "no such row"},
	} {
		var out strings.Builder
		if err := writeComparison(&out, []entry{c.now}, then); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); !strings.HasPrefix(last, c.now.label()) || !strings.HasSuffix(last, c.want) {
			t.Errorf("%+v:\n%s", c.now, out.String())
		}
		if !strings.Contains(out.String(), "# then: v0.1.0; 2 cores") {
			t.Errorf("nothing says what then was:\n%s", out.String())
		}
	}
}
