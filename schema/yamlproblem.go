package schema

import (
	"regexp"
	"strconv"
	"strings"
)

// yamlReasons is the closed table of what the YAML parser can complain about, in our
// words. The parser's own words never reach the user: they change with its version.
var yamlReasons = []struct{ parser, reason string }{
	{"mapping values are not allowed", "a map entry cannot stand here"},
	{"mapping keys are not allowed", "a map entry cannot stand here"},
	{"block sequence entries are not allowed", "a list item cannot stand here"},
	{"could not find expected ':'", `a key needs ":" behind it`},
	{"did not find expected key", "the indentation matches no line above"},
	{"did not find expected '-' indicator", `a list goes on here, and its items start with "- "`},
	{"did not find expected ',' or '}'", "a comma or } is missing"},
	{"did not find expected ',' or ']'", "a comma or ] is missing"},
	{"did not find expected node content", "a value is missing"},
	{"cannot start any token", "a text cannot start with this character"},
	{"tab character", "a tab cannot be indentation"},
	{"unknown escape character", `there is no such \ escape in "..."; in '...' a \ is a \`},
	{"escape", `there is no such \ escape in "..."; in '...' a \ is a \`},
	{"hexdecimal", `there is no such \ escape in "..."; in '...' a \ is a \`},
	{"unexpected end of stream", "the file ends inside a text in quotes"},
	{"unexpected document indicator", "a document marker stands inside a text in quotes"},
	{"indentation indicator", "the number behind | or > is not valid"},
	{"comment or line break", "only a comment may follow | or > on its line"},
	{"document start", "only one value can stand here"},
}

var yamlLine = regexp.MustCompile(`line ([0-9]+): `)

// yamlProblem reports an error of the YAML parser: its line, the column of the first
// character there, the reason in our words.
func yamlProblem(err error, src source, ds *Diagnostics) {
	text := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		// Errors of the grammar are counted from 0, those of the scanner from 1.
		if strings.Contains(text, "did not find expected") {
			line++
		}
	}
	line = min(max(line, 1), len(src.lines))
	reason := "it cannot be read"
	for _, r := range yamlReasons {
		if strings.Contains(text, r.parser) {
			reason = r.reason
			break
		}
	}
	pos := Pos{Line: line, Col: indentOf(src.lines[line-1]) + 1, Width: 1}
	ds.Add(pos, "E101", "not valid YAML: "+reason, yamlHint)
}
