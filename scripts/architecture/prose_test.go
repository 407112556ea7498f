package architecture

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	columns        = 100 // of a line of prose
	paragraphLines = 5
)

// prose are the paragraphs of a Markdown page, by the number of their first line. An item of a
// list is one. Tables, headings and blocks of code are none.
func prose(page string) map[int][]string {
	paragraphs, first, inCode := map[int][]string{}, 0, false
	for i, line := range strings.Split(page, "\n") {
		text := strings.TrimSpace(line)
		fence := strings.HasPrefix(text, "```")
		if fence {
			inCode = !inCode
		}
		switch {
		case fence || inCode || text == "" || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "#"):
			first = 0
			continue
		case first == 0 || item.MatchString(text):
			first = i + 1
		}
		paragraphs[first] = append(paragraphs[first], line)
	}
	return paragraphs
}

// item matches the beginning of an item of a list.
var item = regexp.MustCompile(`^([-*]|\d+\.) `)

// Documentation is read in terminals and beside code: its lines are short, unless they are one
// word, and so are its paragraphs. What lists facts is a table.
func TestDocumentationIsWrapped(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages (%v)", err)
	}
	beside, err := filepath.Glob("../../examples/*/README.md")
	if err != nil || len(beside) == 0 {
		t.Fatalf("no examples with a page (%v)", err)
	}
	for _, page := range append(append(pages, beside...), glob(t, "../../*.md", "../../runtime/*.md")...) {
		paragraphs := prose(read(t, page))
		for _, at := range slices.Sorted(maps.Keys(paragraphs)) {
			lines := paragraphs[at]
			if len(lines) > paragraphLines {
				t.Errorf("%s:%d: a paragraph of %d lines, more than %d: cut it, or make it a table", page, at, len(lines), paragraphLines)
			}
			for i, line := range lines {
				if n := utf8.RuneCountInString(line); n > columns && len(strings.Fields(line)) > 1 {
					t.Errorf("%s:%d: a line of %d columns, more than %d", page, at+i, n, columns)
				}
			}
		}
	}
}

func TestProse(t *testing.T) {
	page := "# Title\nOne\ntwo\n\n| a | table |\n- item\n  more\n- item\n```\ncode\n```\n1. item\n"
	got := prose(page)
	if len(got) != 4 || len(got[2]) != 2 || len(got[6]) != 2 || len(got[8]) != 1 || len(got[12]) != 1 {
		t.Errorf("got %v", got)
	}
}
