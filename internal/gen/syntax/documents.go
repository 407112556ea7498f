package syntax

import "slices"

// documents reports what makes a file more than one plain document: directives, and a second
// document. A line that begins with --- or ... is such a mark wherever it stands.
func (s source) documents(ds *Diagnostics) bool {
	began, ended, sound := false, false, true
	for i, line := range s.lines {
		start, end, indent := marker(line, '-'), marker(line, '.'), indentOf(line)
		pos := Pos{Line: i + 1, Col: indent + 1, Width: max(1, len(line)-indent)}
		switch empty := indent == len(line) || line[indent] == '#'; {
		case began && start, ended && !end && !empty:
			if start {
				pos.Width = len("---")
			}
			ds.Add(pos, "E102", "a "+ds.noun()+" is one YAML document; a second one starts here", "split it into two files")
			return false
		case end:
			ended = true
		case start:
			began = true
		case !began && !empty && line[0] == '%':
			ds.Add(pos, "E102", "YAML directives are not allowed ("+short(string(line))+")", "remove the line")
			sound = false
		case !empty:
			began = true
		}
	}
	return sound
}

// marker reports whether a line begins with "---" or "...".
func marker(line []rune, c rune) bool {
	return len(line) >= 3 && line[0] == c && line[1] == c && line[2] == c && (len(line) == 3 || isBlank(line[3]))
}

func indentOf(line []rune) int {
	if i := slices.IndexFunc(line, func(r rune) bool { return r != ' ' }); i >= 0 {
		return i
	}
	return len(line)
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }
