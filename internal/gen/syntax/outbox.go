package syntax

// outboxTable is the table of package runtime/outbox. A step may write it as an external table.
const outboxTable = "idem_outbox"

// outboxColumns are its columns, as outbox.Migration creates them. Each further one is a header.
var outboxColumns = []struct{ name, kind string }{
	{"seq", "bigint"}, {"aggregatetype", "text"}, {"aggregateid", "text"}, {"type", "text"}, {"payload", "nullable bytea"}, {"id", "uuid"},
}

const outboxExample = "docs/outbox.md shows the declaration of the table"

// checkOutbox checks a table, if it is that of package runtime/outbox: the spec has it as it is.
func checkOutbox(w *walker, e entry, t *Table) bool {
	if stored(t.Stored, t.Name) != outboxTable {
		return true
	}
	refuse := func(pos Pos, what, hint string) bool {
		w.ds.Add(pos, "E203", what, hint)
		return false
	}
	if t.External == nil || !t.External.Value {
		return refuse(t.Name.Pos, e.what+" is the outbox of package runtime/outbox, which idemgen does not create", "write external: true; "+outboxExample)
	}
	ok := true
	columns := map[string]*Column{}
	for _, c := range t.Columns {
		columns[stored(c.Stored, c.Name)] = c
	}
	for _, must := range outboxColumns {
		c := columns[must.name]
		delete(columns, must.name)
		switch {
		case c == nil && must.name != "id":
			ok = refuse(t.Name.Pos, "the outbox has the column "+must.name+", but "+e.what+" lacks it", "add it; "+outboxExample)
		case c == nil || c.Broken:
		case c.Type.Text != must.kind:
			ok = refuse(c.Type.Pos, "column "+must.name+" of the outbox must be "+must.kind, outboxExample)
		case must.name == "seq" && c.FilledBy == nil:
			ok = refuse(c.Name.Pos, "the database numbers the events of the outbox", "write seq: {type: bigint, filled_by: database}")
		}
	}
	for _, c := range t.Columns {
		if columns[stored(c.Stored, c.Name)] == c && !c.Broken && c.Type.Word != "text" {
			ok = refuse(c.Type.Pos, "any other column of the outbox is a header, so its type must be text", "nullable text; "+outboxExample)
		}
	}
	if key := t.PrimaryKey; key != nil && (len(key.Items) != 1 || key.Items[0].Value != "seq") {
		ok = refuse(key.Pos, "events leave the outbox in the order of seq", "primary_key: [seq]")
	}
	return ok
}

// stored is a name in the database.
func stored(given *Text, name Text) string {
	if given != nil {
		return given.Value
	}
	return name.Value
}
