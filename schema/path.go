package schema

import (
	"fmt"
	"strings"
)

// Path is where a value is found: members from the root of the payload (or of the
// record key). No members means the whole value ("$").
type Path struct {
	Text    string // as written
	Members []string
	Whole   bool    // written with "$": starts at the whole value
	Or      []*Path // of a field: where it is found if it is not here, in this order
	Key     Pos
	Pos     Pos
}

// readPath reads "a.b", "$.a.b" or "$"; a name with a dot stands in double quotes.
func readPath(w *walker, e entry) (*Path, bool) {
	if e.node.Kind == ListNode {
		w.notThatKind(e, "a path", `only a field may have several paths; a name that has a dot itself goes into quotes: 'a."b.c"'`)
		return nil, false
	}
	p := &Path{Key: e.key, Pos: e.node.Pos}
	n, ok := w.scalar(e, "a path", `write member names with dots between them: a.b; a name that has a dot itself goes into quotes: 'a."b.c"'`,
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

// readPaths reads a path, or a list of paths: the first one that is there counts.
func readPaths(w *walker, e entry) (*Path, bool) {
	if e.node.Kind != ListNode {
		return readPath(w, e)
	}
	if len(e.node.Items) < 2 {
		w.ds.Add(e.node.Pos, "E106", e.what+" must be a path, or a list of two paths at least", `a name that has a dot itself goes into quotes: 'a."b.c"'`)
		return nil, false
	}
	var all []*Path
	for _, item := range e.node.Items {
		p, ok := readPath(w, entry{what: "an item of " + e.what, key: e.key, node: item})
		if !ok {
			return nil, false
		}
		for _, other := range all {
			if other.Whole != p.Whole { // they may start elsewhere
				continue
			}
			if within(other.Members, p.Members) || within(p.Members, other.Members) {
				w.ds.Add(p.Pos, "E307", fmt.Sprintf("path %s is the same as %s, or inside of it", quote(p.Text), quote(other.Text)), "name members of which one can be there without the other")
				return nil, false
			}
		}
		all = append(all, p)
	}
	all[0].Or = all[1:]
	return all[0], true
}

// within reports whether a path leads into what another one names.
func within(inner, outer []string) bool {
	if len(inner) < len(outer) {
		return false
	}
	for i, name := range outer {
		if inner[i] != name {
			return false
		}
	}
	return true
}

func pathOfMembers[T any](at func(*T) **Path) value[T] {
	return put(scalarShape, at, readPath)
}

func pathsOfMembers[T any](at func(*T) **Path) value[T] {
	return put(shape{scalar: true, items: &scalarShape}, at, readPaths)
}
