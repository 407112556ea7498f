package schema

import "strings"

var tableKeys = docKeys(func(t *Table) *Doc { return &t.Doc },
	key[Table]{name: "primary_key", value: textsValue(func(t *Table) **Texts { return &t.PrimaryKey })},
	key[Table]{name: "columns", required: true, example: "for example columns: {order_id: uuid}", value: value[Table]{shape{entries: &shape{scalar: true, keys: columnKeys.shapes()}}, (*walker).columns}},
	key[Table]{name: "unique", value: columnLists(func(t *Table) *[]Texts { return &t.Unique })},
	key[Table]{name: "indexes", value: columnLists(func(t *Table) *[]Texts { return &t.Indexes })},
	key[Table]{name: "foreign_keys", value: value[Table]{shape{items: &shape{keys: foreignKeyKeys.shapes()}}, (*walker).foreignKeys}},
	key[Table]{name: "unlogged", value: boolValue(func(t *Table) **Bool { return &t.Unlogged })},
	key[Table]{name: "schema", meanwhile: "until then, tables are in the schema that search_path of the connection names first"},
	key[Table]{name: "name", meanwhile: "the table is called as it is here; in Go it can have another name: go_name"},
	key[Table]{name: "external", meanwhile: "for a table that exists already, add a migration of your own with the line -- idemgen:by-hand and its name"},
	key[Table]{name: "owner", meanwhile: "until then, set owner and rights in a migration of your own"},
	key[Table]{name: "renamed_from", meanwhile: renameByHand},
)

func (w *walker) tables(e entry, s *Spec) bool {
	s.TablesKey = e.key
	return w.named(e, tableNames, func(name Text, valid bool, n *Node) {
		t := &Table{Name: name, Pos: n.Pos}
		s.Tables = append(s.Tables, t)
		te := entry{"table " + quote(name.Value), name.Pos, n}
		t.Broken = !walkMap(w, te, tableKeys, t) || !valid
		if n.Kind == MapNode && n.Get("primary_key") == nil && !misspelt(te, tableKeys, "primary_key") {
			t.Broken = true
			w.ds.Add(name.Pos, "E604", te.what+" has no primary_key", "for example primary_key: ["+firstColumn(n)+"]")
		}
	})
}

// firstColumn is a column for an example.
func firstColumn(table *Node) string {
	if c := table.Get("columns"); c != nil && len(c.Pairs) > 0 && snakePattern.MatchString(c.Pairs[0].Key) {
		return c.Pairs[0].Key
	}
	return "id"
}

var columnKeys = withoutGoName(docKeys(func(c *Column) *Doc { return &c.Doc }),
	key[Column]{name: "type", required: true, example: "for example type: text", value: value[Column]{scalarShape, (*walker).columnType}},
	key[Column]{name: "default", value: put(scalarShape, func(c *Column) **Text { return &c.Default }, (*walker).constant)},
	key[Column]{name: "identity", value: boolValue(func(c *Column) **Bool { return &c.Identity })},
	key[Column]{name: "name", meanwhile: "the column is called as it is here; a field of another name goes there with set"},
	key[Column]{name: "filled_by", meanwhile: "until then, give it a default, and list it under leave in the steps"},
	key[Column]{name: "renamed_from", meanwhile: renameByHand},
	key[Column]{name: "nullable", instead: `write "nullable ..." as the type`},
	key[Column]{name: "not_null", instead: `columns are NOT NULL unless their type is "nullable ..."`},
	key[Column]{name: "primary_key", instead: "write primary_key: [...] on the table"},
	key[Column]{name: "unique", instead: "write unique: [[...]] on the table"},
	key[Column]{name: "references", instead: "write foreign_keys: [...] on the table"},
)

// withoutGoName makes go_name a key that is not built yet: nothing in Go is named after a
// column so far.
func withoutGoName(ks keys[Column], more ...key[Column]) keys[Column] {
	for i := range ks {
		if ks[i].name == "go_name" {
			ks[i] = key[Column]{name: "go_name", meanwhile: "leave it out: nothing in Go is named after a column"}
		}
	}
	return append(ks, more...)
}

func (w *walker) columns(e entry, t *Table) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	return w.named(e, columnNames, func(name Text, valid bool, n *Node) {
		c := &Column{Name: name, Pos: n.Pos}
		t.Columns = append(t.Columns, c)
		ce := entry{"column " + quote(name.Value), name.Pos, n}
		switch n.Kind {
		case ScalarNode:
			c.Broken = !w.columnType(ce, c) || !valid
		case ListNode:
			c.Broken = true
			w.wrongKind(ce, "a type, or a map with a type")
		default:
			c.Broken = !walkMap(w, ce, columnKeys, c) || !valid
		}
	})
}

func (w *walker) columnType(e entry, c *Column) bool {
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

// columnLists is a list of lists of columns.
func columnLists(at func(*Table) *[]Texts) value[Table] {
	return value[Table]{shape{items: &shape{items: &scalarShape}}, func(w *walker, e entry, t *Table) bool {
		if !w.isList(e) {
			return false
		}
		ok := true
		for _, item := range e.node.Items {
			ie := entry{what: "an item of " + e.what, node: item}
			if item.Kind == ScalarNode && !item.Null() {
				w.ds.Add(item.Pos, "E106", ie.what+" must be a list of columns, not a text", "write [["+short(item.Text)+"]]")
				ok = false
				continue
			}
			columns, fine := w.texts(ie, 1)
			if !fine {
				ok = false
				continue
			}
			columns.Key = e.key
			*at(t) = append(*at(t), *columns)
		}
		return ok
	}}
}

var foreignKeyKeys = keys[ForeignKey]{
	{name: "columns", required: true, example: "for example columns: [order_id]", value: textsValue(func(f *ForeignKey) **Texts { return &f.Columns })},
	{name: "references", required: true, example: "name the parent table: references: orders", value: textValue(func(f *ForeignKey) **Text { return &f.References })},
	{name: "on_delete", value: wordValue(func(f *ForeignKey) **Text { return &f.OnDelete }, "restrict", "cascade", "set_null")},
}

func (w *walker) foreignKeys(e entry, t *Table) bool {
	if !w.isList(e) {
		return false
	}
	for _, item := range e.node.Items {
		f := &ForeignKey{Pos: item.Pos}
		f.Broken = !walkMap(w, entry{what: "foreign key", node: item}, foreignKeyKeys, f)
		t.ForeignKeys = append(t.ForeignKeys, f)
	}
	return true
}
