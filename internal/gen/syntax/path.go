package syntax

import (
	"strings"
)

// Path is where a value is found: members from the root of the payload (or of the
// record key). No members means the whole value ("$").
type Path struct {
	Text    string // as written
	Members []string
	Whole   bool // written with "$": starts at the whole value
	Key     Pos
	Pos     Pos
}

// readPath reads "a.b", "$.a.b" or "$"; a name that contains a dot is in double quotes.
func readPath(w *walker, e entry) (*Path, bool) {
	if e.node.Kind == ListNode {
		w.notThatKind(e, "a path", "write one path; while a producer renames a member, declare an optional field for each name")
		return nil, false
	}
	p := &Path{Key: e.key, Pos: e.node.Pos}
	n, ok := w.scalar(e, "a path", `write member names separated by dots: a.b; put a name that contains a dot in quotes: 'a."b.c"'`,
		func(s string) bool {
			_, ok := pathMembers(s)
			return ok
		})
	if !ok {
		return nil, false
	}
	p.Text = n.Text
	p.Whole = strings.HasPrefix(n.Text, "$")
	p.Members, _ = pathMembers(n.Text)
	return p, true
}

// pathMembers takes a path apart.
func pathMembers(text string) (members []string, ok bool) {
	if text == "$" {
		return nil, true
	}
	rest, whole := strings.CutPrefix(text, "$.")
	if !whole && strings.HasPrefix(text, "$") || strings.Contains(text, "${") {
		return nil, false
	}
	for {
		var name string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if name, rest, ok = strings.Cut(quoted, `"`); !ok || rest != "" && rest[0] != '.' {
				return nil, false
			}
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], rest[end:]
		}
		if name == "" {
			return nil, false
		}
		members = append(members, name)
		if rest == "" {
			return members, true
		}
		rest = rest[1:]
	}
}

var pathShape = Shape{Text: true, About: "Members of the payload: a.b; $ is the whole value; a name that contains a dot is in double quotes."}.as("path")

func pathOfMembers[T any](at func(*T) **Path) value[T] {
	return put(pathShape, at, readPath)
}
