package syntax

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const yamlHint = "check the indentation and the quotes here"

// yamlReasons is the closed table of what the YAML parser can complain about, in our words,
// and of what finds the place on the line. The parser's own words never reach the user: they
// change with its version.
var yamlReasons = []struct {
	parser, reason string
	place          func(s source, line int) (Diagnostic, bool) // nil: the line's first character
}{
	{"mapping values are not allowed", "a map entry is not allowed here", source.colonInText},
	{"mapping keys are not allowed", "a map entry is not allowed here", nil},
	{"block sequence entries are not allowed", "a list item is not allowed here", nil},
	{"could not find expected ':'", `a key needs ":" after it`, source.textWithoutColon},
	{"did not find expected key", "the indentation matches no line above", nil},
	{"did not find expected '-' indicator", `a list continues here, and its items start with "- "`, nil},
	{"did not find expected ',' or '}'", "a comma or } is missing", source.brackets},
	{"did not find expected ',' or ']'", "a comma or ] is missing", source.brackets},
	{"did not find expected node content", "a value is missing", source.brackets},
	{"cannot start any token", "a string cannot start with this character", source.badStart},
	{"tab character", "tabs cannot be used for indentation", source.badStart},
	{"unknown escape character", `there is no such \ escape in "..."; in '...' a \ is a \`, nil},
	{"escape code", `there is no such \ escape in "..."; in '...' a \ is a \`, nil},
	{"hexdecimal", `there is no such \ escape in "..."; in '...' a \ is a \`, nil},
	{"unexpected end of stream", "the file ends inside a quoted string", source.brackets},
	{"indentation indicator", "the number after | or > is not valid", nil},
	{"comment or line break", "only a comment may follow | or > on its line", nil},
	{"document start", "only one value is allowed here", nil},
}

// yamlProblem reports an error of the YAML parser in our words: its line, and a place on it.
func yamlProblem(data []byte, err error, src source, ds *Diagnostics) {
	told, text := yamlReason(err)
	line := told
	if !strings.Contains(text, "':'") { // there it tells the key's own line
		line = refusedLine(data, text)
	}
	line = min(line, len(src.lines))
	d := Diagnostic{Code: "E101", Message: "it cannot be read", Hint: yamlHint}
	d.Pos = Pos{Line: line, Col: indentOf(src.lines[line-1]) + 1, Width: 1}
	if name, found := strings.CutPrefix(text, "unknown anchor '"); found { // an alias comes before everything else
		name, _, _ = strings.Cut(name, "'")
		ds.Add(d.Pos, "E102", "YAML aliases are not allowed ("+short("*"+name)+")", sharedHint)
		return
	}
	if strings.Contains(text, "exceeded max depth") {
		ds.tooDeep(d.Pos)
		return
	}
	for _, r := range yamlReasons {
		if !strings.Contains(text, r.parser) {
			continue
		}
		d.Message = r.reason
		if r.place != nil {
			if better, found := r.place(src, line); found {
				d = better
			}
		}
		break
	}
	if d.Code == "E101" {
		d.Message = "not valid YAML: " + d.Message
	}
	ds.Add(d.Pos, d.Code, d.Message, d.Hint)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line ([0-9]+): )?(.*)`)

// yamlReason takes apart what the parser says. Its line is mostly not where the problem is,
// but where a block or a bracket begins, or where the file ends.
func yamlReason(err error) (line int, reason string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1]) // it says none for the first one
	return max(1, line), m[2]
}

// refusedLine is the line that the parser stumbles over: the last one of the shortest beginning
// of the file that it refuses for the same reason. It counts from 1.
func refusedLine(data []byte, reason string) int {
	var ends []int // of the lines
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(data))
	n := sort.Search(len(ends)-1, func(n int) bool {
		_, err := parseYAML(data[:ends[n]])
		if err == nil {
			return false
		}
		_, other := yamlReason(err)
		return other == reason
	})
	if n > 0 && len(bytes.TrimSpace(data[ends[n-1]:ends[n]])) == 0 { // the file ends there
		n--
	}
	return n + 1
}

// colonInText finds a second ": " behind a key.
func (s source) colonInText(line int) (Diagnostic, bool) {
	text := string(s.lines[line-1])
	at := secondColon.FindStringSubmatchIndex(text)
	if at == nil {
		return Diagnostic{Pos: s.start(line), Code: "E101", Message: "a map entry is not allowed here", Hint: yamlHint}, true
	}
	pos := Pos{Line: line, Col: len([]rune(text[:at[2]])) + 1, Width: 1}
	return Diagnostic{Pos: pos, Code: "E101", Message: "a map entry is not allowed here", Hint: `put the string in quotes if the ":" belongs to it`}, true
}

var secondColon = regexp.MustCompile(`^[^#:]*:\s+([^\s#'"{\[].*?):(?:\s|$)`)

// start is the first character of a line.
func (s source) start(line int) Pos {
	return Pos{Line: line, Col: indentOf(s.lines[line-1]) + 1, Width: 1}
}

// textWithoutColon finds the text that stands where a key should.
func (s source) textWithoutColon(line int) (Diagnostic, bool) {
	pos := s.start(line)
	text := s.rest(pos)
	if at := slices.Index(text, '#'); at > 0 && isBlank(text[at-1]) {
		text = text[:at]
	}
	key := strings.TrimRight(string(text), " \t")
	pos.Width = max(1, len([]rune(key)))
	hint := yamlHint
	if strings.Contains(key, ":") && !strings.Contains(key, ": ") && !strings.HasSuffix(key, ":") {
		hint = blankHint
	}
	return Diagnostic{Pos: pos, Code: "E101", Message: `a key needs ":" after it`, Hint: hint}, true
}

var reservedStart = regexp.MustCompile("(?:^|[\\s{}\\[\\],])([@`%|>])")

// badStart finds a tab in the indentation, or a character that no text can start with.
func (s source) badStart(line int) (Diagnostic, bool) {
	pos := s.start(line)
	if rest := s.rest(pos); len(rest) > 0 && rest[0] == '\t' {
		return Diagnostic{Pos: pos, Code: "E101", Message: "tabs cannot be used for indentation", Hint: "indent with spaces"}, true
	}
	text := string(s.lines[line-1])
	at := reservedStart.FindStringSubmatchIndex(text)
	if at == nil {
		return Diagnostic{}, false
	}
	pos.Col = len([]rune(text[:at[2]])) + 1
	return Diagnostic{Pos: pos, Code: "E101", Message: "a string cannot start with " + quote(text[at[2]:at[3]]), Hint: "put the string in quotes"}, true
}
