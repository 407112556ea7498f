package syntax

import "strings"

// Column is one column of a table. Its type is not looked up: resolve reads the type
// word and reports E610.
type Column struct {
	Name     Text // Pos is the key
	Doc      Doc
	Type     ColumnType
	Default  *Text // a constant (its text), or now() or gen_random_uuid()
	Identity *Bool
	Stored   *Text // its name in the database
	FilledBy *Text // database
	Pos      Pos   // the value: the type text, or the map
	Broken   bool
}

// ColumnType is the text of a column type.
type ColumnType struct {
	Text     string // as written: "nullable numeric(12,2)"
	Nullable bool
	Word     string // without "nullable": "numeric(12,2)"
	Pos      Pos    // of Text
}

func readColumns(w *walker, e entry, t *Table) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	return w.named(e, columnNames, func(name Text, valid bool, n *Node) {
		c := &Column{Name: name, Pos: n.Pos}
		t.Columns = append(t.Columns, c)
		ce := entry{"column " + quote(name.Value), name.Pos, n}
		switch n.Kind {
		case ScalarNode:
			c.Broken = !readColumnType(w, ce, c) || !valid
		case ListNode:
			c.Broken = true
			w.wrongKind(ce, "a type, or a map with a type")
		default:
			c.Broken = !walkMap(w, ce, columnKeys, c) || !valid
		}
	})
}

func readColumnType(w *walker, e entry, c *Column) bool {
	if !w.isScalar(e, "a type") || w.variable(e.node.Pos, e.node.Text) {
		return false
	}
	c.Type = ColumnType{Text: e.node.Text, Word: e.node.Text, Pos: e.node.Pos}
	if word, ok := strings.CutPrefix(c.Type.Text, "nullable "); ok {
		c.Type.Nullable = true
		c.Type.Word = strings.TrimLeft(word, " ")
	}
	return true
}

// readColumnDefault reads a constant. That of an array is a text, too.
func readColumnDefault(w *walker, e entry) (*Text, bool) {
	if e.node.Kind != ScalarNode && len(e.node.Items)+len(e.node.Pairs) == 0 {
		return nil, w.notThatKind(e, "a constant", `quote it: default: "{}" is an empty array; for json and jsonb write the JSON text, as in default: "[]"`)
	}
	if e.node.null() && e.node.Text != "" {
		return nil, w.notThatKind(e, "a constant", `leave default out: a nullable column is NULL without one; the text "null" is written in quotes`)
	}
	return readConstant(w, e)
}
