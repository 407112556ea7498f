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
	return value[Table]{listOf(someOf(textShape)), func(w *walker, e entry, t *Table) bool {
		if !w.isList(e) {
			return false
		}
		ok := true
		for _, item := range e.node.Items {
			ie := entry{what: "an item of " + e.what, node: item}
			if item.Kind == ScalarNode && !item.null() {
				w.ds.Add(item.Pos, "E106", ie.what+" must be a list of columns, not a string", "write [["+short(item.Text)+"]]")
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
