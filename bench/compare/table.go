package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// The page has the table between these lines.
const (
	tableBegins = "<!-- go run ./bench/compare -write -->\n"
	tableEnds   = "<!-- end of what it wrote -->\n"
)

// render is the table in Markdown, with the versions of what was run.
func render(cells [][]string) string {
	var b strings.Builder
	b.WriteString(header())
	b.WriteString("|---|" + strings.Repeat("---|", len(faults)) + "\n")
	for i, w := range ways {
		fmt.Fprintf(&b, "| %s | %s |\n", w.name, strings.Join(cells[i], " | "))
	}
	return b.String() + "\n" + versions()
}

func header() string {
	var b strings.Builder
	b.WriteString("| way |")
	for _, f := range faults {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	return b.String() + "\n"
}

// libraries are those whose versions the page names, by module.
var libraries = [][2]string{
	{"franz-go", "github.com/twmb/franz-go"},
	{"Watermill", "github.com/ThreeDotsLabs/watermill"},
	{"watermill-kafka", "github.com/ThreeDotsLabs/watermill-kafka/v3"},
}

func versions() string {
	info, _ := debug.ReadBuildInfo()
	var all []string
	for _, l := range libraries {
		for _, m := range info.Deps {
			if m.Path == l[1] {
				all = append(all, l[0]+" "+m.Version)
			}
		}
	}
	return "Run with " + strings.Join(all, ", ") + ".\n"
}

// tableOf is the table of a page, with what is before and after it.
func tableOf(page string) (before, table, after string, err error) {
	before, rest, begins := strings.Cut(page, tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", "", "", fmt.Errorf("%s has no table between %q and %q", pageFile, tableBegins, tableEnds)
	}
	return before + tableBegins, table, tableEnds + after, nil
}
