package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	switch err := serveIfChild(context.Background()); err {
	case errNoChild:
		os.Exit(m.Run())
	case nil:
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// page is docs/compare.md's table, cell by cell.
func page(t *testing.T) (rows map[string][]string, table string) {
	t.Helper()
	text, err := os.ReadFile("../../" + pageFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, table, _, err = tableOf(string(text)); err != nil {
		t.Fatal(err)
	}
	rows = map[string][]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == len(faults)+1 {
			rows[cells[0]] = cells[1:]
		}
	}
	return rows, table
}

// The page has what the command would print, as far as that is known before it runs.
func TestPageHasEachWayAndFault(t *testing.T) {
	rows, table := page(t)
	cells := make([][]string, len(ways))
	for i, w := range ways {
		cells[i] = rows[w.name]
	}
	if want := render(cells); table != want {
		t.Errorf("%s has\n%s\nwant\n%s", pageFile, table, want)
	}
}

// The page says what happens: a part of the table, because all of it takes more than a minute.
func TestPageSaysWhatHappens(t *testing.T) {
	t.Parallel()
	s, err := open(t.Context(), "../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	rows, _ := page(t)
	played := map[string]bool{}
	for _, of := range []struct{ way, fault string }{
		{"franz-go, no check", "reply to the commit lost"},
		{"ids in a transaction of their own", "reply to the commit lost"},
		{"ids in the effect's transaction", "6 events resent"},
		{"**idemgen**", "reply to the commit lost"},
	} {
		for _, w := range ways {
			for i, f := range faults {
				if w.name != of.way || f.name != of.fault {
					continue
				}
				played[of.way] = true
				t.Run(w.name+", "+f.name, func(t *testing.T) {
					t.Parallel()
					got, err := s.play(t.Context(), w, f)
					if err != nil {
						t.Fatal(err)
					}
					if want := rows[w.name][i]; got != want {
						t.Errorf("%s: %s, but %s says %s", f.name, got, pageFile, want)
					}
				})
			}
		}
		if !played[of.way] {
			t.Errorf("no way %q with a fault %q", of.way, of.fault)
		}
	}
}
