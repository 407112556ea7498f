package main

import (
	"fmt"
	"strings"
)

// The page has the table between these lines.
const (
	tableBegins = "<!-- go run ./bench/compare -write -->\n"
	tableEnds   = "<!-- end -->\n"
)

// render is the table in Markdown.
func render(cells [][]string) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, f := range faults {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(faults)) + "\n")
	for i, w := range ways {
		b.WriteString(row(w, cells[i]))
	}
	return b.String()
}

func row(w way, cells []string) string {
	return fmt.Sprintf("| %s | %s |\n", w.name, strings.Join(cells, " | "))
}

// replaceTable returns a page with another table.
func replaceTable(page, table string) (string, error) {
	before, rest, begins := strings.Cut(page, tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no table: want one between %q and %q", "docs/compare.md", tableBegins, tableEnds)
	}
	return before + tableBegins + "\n" + table + "\n" + tableEnds + after, nil
}
