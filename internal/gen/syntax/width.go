package syntax

import "strings"

// scalarWidth is the number of characters of a scalar in the file, up to the end of
// its first line.
func (s source) scalarWidth(n *Node) int {
	rest := s.rest(n.Pos)
	if len(rest) == 0 || n.Text == "" && !n.Quoted {
		return 1
	}
	switch c := rest[0]; {
	case n.Quoted && (c == '"' || c == '\''):
		return quotedWidth(rest)
	case n.Quoted:
		return 1
	}
	first, _, _ := strings.Cut(n.Text, "\n")
	text := []rune(first)
	i := 0
	for i < len(rest) && i < len(text) && rest[i] == text[i] {
		i++
	}
	for i > 1 && isBlank(rest[i-1]) {
		i--
	}
	return max(1, i)
}

// quotedWidth is the width of the quoted text that rest starts with.
func quotedWidth(rest []rune) int {
	mark := rest[0]
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && mark == '"':
			i++
		case rest[i] == mark && mark == '\'' && i+1 < len(rest) && rest[i+1] == mark:
			i++
		case rest[i] == mark:
			return i + 1
		}
	}
	return len(rest)
}

// collectionWidth is the width of { } or [ ] that starts at pos, up to the end of the
// line; 1 for a block list and for a block map, whose width is its first key's.
func (s source) collectionWidth(pos Pos) int {
	rest := s.rest(pos)
	if len(rest) == 0 || rest[0] != '{' && rest[0] != '[' {
		return 1
	}
	depth, plain := 0, false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '{' || c == '[':
			depth, plain = depth+1, false
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '#' && isBlank(rest[i-1]):
			return len([]rune(strings.TrimRight(string(rest[:i]), " \t")))
		case (c == '"' || c == '\'') && !plain:
			i += quotedWidth(rest[i:]) - 1
		case c == ',' || c == ':' && i+1 < len(rest) && isBlank(rest[i+1]):
			plain = false
		case !isBlank(c):
			plain = true
		}
	}
	return len(rest)
}
