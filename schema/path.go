package schema

import (
	"slices"
	"strings"
)

// Path is where a value is found: members from the root of the payload (or of the
// record key). No members means the whole value ("$").
type Path struct {
	Text    string // as written; the list form in YAML's flow style
	Members []string
	Whole   bool // written with "$": starts at the whole value
	Key     Pos
	Pos     Pos
}

// readPath reads "a.b", "$.a.b", "$" or a list of member names.
func readPath(w *walker, e entry) (*Path, bool) {
	p := &Path{Key: e.key, Pos: e.node.Pos}
	if e.node.Kind == ListNode {
		list, ok := w.texts(e, 1)
		if !ok {
			return nil, false
		}
		var quoted []string
		for _, t := range list.Items {
			p.Members = append(p.Members, t.Value)
			quoted = append(quoted, quote(t.Value))
		}
		p.Text = "[" + strings.Join(quoted, ", ") + "]"
		return p, true
	}
	n, ok := w.scalar(e, "a path", `write member names with dots between them: a.b; a name that has a dot itself goes into a list: [a, "b.c"]`,
		func(s string) bool {
			inner := strings.TrimPrefix(strings.TrimPrefix(s, "$"), ".")
			return s == "$" || inner != "" && !strings.HasPrefix(s, ".") && !strings.Contains(s, "${") &&
				(s[0] != '$' || strings.HasPrefix(s, "$.")) && !slices.Contains(strings.Split(inner, "."), "")
		})
	if !ok {
		return nil, false
	}
	p.Text = n.Text
	p.Whole = strings.HasPrefix(n.Text, "$")
	if inner := strings.TrimPrefix(strings.TrimPrefix(n.Text, "$"), "."); inner != "" {
		p.Members = strings.Split(inner, ".")
	}
	return p, true
}

func pathOfMembers[T any](at func(*T) **Path) value[T] {
	return put(shape{scalar: true, items: &scalarShape}, at, readPath)
}
