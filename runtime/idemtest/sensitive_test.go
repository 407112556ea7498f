package idemtest

import (
	"strings"
	"testing"
)

// What differs is told, by table, row and column, and no value of a sensitive column with it: with
// a key, without one, and where the key itself is sensitive.
func TestDiffsOfRowsTellNoSensitiveValue(t *testing.T) {
	table := func(name string, rowsOf ...[]string) rows {
		return rows{table: name, cells: rowsOf, counted: notCounted}
	}
	c := &runner{tables: []comparedTable{
		{Name: "people", Key: []string{"id"}, Columns: []string{"id", "email", "level"}, Sensitive: []string{"email"}},
		{Name: "tokens", Key: []string{"token"}, Columns: []string{"token", "n"}, Sensitive: []string{"token"}},
		{Name: "mails", Columns: []string{"email", "n"}, Sensitive: []string{"email"}},
	}}
	want := &state{tables: []rows{
		table("people", []string{"id=1", "email=secret-a", "level=1"}, []string{"id=2", "email=secret-b", "level=1"}),
		table("tokens", []string{"token=secret-t", "n=1"}, []string{"token=secret-u", "n=1"}),
		table("mails", []string{"email=secret-m", "n=1"}),
	}}
	got := &state{tables: []rows{
		table("people", []string{"id=1", "email=secret-z", "level=2"}, []string{"id=3", "email=secret-c", "level=1"}),
		table("tokens", []string{"token=secret-t", "n=2"}),
		table("mails", []string{"email=secret-n", "n=1"}),
	}}
	texts := c.rowDiff(want, got) + "\n" + c.diffShown(want.lines(), got.lines(), want, got)
	if strings.Contains(texts, "secret") {
		t.Error(texts)
	}
	for _, told := range []string{
		"people id=1: email: want [sensitive], got another one",
		"people id=1: level: want 1, got 2",
		"people id=2: want this row, got none: id=2  email=[sensitive]  level=1",
		"people id=3: want no such row, got id=3  email=[sensitive]  level=1",
		"tokens token=[sensitive]: n: want 1, got 2",
		"mails: want email=[sensitive]  n=1",
		"+ mails: email=[sensitive]  n=1",
	} {
		if !strings.Contains(texts, told) {
			t.Errorf("not told: %s\nin\n%s", told, texts)
		}
	}
}
