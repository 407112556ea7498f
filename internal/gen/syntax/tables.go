package syntax

// InDatabase says where a table is, and who makes it.
type InDatabase struct {
	Schema   *Text
	Stored   *Text // its name there
	External *Bool
}

// Table is an entry of tables.
type Table struct {
	Name        Text // Pos is the key
	Doc         Doc
	PrimaryKey  *Texts // column names
	Columns     []*Column
	Unique      []Texts
	ForeignKeys []*ForeignKey
	InDatabase
	Pos    Pos // the map
	Broken bool
}

var tableKeys = docKeys(func(t *Table) *Doc { return &t.Doc },
	key[Table]{name: "primary_key", value: textsValue(func(t *Table) **Texts { return &t.PrimaryKey })},
	key[Table]{name: "columns", required: true, example: "for example columns: {order_id: uuid}", value: value[Table]{shape{entries: &shape{scalar: true, keys: columnKeys.shapes()}}, readColumns}},
	key[Table]{name: "unique", value: columnLists(func(t *Table) *[]Texts { return &t.Unique })},
	key[Table]{name: "indexes", instead: "a plain index is a migration of yours, CREATE INDEX in the same folder"},
	key[Table]{name: "foreign_keys", value: value[Table]{shape{items: &shape{keys: foreignKeyKeys.shapes()}}, readForeignKeys}},
	key[Table]{name: "unlogged", instead: "leave it out: a table that a crash empties cannot hold what took effect once"},
	key[Table]{name: "schema", value: put(scalarShape, func(t *Table) **Text { return &t.Schema }, schemaName)},
	key[Table]{name: "name", value: put(scalarShape, func(t *Table) **Text { return &t.Stored }, storedTable)},
	key[Table]{name: "external", value: boolValue(func(t *Table) **Bool { return &t.External })},
	key[Table]{name: "owner", instead: "write external: true if the migrations of another service make the table"},
	key[Table]{name: "renamed_from", instead: ofRenames},
)

func readTables(w *walker, e entry, s *Spec) bool {
	s.TablesKey = e.key
	return w.named(e, tableNames, func(name Text, valid bool, n *Node) {
		t := &Table{Name: name, Pos: n.Pos}
		s.Tables = append(s.Tables, t)
		te := entry{"table " + quote(name.Value), name.Pos, n}
		t.Broken = !walkMap(w, te, tableKeys, t) || !valid
		t.Broken = !checkOutbox(w, te, t) || t.Broken
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

// columnLists is a list of lists of columns.
func columnLists(at func(*Table) *[]Texts) value[Table] {
	return value[Table]{shape{items: &shape{items: &scalarShape}}, func(w *walker, e entry, t *Table) bool {
		if !w.isList(e) {
			return false
		}
		ok := true
		for _, item := range e.node.Items {
			ie := entry{what: "an item of " + e.what, node: item}
			if item.Kind == ScalarNode && !item.null() {
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

// ForeignKey is one entry of foreign_keys.
type ForeignKey struct {
	Columns    *Texts
	References *Text // table
	OnDelete   *Text // restrict, cascade or set_null
	Pos        Pos   // the map
	Broken     bool
}

var foreignKeyKeys = keys[ForeignKey]{
	{name: "columns", required: true, example: "for example columns: [order_id]", value: textsValue(func(f *ForeignKey) **Texts { return &f.Columns })},
	{name: "references", required: true, example: "name the parent table: references: orders", value: textValue(func(f *ForeignKey) **Text { return &f.References })},
	{name: "on_delete", value: wordValue(func(f *ForeignKey) **Text { return &f.OnDelete }, "restrict", "cascade", "set_null")},
}

func readForeignKeys(w *walker, e entry, t *Table) bool {
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
